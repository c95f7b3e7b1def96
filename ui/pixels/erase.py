"""Try: erase ink, and see which maps follow: weights made from the drawing, or a Jacobian of fixed weights."""

import streamlit as st
import torch
from torch import Tensor

from attention_core.charts import VIRIDIS, Ramp, picture
from attention_core.device import to_array
from attention_core.explain.faithfulness import erase_ink, ink_mask
from attention_core.topics import pixels
from attention_core.topics.pixels import Answer
from ui.chart import draw_chart
from ui.computed import by_model
from ui.digits import read_image
from ui.pixels.first_screen import LAYER, NAME, Reading, attention_received, map_chart
from ui.state import Field, between, single_choice

N_DRAWS = 20
TAKEN, MOVING = "taken from most", "largest Jacobian"
FFN = "ffn-classifier"
ERASED = Field(
    NAME,
    "erased",
    TAKEN,
    address="erase",
    parse=lambda text: MOVING if text == "moving" else TAKEN,
    text=lambda chosen: "moving" if chosen == MOVING else "",
)
N_ERASED = Field(NAME, "erase_n", -1, address="pixels", parse=between(1, 784))
SIZE = 150
ask_many, pixel_influence = by_model(pixels.ask_many), by_model(pixels.pixel_influence)


def erase_section(reading: Reading) -> None:
    """Draw the drawing whole, without some ink, and without as much at random, each with both maps and the answer."""
    image, before, name = reading.image, reading.learned, LAYER.value
    st.markdown(
        "**A feed-forward network pays attention, too**: how much each pixel moves *its* answer, its *Jacobian*, "
        "depends on the drawing. Erase ink, and both maps follow."
    )
    taken, moving = attention_received(before.traces[0], image).abs(), pixel_influence(FFN, image)
    most = max(2, int(ink_mask(image).sum()) - 1)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        chosen = single_choice("Erase", ERASED, (TAKEN, MOVING), wrap=True)
        N_ERASED.value = N_ERASED.clamp_to_options(range(1, most + 1), max(1, most // 4))
        n = N_ERASED.widget(st.slider, "Ink pixels", 1, most, width=320)
    erased = erase_ink(image, (taken if chosen == TAKEN else moving).flatten(), n)
    after = read_image(name, erased)
    at_random = torch.rand(N_DRAWS, image.numel(), generator=torch.Generator().manual_seed(0))
    trials = torch.stack([erase_ink(image, order, n) for order in at_random])
    draws = ask_many(name, trials)
    agreeing = int((draws.argmax(1) == before.digit).sum())
    by_chance = read_image(name, trials[0])
    average = draws[:, before.digit].mean()
    told = f"Reads **{before.digit}** in {agreeing} of {N_DRAWS} draws ({average:.0%} on average)."
    cases = (
        ("As drawn", image, before, moving, _reads(before, before)),
        (f"Without these {n}", erased, after, pixel_influence(FFN, erased), _reads(after, before)),
        (f"Without {n} at random", trials[0], by_chance, pixel_influence(FFN, trials[0]), told),
    )
    for column, case in zip(st.columns(3, gap="medium"), cases, strict=True):
        with column:
            _case(*case)
    st.caption("The network with attention reads. Neither map has to foretell what happens without a pixel.")


def _reads(now: Answer, before: Answer) -> str:
    also = "" if now.digit == before.digit else f"; {before.digit} gets {now.probabilities[before.digit]:.0%}"
    return f"Reads **{now.digit}** ({now.confidence:.0%}){also}."


def _case(title: str, image: Tensor, answer: Answer, moving: Tensor, words: str) -> None:
    st.markdown(f"**{title}**")
    given, felt = to_array(attention_received(answer.traces[0], image).abs()), to_array(moving)
    glow = map_chart(answer.traces[0], given, to_array(image), size=SIZE, bar=False)
    jacobian = picture(
        felt, Ramp(VIRIDIS, 0.0, float(felt.max()) or 1.0), title="moves", size=SIZE, bar=False, outline=to_array(image)
    )
    with st.container(horizontal=True, gap="small"):
        for label, chart in (("attention", glow), ("Jacobian", jacobian)):
            with st.container(width="content", gap=None):
                st.caption(label)
                draw_chart(chart, width="content", alt=f"{title}: {label}, pixel by pixel")
    st.markdown(words)
