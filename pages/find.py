"""Find the digit: where does a network look in clutter?"""

import streamlit as st

from attention_core.data.canvases import CanvasRemark
from ui.canvas import last_drawn
from ui.digits import equal_weights, verdict
from ui.doubts import find_doubts
from ui.find.first_screen import EQUAL, NAME, PAD, answers, digit_pad, mask_section, read, seen_on
from ui.find.tabs import STEPS, block_section, find_steps
from ui.first_screen import grey_out
from ui.player import export_bar
from ui.skeleton import Tab, page_frame, page_tabs
from ui.take_along import take_along
from ui.try_this import try_this

page_frame(NAME, "A digit hides in clutter. The pinker a spot, the more the network takes from it.")
said = st.container(key="find_said", height=44, border=False)
draw, mask, answer = st.columns([1, 1.2, 0.95], gap="medium")
with draw:
    pad = digit_pad()
seen, remark = seen_on(pad.canvas)
is_stale = seen.remark is CanvasRemark.EMPTY
reading = read(last_drawn(PAD, pad, is_stale).canvas)
with said:
    verdict(reading.answer, EQUAL)
with mask, st.container(key="tells_find"):
    mask_section(reading)
with answer:
    if remark:
        st.info(remark)
    with st.container(key="find_read"):
        answers(reading)
    try_this(NAME, equal_weights(*reading.probabilities, EQUAL, "find_said"))
for part in ("find_said", "tells_find", "find_read"):
    grey_out(part, is_stale)

page_tabs(
    NAME,
    Tab("steps", "Step by step", lambda: find_steps(reading)),
    Tab("try", "Try", lambda: block_section(reading), formerly=("block",)),
    more=(find_doubts(reading),),
    players=(STEPS,),
)
take_along(lambda: export_bar(reading.trace, NAME, query=0, picture=reading.canvas))
