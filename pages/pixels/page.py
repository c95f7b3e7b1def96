"""Draw a digit: which pixels does a pixel take from?"""

import streamlit as st

from attention_core.data.drawing import CanvasRemark
from pages.pixels import first_screen as screen
from pages.pixels import tabs
from pages.pixels.tabs import pixel_doubts
from ui.canvas import drawing_pad, last_drawn
from ui.digits import WORTH, all_ten, inked, prepared, remark_on, verdict
from ui.layout import grey_out, last_on_phone
from ui.player import export_bar
from ui.skeleton import Tab, page_body, page_frame, page_tabs
from ui.take_along import take_along
from ui.try_this import try_this


def digit() -> None:
    """Draw the digit, and what stands below it."""
    last_on_phone("pixels_first", "pixels_presets", "pixels_tools", "desk_pixels_layer")
    with st.container(key="pixels_first"):
        stage, beside = st.columns([1, 1.3], gap="medium")
    with stage, st.container(key="pixels_stage"):
        said = st.container(key="pixels_said", gap="xsmall")
        pad = drawing_pad(screen.PAD)
    now = prepared(pad.canvas)
    is_stale = now.remark is CanvasRemark.EMPTY
    drawn = last_drawn(screen.PAD, pad, is_stale).canvas
    reading = screen.read(prepared(drawn))
    with said:
        verdict(f"Weights {'changed' if reading.trace.edits else 'as learned'}:", reading.now.probabilities)
        if not is_stale:
            screen.pixel_map(reading, pad)
    with beside:
        if remark := remark_on(screen.REMARKS, now.remark, bool(pad.inked)):
            st.container(key="pixels_notice").info(remark)
        lost, worth = st.columns([1.5, 1], gap="medium", vertical_alignment="center")
        with lost.container(key="pixels_read"):
            if not is_stale:
                screen.equal_map(reading)
        worth.container(key=WORTH).caption(screen.worth_words(screen.LAYER.value))
        try_this(screen.NAME, all_ten(screen.both_ways, screen.PAD, "pixels_first", screen.equal_weight()))
        with st.container(key="desk_pixels_layer"), st.popover("Another map or layer"):
            screen.layer_section()
    grey_out("pixels_said", is_stale)

    page_tabs(
        screen.NAME,
        Tab("steps", "Step by step", lambda: tabs.pixels_steps(reading), formerly=("pixel", "all")),
        Tab("try", "Try", lambda: tabs.change_section(reading), formerly=("erase",)),
        Tab("learned", "What was learned", lambda: tabs.learned_section(reading), formerly=("parts",)),
        more=(
            Tab("worth", "How much of the work did attention do?", tabs.worth_section),
            Tab("kept", "Does V stay close to X?", lambda: tabs.kept_section(reading)),
            Tab("patches", "49 patches", lambda: tabs.patches_section(reading)),
            *([pixel_doubts(reading)] if reading.learned.traces[0].has_softmax else []),
        ),
        players=(screen.STEPS,),
    )
    take_along(
        lambda: export_bar(reading.trace, screen.NAME, query=reading.query, picture=inked(reading.drawing.image))
    )


page_frame(screen.NAME, screen.question())
page_body(digit)
