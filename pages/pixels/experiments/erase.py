"""Does a network without attention attend, too? Ink is erased, and both maps and the answer are drawn anew."""

from typing import NamedTuple

import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator
from torch import Tensor

from attention_core.attention.wording import percent
from attention_core.charts import VIRIDIS, Ramp
from attention_core.charts.pictures import picture
from attention_core.device import to_array
from attention_core.faithfulness.subjects import erase_ink, ink_mask
from attention_core.inference import digits as core
from attention_core.inference.digits import Answer
from pages.pixels import first_screen as screen
from pages.pixels.inputs import draw_drawing
from ui.chart import draw_chart
from ui.computed import by_model
from ui.digits import read_image
from ui.state import Field, between, single_choice, slugs

N_DRAWS = 20  # how often as much ink is erased at random
BY_WEIGHT, BY_JACOBIAN = "taken from most", "largest Jacobian"
FFN = "ffn-classifier"
ERASED_BY = Field(screen.NAME, "erased", BY_WEIGHT, address="erase", **slugs(taken=BY_WEIGHT, moving=BY_JACOBIAN))
N_ERASED = Field(screen.NAME, "erase_n", -1, address="pixels", parse=between(1, 784))
CASE_SIZE = 150  # screen pixels of a map
ask_many, pixel_influence = by_model(core.ask_many), by_model(core.pixel_influence)


class ErasedInk(NamedTuple):
    """A drawing, the same without some ink, and without as much at random; what is read in each."""

    n: int  # ink pixels that are erased
    reading: screen.Reading
    erased: tuple[Tensor, Answer]
    trial: tuple[Tensor, Answer]  # the first random draw
    n_agreeing: int  # of N_DRAWS random draws, those that are read as before
    beside: DeltaGenerator


def draw_input() -> ErasedInk:
    """Draw the pad, and beside it what is erased."""
    reading, beside = draw_drawing()
    image, name = reading.image, screen.LAYER.value
    max_erased = max(2, int(ink_mask(image).sum()) - 1)
    with beside, st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        criterion = single_choice("Erase", ERASED_BY, (BY_WEIGHT, BY_JACOBIAN), wrap=True)
        N_ERASED.value = N_ERASED.clamp_to_options(range(1, max_erased + 1), max(1, max_erased // 4))
        n = N_ERASED.widget(st.slider, "Ink pixels", 1, max_erased, width=320)
    order = _received(reading.learned, image) if criterion == BY_WEIGHT else pixel_influence(FFN, image)
    random_orders = torch.rand(N_DRAWS, image.numel(), generator=torch.Generator().manual_seed(0))
    trials = torch.stack([erase_ink(image, random_order, n) for random_order in random_orders])
    n_agreeing = int((ask_many(name, trials).argmax(1) == reading.learned.digit).sum())
    erased, trial = erase_ink(image, order.flatten(), n), trials[0]
    answers = read_image(name, erased), read_image(name, trial)
    return ErasedInk(n, reading, (erased, answers[0]), (trial, answers[1]), n_agreeing, beside)


def answer(_: ErasedInk) -> str:
    """Say what its attention is."""
    return "Yes: how much each pixel moves a feed-forward network's answer, its *Jacobian*, depends on the drawing."


def draw(ink: ErasedInk) -> None:
    """Draw both maps of each drawing, and what the attention layer reads in it."""
    learned = ink.reading.learned
    trial_text = f"Reads **{learned.digit}** in {ink.n_agreeing} of {N_DRAWS} draws."
    cases = (
        ("As drawn", ink.reading.image, learned, _describe_reading(learned, learned)),
        (f"{ink.n} erased", *ink.erased, _describe_reading(ink.erased[1], learned)),
        (f"{ink.n} at random", *ink.trial, trial_text),
    )
    for column, case in zip(ink.beside.columns(3, gap="medium"), cases, strict=True):
        with column:
            _draw_case(*case)


def _received(answer: Answer, image: Tensor) -> Tensor:
    """Return how much attention each pixel receives, without sign."""
    return screen.attention_received(answer.traces[0], image).abs()


def _describe_reading(answer: Answer, learned: Answer) -> str:
    digit = learned.digit
    also = "" if answer.digit == digit else f"; {digit} gets {percent(answer.probabilities[digit])}"
    return f"Reads **{answer.digit}** ({percent(answer.confidence)}){also}."


def _draw_case(title: str, image: Tensor, answer: Answer, text: str) -> None:
    st.markdown(f"**{title}**")
    received, influence = to_array(_received(answer, image)), pixel_influence(FFN, image)
    attention = screen.map_chart(answer.traces[0], received, to_array(image), size=CASE_SIZE, bar=False)
    ramp = Ramp(VIRIDIS, 0.0, float(influence.max()) or 1.0)
    jacobian = picture(to_array(influence), ramp, title="moves", size=CASE_SIZE, bar=False, outline=to_array(image))
    with st.container(horizontal=True, gap="small"):
        for label, chart in (("attention", attention), ("Jacobian", jacobian)):
            with st.container(width="content", gap=None):
                st.caption(label)
                draw_chart(chart, width="content", alt=f"{title}: {label}")
    st.markdown(text)
