"""Find the digit: where does a network look in clutter?"""

import streamlit as st

from attention_core.data.canvases import CanvasRemark
from attention_core.faithfulness import subjects
from pages.find import first_screen as screen
from pages.find.tabs import STEPS, change_section, find_steps
from ui.canvas import readable_content
from ui.digits import WORTH, all_ten_digits, remark_on
from ui.faithfulness import KeysInPicture, faithfulness_tab
from ui.layout import grey_out, last_on_phone
from ui.player import export_bar
from ui.skeleton import Tab, page_body, page_frame, page_tabs
from ui.take_along import take_along
from ui.try_this import try_this


def hidden_digit() -> None:
    """Draw the digit in clutter, and what stands below it."""
    last_on_phone("find_first", "find_presets", "find_tools", "find_clutter_examples", "find_try_this")
    with st.container(key="find_first"):
        stage, compare_accuracies = st.columns([1, 1.3], gap="medium")
    with stage, st.container(key="find_stage"):
        reading_area = st.container(key="find_said", gap="xsmall")
        glow = st.container(key="find_glow")
        pad = screen.draw_digit_pad()
    ink, canvas_remark = screen.ink_and_remark(pad.canvas)
    is_stale = ink.remark is CanvasRemark.EMPTY
    reading = screen.read_canvas(readable_content(screen.PAD, pad, is_stale).canvas)
    with reading_area:
        screen.draw_learned_reading(reading)
    if not is_stale:
        with glow:
            screen.draw_learned_mask(reading, pad.paper)
    with compare_accuracies:
        if remark := remark_on(screen.REMARKS, canvas_remark, bool(pad.strokes)):
            st.container(key="find_notice").info(remark)
        equal_column, worth_column = st.columns([1.5, 1], gap="medium", vertical_alignment="center")
        with equal_column.container(key="tells_find"):
            screen.draw_equal_mask(reading)
        worth_column.container(key=WORTH).caption(screen.worth_text(reading))
        try_this(screen.NAME, all_ten_digits(screen.learned_and_equal, screen.PAD, "tells_find"))
    for key in ("find_said", "tells_find"):
        grey_out(key, is_stale)

    over = KeysInPicture(reading.canvas, reading.masks.shape[1:])
    erased = "regions", subjects.mask_subject, reading.picture
    faithfulness = faithfulness_tab(screen.NAME, screen.MODEL, *erased, over=over)
    page_tabs(
        screen.NAME,
        Tab("steps", "Step by step", lambda: find_steps(reading)),
        Tab("try", "Try", lambda: change_section(reading)),
        more=(faithfulness,),
        players=(STEPS,),
    )
    take_along(lambda: export_bar(reading.trace, screen.NAME, query=0, picture=reading.canvas))


page_frame(screen.NAME, "Hide a digit in clutter: the pinker a spot, the more the network takes from it.")
page_body(hidden_digit)
