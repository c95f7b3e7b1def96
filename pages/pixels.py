"""Draw a digit: which pixels does a pixel take from?"""

import streamlit as st

from attention_core.data.drawing import CanvasRemark
from ui.canvas import drawing_pad, last_drawn
from ui.digits import all_ten, inked, prepared, verdict
from ui.doubts import pixel_doubts
from ui.first_screen import grey_out, last_on_phone
from ui.pixels.change import change_section
from ui.pixels.first_screen import (
    LAYER,
    LEGEND,
    MAP,
    NAME,
    PAD,
    REMARKS,
    STEPS,
    both_ways,
    equal_map,
    layer_section,
    pixel_map,
    read,
    worth_words,
)
from ui.pixels.kept import kept_section
from ui.pixels.learned import learned_section
from ui.pixels.patches import patches_section
from ui.pixels.steps import pixels_steps
from ui.pixels.worth import worth_section
from ui.player import export_bar
from ui.skeleton import Tab, page_frame, page_tabs
from ui.take_along import take_along
from ui.try_this import try_this

page_frame(NAME, "Each pixel takes from all others, by weight. What is left when every weight is equal?")

last_on_phone("pixels_first", "pixels_presets", "pixels_tools", "desk_pixels_layer")
with st.container(key="pixels_first"):
    stage, beside = st.columns([1, 1.9], gap="medium")
with stage, st.container(key="pixels_stage"):
    said = st.container(key="pixels_said", gap="xsmall")
    pad = drawing_pad(PAD)
now = prepared(pad.canvas)
is_stale = now.remark is CanvasRemark.EMPTY
drawn = last_drawn(PAD, pad, is_stale).canvas
reading = read(prepared(drawn))
with said:
    verdict(f"Weights {'changed' if reading.trace.edits else 'as learned'}:", reading.now.probabilities)
    if MAP.value in LEGEND:
        st.markdown(LEGEND[MAP.value])
    if not is_stale:
        pixel_map(reading, pad)
with beside:
    if now.remark:
        st.info(REMARKS[now.remark])
    lost, worth = st.columns([1.15, 1], gap="medium", vertical_alignment="center")
    with lost.container(key="pixels_read"):
        equal_map(reading)
    worth.caption(worth_words(LAYER.value))
    try_this(NAME, all_ten(both_ways, PAD, "pixels_first"))
    with st.container(key="desk_pixels_layer"), st.popover("Another map or layer"):
        layer_section()
for part in ("pixels_said", "pixels_read"):
    grey_out(part, is_stale)

page_tabs(
    NAME,
    Tab("steps", "Step by step", lambda: pixels_steps(reading), formerly=("pixel", "all")),
    Tab("try", "Try", lambda: change_section(reading), formerly=("erase",)),
    Tab("learned", "What was learned", lambda: learned_section(reading), formerly=("parts",)),
    more=(
        Tab("worth", "How much of the work did attention do?", worth_section),
        Tab("kept", "Does V stay close to X?", lambda: kept_section(reading)),
        Tab("patches", "49 patches", lambda: patches_section(reading)),
        *([pixel_doubts(reading)] if reading.learned.traces[0].has_softmax else []),
    ),
    players=(STEPS,),
)
take_along(lambda: export_bar(reading.trace, NAME, query=reading.query, picture=inked(reading.drawing.image)))
