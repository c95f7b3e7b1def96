"""How a sum of shares counts: the weight of the empty key against the number of digits that match."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import streamlit as st

from attention_core.charts.regions import nothing_weights
from attention_core.data.colours import PEN
from attention_core.data.questions import Kind, Question, write
from attention_core.data.scene_presets import HEIGHT, MOST, PLACES_OF_MANY
from attention_core.data.sketches import digit_strokes
from attention_core.topics.ask import Seen, count_in, see
from ui.ask.answer import SCORE_NAMES, chosen_scoring
from ui.ask.pad import NAME, SIDE, AskedDrawing
from ui.ask.question import MODEL, ask_this
from ui.canvas import render_strokes
from ui.models import COMPUTE, model_or_stop

OWN, COMPOSED = "this drawing", "a composed one"
DIGITS_OF_MANY = (4, 7, 2, 9, 6)
FRAME = (200, 205, 211)


class Series(NamedTuple):
    """Drawings with more and more digits that match.

    Attributes:
        counts: how many match in each.
        shown: the drawings as the model sees them.
        question: what is asked about each.
    """

    counts: list[int]
    shown: list[Seen]
    question: Question


def counting_part(drawing: AskedDrawing, question: Question | None) -> None:
    """Say and show how the model counts although its weights sum to one."""
    st.markdown(
        "Weights sum to one: the average of three equal values is the same as of one, so that a plain average cannot "
        "count. But what does not match takes a share too: one more key stands for *nothing*, and bare paper matches "
        "nothing either. The more digits match, the less weight is left for these. What they hand over fades by the "
        "same measure, and from that the answer can be read."
    )
    scoring = chosen_scoring()
    left, right = st.columns([1, 1.15], gap="large")
    with left:
        source = st.segmented_control(
            "Digits of",
            (OWN, COMPOSED),
            default=None if f"{NAME}_count_of" in st.session_state else OWN,
            key=f"{NAME}_count_of",
            required=True,
            persist_state="session",
        )
        series = _own_series(drawing, question) if source == OWN else _composed_series()
        if series is None:
            st.info("There is no digit on the canvas to take away. Draw some, or look at a composed drawing.")
            return
        counts, shown, asked = series
        text = f"{write(asked)}?"
        st.markdown(f"Asked each time: **{text}**")
        st.button("Ask this about the drawing above", key=f"{NAME}_ask_count", on_click=ask_this, args=(text,))
        st.image(
            _strip([one.shown for one in shown]),
            width=min(84 * len(shown), 504),
            output_format="PNG",
            alt="The drawings that were asked about",
        )
        st.caption(_what_was_done(source))
    model = model_or_stop(MODEL)
    with COMPUTE:
        counted = count_in(model, [one.picture for one in shown], text, scoring)
    with right:
        st.altair_chart(
            nothing_weights(counts, counted.empty, counted.paper, counted.answers),
            width="stretch",
            key=f"{NAME}_counting",
            alt="The weight of the empty key and of bare paper against the number of digits that match",
        )
        n_right = sum(said == str(count) for said, count in zip(counted.answers, counts, strict=True))
        st.caption(
            f"Measured just now with the {SCORE_NAMES[scoring]} score: {n_right} of {len(counts)} counts are right. "
            "Block the empty key in the experiment below and ask “how many” to see what is lost."
        )


def _what_was_done(source: str) -> str:
    if source == OWN:
        return "Your drawing, its matching digits taken away one by one; strokes of one ink that touch are one digit."
    return "None to five red digits beside a blue one."


def _own_series(drawing: AskedDrawing, question: Question | None) -> Series | None:
    """Take away the digits of the colour that was asked about, else of the most frequent one, else all."""
    if not drawing.digits:
        return None
    colours = Counter(one.colour for one in drawing.digits)
    wanted = question.colour if question and question.kind is Kind.COUNT else None
    colour = wanted if wanted in colours else max(colours, key=lambda one: colours[one])
    if colours[colour] < 2 and colour != wanted:
        colour = None
    matching = [place for place, one in enumerate(drawing.digits) if colour in (None, one.colour)][:MOST]
    others = len(drawing.digits) > len(matching)
    counts = list(range(0 if others else 1, len(matching) + 1))
    return Series(counts, [drawing.without(matching[count:]) for count in counts], Question(Kind.COUNT, colour=colour))


@lru_cache(maxsize=1)
def _composed_series() -> Series:
    """Return none to five red digits beside a blue one."""
    places = [(x * SIDE, y * SIDE) for x, y in PLACES_OF_MANY]
    blue = digit_strokes(3, places[-1], HEIGHT * SIDE, colour=PEN["blue"])
    shown = []
    for count in range(MOST):
        red = [
            stroke
            for digit, place in list(zip(DIGITS_OF_MANY, places, strict=False))[:count]
            for stroke in digit_strokes(digit, place, HEIGHT * SIDE, colour=PEN["red"])
        ]
        shown.append(see(render_strokes([*blue, *red], (SIDE, SIDE), "light")))
    return Series(list(range(MOST)), shown, Question(Kind.COUNT, colour="red"))


def _strip(pictures: Sequence[np.ndarray]) -> np.ndarray:
    """Return pictures, uint8 (64, 64, 3), side by side, with room for as many as there can be."""
    framed = [one.repeat(2, 0).repeat(2, 1) for one in pictures]
    for one in framed:
        for edge in (one[0], one[-1], one[:, 0], one[:, -1]):
            edge[:] = FRAME
    gap = np.full((len(framed[0]), 6, 3), 255, np.uint8)
    return np.concatenate([part for one in framed for part in (one, gap)][:-1], 1)
