"""Find the digit: where does a network look in clutter?"""

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.data.canvases import CanvasRemark, ink_picture
from attention_core.data.scenes import FIND_SIDE
from ui.canvas import drawing_pad
from ui.export import export_bar
from ui.find.experiments import block_section
from ui.find.pad import NAME, PAD, clutter_buttons, remark_on
from ui.find.parts import (
    STYLE,
    answers,
    chosen_region,
    drawn,
    figures_caption,
    follow_click,
    hero,
    look,
    mask_over,
    region_numbers,
)
from ui.find.steps import channel_card, step_body, words_of_region
from ui.layout import section, who_asks
from ui.models import model_or_stop
from ui.skeleton import page_frame
from ui.step_view import show_words
from ui.stepper import is_hidden, play_interval, stepper

page_frame(NAME, "A digit somewhere in clutter: where does a network look before it answers?")
st.html(STYLE)
who_asks(
    "a learned constant, the same 96 numbers for every picture; nobody asks anything",
    "each of 225 regions, by its features",
    "the same features",
)

draw, mask, answer = st.columns([0.91, 1.26, 0.97], gap="medium")
with draw:
    section("Draw, and hide it in clutter")
    pad = drawing_pad(PAD)
    clutter_buttons()
model_or_stop("feature-mask")
seen = ink_picture(pad.canvas, (FIND_SIDE, FIND_SIDE))
remark = remark_on(seen, pad)
if remark:
    with mask:
        st.info(remark)
if seen.remark is CanvasRemark.EMPTY:
    st.stop()
looked = look(seen.picture)
region, ink = chosen_region(looked.trace), drawn(pad)
with mask:
    section("Where it looks")
    hero(ink, looked.trace, region)
with answer:
    section("Answer")
    answers(looked)
    region_numbers(looked.trace, region)


def step_by_step(trace: AttentionTrace) -> None:
    """Step from the drawing to the answer, the mask over the drawing always beside it."""
    follow_click(f"{NAME}_small")
    step = stepper(trace, NAME)
    hidden = is_hidden(step, NAME)
    words, body = st.columns([0.82, 1], gap="large")
    with words:
        small, hint = st.columns([1, 1], vertical_alignment="center")
        with small:
            mask_over(ink, trace, key=f"{NAME}_small", size=150, framed=region, bar=False)
        with hint:
            st.caption(f"Region {region} is framed; click another. The arrow keys step.")
        if not hidden:
            show_words(trace, step, 0, 0, region, words_of_region(trace, step, region))
            if step.name in ("key", "query", "scores", "masked", "context"):
                channel_card(trace, region, NAME)
    with body:
        if not hidden:
            step_body(trace, step, region, NAME)


def block() -> None:
    """Take regions away from the mask and see what is answered."""
    block_section(looked, ink)


st.divider()
section("Step by step")
st.fragment(step_by_step, run_every=play_interval(NAME))(looked.trace)
st.divider()
section("Take away what it looks at")
st.fragment(block)()
st.divider()
figures_caption()
export_bar(looked.trace, NAME, query=0)
