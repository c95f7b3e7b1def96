"""Draw a digit: which pixels does a pixel take from?"""

import streamlit as st

from ui.canvas import drawing_pad
from ui.digits import chosen_query, inked, prepared
from ui.layout import end_here
from ui.pixels.erase import erase_section
from ui.pixels.first_screen import (
    NAME,
    PAD,
    REMARKS,
    STEPS,
    answers,
    equal_weights,
    last_drawing,
    layer_section,
    pixel_map,
    read,
    verdict,
)
from ui.pixels.learned import learned_section
from ui.pixels.patches import patches_section
from ui.pixels.steps import pixels_steps
from ui.pixels.worth import worth_section
from ui.player import export_bar
from ui.skeleton import Tab, page_frame, page_tabs
from ui.take_along import take_along
from ui.try_this import try_this

page_frame(NAME, "Every pixel asks all 784. The pinker one is, the more the framed pixel takes from it.")

stage, beside = st.columns([1, 1.45], gap="large")
with stage, st.container(key="pixels_stage"):
    said = st.container(key="pixels_said", gap="xsmall")
    pad = drawing_pad(PAD)
now = prepared(pad.canvas)
drawing, is_stale = last_drawing(now)
if now.remark:
    with said if is_stale else beside:
        st.info(REMARKS[now.remark])
if drawing is None:
    end_here()
reading = read(drawing)
if not is_stale:
    with said:
        verdict(reading)
        pixel_map(reading, pad)
with beside:
    with st.container(key="pixels_stale" if is_stale else "pixels_fresh"):
        answers(reading)
    try_this(NAME, equal_weights(reading))
    with st.container(key="desk_pixels_layer"):
        layer_section()

page_tabs(
    NAME,
    Tab("steps", "Step by step", lambda: pixels_steps(reading), formerly=("pixel", "all")),
    Tab("try", "Try", lambda: erase_section(reading), formerly=("erase",)),
    Tab("learned", "What was learned", lambda: learned_section(reading), formerly=("parts",)),
    more=(
        Tab("worth", "How much of the work did attention do?", worth_section),
        Tab("patches", "49 patches", lambda: patches_section(reading)),
    ),
    players=(STEPS,),
)
query = chosen_query(drawing.image, NAME)
take_along(lambda: export_bar(reading.trace, NAME, query=query, picture=inked(drawing.image)))
