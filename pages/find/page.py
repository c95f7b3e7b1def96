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
        stage, comparison = st.columns([1, 1.3], gap="medium")
    with stage, st.container(key="find_stage"):
        reading_area = st.container(key="find_said", gap="xsmall")
        glow = st.container(key="find_glow")
        pad = screen.draw_digit_pad()
    reading, is_stale, remark = screen.read_pad(pad)
    with reading_area:
        screen.draw_learned_reading(reading)
    if not is_stale:
        with glow:
            screen.draw_learned_mask(reading, pad.paper)
    with comparison:
        if remark:
            st.container(key="find_notice").info(remark)
        equal_column, worth_column = st.columns([1.5, 1], gap="medium", vertical_alignment="center")
        with equal_column.container(key="tells_find"):
            screen.draw_equal_mask(reading)
        worth_column.container(key=WORTH).caption(screen.worth_text(reading))
        try_this(screen.NAME, all_ten_digits(screen.learned_and_equal, screen.PAD, "tells_find"))
    for key in ("find_said", "tells_find"):
        grey_out(key, is_stale)
    page_questions(screen.NAME, lambda: draw_numbers(reading), players=(STEPS,))
    take_along(lambda: export_reading(reading))


page_frame(screen.NAME, "Hide a digit in clutter: the pinker a spot, the more the network takes from it.")
page_body(hidden_digit)
