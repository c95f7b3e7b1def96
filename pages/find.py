"""Find the digit: where does a network look in clutter?"""

import streamlit as st

from attention_core.data.canvases import CanvasRemark
from ui.find.first_screen import (
    MODEL,
    NAME,
    answers,
    chosen_region,
    digit_pad,
    mask_section,
    prepare_pad,
    region_numbers,
    trace_picture,
)
from ui.find.tabs import STEPS, block_section, find_steps
from ui.layout import attention_roles, end_here, section
from ui.player import export_bar
from ui.skeleton import Tab, page_frame, page_tabs

page_frame(NAME, "A digit somewhere in clutter: where does a network look before it answers?")
attention_roles(
    "a learned constant, the same 96 numbers for every picture; nobody in the picture asks",
    "each of 225 regions, by its features",
    "the same features",
    here="Here one learned question asks 225 regions of the picture.",
    try_this="Open <i>Try: take away what it looks at</i>: with uniform weights the same network no longer sees the 3.",
    done_in="block",
)

draw, mask, answer = st.columns([1, 1.2, 0.95], gap="medium")
with draw:
    section("Draw, and hide it in clutter")
    pad = digit_pad()
seen, drawing, remark = prepare_pad(pad)
if remark:
    with mask:
        st.info(remark)
if seen.remark is CanvasRemark.EMPTY:
    end_here()
trace = trace_picture(MODEL, seen.picture)
region = chosen_region(trace)
with mask, st.container(key="tells_find"):
    section("Where it looks")
    mask_section(drawing, trace, region)
with answer:
    section("Answer")
    answers(seen.picture)
    with st.container(key="tells_find_numbers"):
        region_numbers(trace, region)

page_tabs(
    NAME,
    Tab("steps", "Step by step", lambda: find_steps(trace, drawing, region)),
    Tab("block", "Try: take away what it looks at", lambda: block_section(seen.picture, drawing)),
    Tab("take", "Take it along", lambda: export_bar(trace, NAME, query=0, picture=drawing)),
    players=(STEPS,),
)
