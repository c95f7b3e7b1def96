"""Find the digit: where does a network look in clutter?"""

import streamlit as st

from attention_core.data.canvases import CanvasRemark
from pages.find import first_screen as screen
from pages.find.tabs import STEPS, change_section, find_doubts, find_steps
from ui.canvas import last_drawn
from ui.digits import WORTH, all_ten, remark_on
from ui.layout import grey_out, last_on_phone
from ui.player import export_bar
from ui.skeleton import Tab, page_body, page_frame, page_tabs
from ui.take_along import take_along
from ui.try_this import try_this


def hidden_digit() -> None:
    """Draw the digit in clutter, and what stands below it."""
    last_on_phone("find_first", "find_presets", "find_tools", "find_clutter_examples", "find_try_this")
    with st.container(key="find_first"):
        stage, beside = st.columns([1, 1.3], gap="medium")
    with stage, st.container(key="find_stage"):
        said = st.container(key="find_said", gap="xsmall")
        glow = st.container(key="find_glow")
        pad = screen.digit_pad()
    seen, odd = screen.seen_on(pad.canvas)
    is_stale = seen.remark is CanvasRemark.EMPTY
    reading = screen.read(last_drawn(screen.PAD, pad, is_stale).canvas)
    with said:
        screen.learned_words(reading)
    if not is_stale:
        with glow:
            screen.learned_mask(reading, pad.paper)
    with beside:
        if remark := remark_on(screen.REMARKS, odd, bool(pad.inked)):
            st.container(key="find_notice").info(remark)
        lost, words = st.columns([1.5, 1], gap="medium", vertical_alignment="center")
        with lost.container(key="tells_find"):
            screen.equal_mask(reading)
        words.container(key=WORTH).caption(screen.worth(reading))
        try_this(screen.NAME, all_ten(screen.both_ways, screen.PAD, "tells_find"))
    for part in ("find_said", "tells_find"):
        grey_out(part, is_stale)

    page_tabs(
        screen.NAME,
        Tab("steps", "Step by step", lambda: find_steps(reading)),
        Tab("try", "Try", lambda: change_section(reading), formerly=("block",)),
        more=(find_doubts(reading),),
        players=(STEPS,),
    )
    take_along(lambda: export_bar(reading.trace, screen.NAME, query=0, picture=reading.canvas))


page_frame(screen.NAME, "Hide a digit in clutter: the pinker a spot, the more the network takes from it.")
page_body(hidden_digit)
