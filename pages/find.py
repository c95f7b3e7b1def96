"""Find the digit: where does a network look in clutter?"""

import streamlit as st

from attention_core.data.canvases import CanvasRemark
from ui.find.first_screen import (
    NAME,
    answers,
    chosen_region,
    digit_pad,
    equal_weights,
    mask_section,
    prepare_pad,
    read,
    verdict,
)
from ui.find.tabs import STEPS, block_section, find_steps
from ui.layout import end_here
from ui.player import export_bar
from ui.skeleton import Tab, page_frame, page_tabs
from ui.take_along import take_along
from ui.try_this import try_this

page_frame(NAME, "A digit hides in clutter. The pinker a spot, the more the network takes from it.")
said = st.container(key="find_said")
draw, mask, answer = st.columns([1, 1.2, 0.95], gap="medium")
with draw:
    pad = digit_pad()
seen, drawing, remark = prepare_pad(pad)
if remark:
    with said:
        st.info(remark)
if seen.remark is CanvasRemark.EMPTY:
    end_here()
reading = read(seen.picture)
region = chosen_region(reading.trace)
with said:
    verdict(reading)
with mask, st.container(key="tells_find"):
    mask_section(drawing, reading, region)
with answer:
    answers(reading)
    try_this(NAME, equal_weights(reading))

page_tabs(
    NAME,
    Tab("steps", "Step by step", lambda: find_steps(reading.trace, drawing, region)),
    Tab("try", "Try", lambda: block_section(reading, seen.picture, drawing), formerly=("block",)),
    players=(STEPS,),
)
take_along(lambda: export_bar(reading.trace, NAME, query=0, picture=drawing))
