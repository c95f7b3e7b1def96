"""Find the digit: where does a network look in clutter?"""

import streamlit as st

from pages.find import first_screen as screen
from pages.find.inputs import export_reading
from pages.find.numbers import STEPS, draw_numbers
from ui.digits import WORTH, all_ten_digits
from ui.layout import grey_out, last_on_phone
from ui.questions import draw_experiment, page_questions
from ui.skeleton import page_body, page_frame
from ui.take_along import take_along
from ui.try_this import try_this


def hidden_digit() -> None:
    """Draw the open experiment, or the digit in clutter, all the numbers, and the page's questions."""
    if draw_experiment(screen.NAME):
        return
    last_on_phone("find_first", "find_presets", "find_tools", "find_clutter_examples", "find_try_this")
    with st.container(key="find_first"):
        scene = st.container(key="tells_find")
        with st.container(horizontal=True, gap="small", key="find_buttons"):
            pad = screen.draw_digit_pad()
        reading, is_stale, remark = screen.read_pad(pad)
        if remark:
            st.info(remark)
        with scene:
            screen.draw_find_scene(reading, pad.paper, is_empty=is_stale)
        try_this(screen.NAME, all_ten_digits(screen.learned_and_equal, screen.PAD, "tells_find"))
        st.container(key=WORTH).caption(screen.worth_text())
    grey_out("tells_find", is_stale)
    page_questions(screen.NAME, lambda: draw_numbers(reading), players=(STEPS,))
    take_along(lambda: export_reading(reading))


page_frame(screen.NAME, "Draw a digit among clutter: the pinker a region, the more the network takes from it.")
page_body(hidden_digit)
