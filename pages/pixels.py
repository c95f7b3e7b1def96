"""Draw a digit: which pixels matter to which?"""

import streamlit as st
import torch

from attention_core.data.drawing import CanvasRemark
from ui.canvas import drawing_pad
from ui.digits import chosen_query, inked, prepared
from ui.layout import attention_roles, end_here, section
from ui.pixels.experiments import erase_section, parts_section, patches_section
from ui.pixels.first_screen import ABOUT, GUIDED, LAYER, LAYERS, NAME, PAD, REMARKS, STEPS, answers, preparation_section
from ui.pixels.looks import chosen_pixel, learning_section, pixels_steps, whole_maps
from ui.player import export_bar
from ui.skeleton import Tab, page_frame, page_tabs
from ui.state import single_choice

page_frame(NAME, "Every one of the 784 pixels asks every other: *how much do you matter to me?* Follow the answer.")
about = ABOUT[LAYER.value]
attention_roles(
    "each pixel",
    "all 784 pixels",
    about.value,
    here=about.here,
    try_this=about.try_this,
    meanwhile={} if LAYER.value == GUIDED else {LAYER.address: LAYER.value},
    done_in=about.done_in,
)

draw, seen, answer = st.columns([1.0, 0.95, 1.25], gap="medium")
with draw:
    section("Draw")
    pad = drawing_pad(PAD)
drawing = prepared(pad.canvas)
if drawing.remark:
    with draw:
        st.info(REMARKS[drawing.remark])
if drawing.remark is CanvasRemark.EMPTY:
    end_here()
image = torch.from_numpy(drawing.image)
with answer:
    section("Answer")
    attention = answers(image)
with seen:
    section("What the model sees")
    preparation_section(drawing)
trace = attention.traces[0]
single_choice("Attention layer", LAYER, LAYERS, wrap=True)

page_tabs(
    NAME,
    Tab("steps", "Step by step", lambda: pixels_steps(trace, drawing)),
    Tab("pixel", "One pixel", lambda: chosen_pixel(trace, drawing)),
    Tab("all", "All 784 at once", lambda: whole_maps(trace, chosen_query(drawing.image, NAME), drawing.image)),
    Tab("parts", "What Q and K say", lambda: parts_section(image, drawing, attention)),
    Tab("erase", "Try: erase ink", lambda: erase_section(image, drawing, pad, attention)),
    Tab("learned", "How it was learned", lambda: learning_section(image)),
    Tab("patches", "49 patches", lambda: patches_section(image)),
    Tab(
        "take",
        "Take it along",
        lambda: export_bar(trace, NAME, query=chosen_query(drawing.image, NAME), picture=inked(drawing.image)),
    ),
    players=(STEPS,),
)
