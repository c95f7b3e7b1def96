"""A recurrent network that looks back at its own states: where it looks, and what it gains by that."""

import numpy as np
import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.bounds import PASSAGE_LETTERS
from attention_core.charts import probability_bars
from attention_core.device import to_array
from attention_core.topics.memory.own_states import (
    NextPiecePredictions,
    TextPieces,
    after_piece,
    cut,
    foresee,
    piece_label,
)
from ui.chart import draw_chart
from ui.computed import cached_computation, model_or_stop
from ui.edits import EditList, WeightsRow, matrix_editor, show_outcome, show_weights_difference
from ui.labels import distinct, literal
from ui.layout import section, shaded_word
from ui.memory.networks import NAME
from ui.state import Field, whole_number

ATTENTIVE, ALONE = "language-recurrent", "language-recurrent-alone"
LOOKS_BACK, DOES_NOT = "looks back", "its state alone"
FIRST = (
    "My uncle Gustav keeps a guitar. It was raining all day, so we stayed at home and played cards. "
    "My uncle Gustav keeps a"
)
TEXT = Field(NAME, "passage", FIRST, address="passage")
_foresee = cached_computation(by_model=True)(foresee)
_after_piece = cached_computation(by_model=True)(after_piece)
EDITS = EditList(NAME)
N_COMPARED = 12  # likeliest pieces whose probabilities before and after a change are compared
LEAST_TOLD, MAX_TOLD = 0.005, 3  # shares of states that are named, and how many
AT = Field(NAME, "piece", -1, address="piece", parse=whole_number)


def own_states_tab() -> None:
    """Draw a text to type, where the network looked back after each piece, and what both foresee there."""
    st.markdown("Two networks of one size guess the next piece; one may look back.")
    TEXT.widget(st.text_area, "A text in English", max_chars=PASSAGE_LETTERS.most, height=84)
    given = cut(TEXT.value)
    if len(given.ids) < 2:
        st.info("Type a few words: there is nothing to foresee yet.")
        return
    if given.left_out:
        st.caption(f"The first {len(given.ids)} pieces are read; {given.left_out} more are left out.")
    told = _foresee(model_or_stop(ATTENTIVE), model_or_stop(ALONE), given)
    last = len(given.ids) - 1
    at = AT.clamp_to_options(range(last + 1), last)
    edits = EDITS.fitting(told.trace, of=TEXT.value)
    now = told.trace.replace(edits)
    _looks(given, now, at)
    left, right = st.columns([1, 1.25], gap="large")
    with left:
        _next_pieces(told, at)
    with right:
        _each_piece(given, told)
    with st.container(key="desk_memory_elsewhere"):
        _change(given, now, at)


def _visible(label: str) -> str:
    return label.strip() or "␣"


def _change(given: TextPieces, now: AttentionTrace, at: int) -> None:
    section("Let it look elsewhere")
    left, right = st.columns([1, 1.25], gap="large")
    with left:
        if at:
            earlier = {(place,): _visible(label) for place, label in enumerate(given.labels[:at])}
            matrix_editor(WeightsRow(EDITS, now, [at], of=TEXT.value), lambda at: setattr(AT, "value", at), earlier)
        else:
            EDITS.draw(now)
    if not now.edits:
        return
    with right:
        before, after = (_after_piece(model_or_stop(ATTENTIVE), given, at, edits) for edits in ((), now.edits))
        shown = np.argsort(-np.maximum(before, after))[:N_COMPARED].tolist()
        labels = distinct([_visible(piece_label(piece)) for piece in shown])
        show_outcome(NAME, labels, before[shown], after[shown])
        show_weights_difference(NAME, now.replace(()), now)


def _looks(given: TextPieces, trace: AttentionTrace, at: int) -> None:
    row = to_array(trace.weights(0, [at])[0])
    most = float(row.max()) or 1.0
    ring = {at: "outline:2px solid #0072B2;"}
    labels = zip(given.labels[1:], row[1:].tolist(), strict=True)
    spans = [shaded_word(*label, most, f"padding:0;{ring.get(place, '')}") for place, label in enumerate(labels, 1)]
    style = "font-size:max(1.05rem,var(--least,0px));line-height:1.9;white-space:pre-wrap;margin:0"
    st.html(f"<p style='{style}'>{''.join(spans).strip()}</p>")
    names = distinct([_visible(label) for label in given.labels])
    most_first = [int(place) for place in row.argsort()[::-1] if row[place] >= LEAST_TOLD][:MAX_TOLD]
    looked = " + ".join(
        f"{row[place]:.0%} of that after {literal(names[place])} ({at - place} pieces ago)" for place in most_first
    )
    AT.value = at
    places = range(len(given.ids))
    AT.widget(st.select_slider, "After which piece", places, format_func=names.__getitem__)
    st.caption(
        f"Framed: just read. Context = weighted average of the network's own earlier states: {looked or 'none yet'}."
    )


def _next_pieces(told: NextPiecePredictions, at: int) -> None:
    section("What comes next?")
    best = {name: dict(rows[at]) for name, rows in zip((LOOKS_BACK, DOES_NOT), told.likeliest, strict=True)}
    labels = list(dict.fromkeys([*list(best[LOOKS_BACK])[:4], *list(best[DOES_NOT])[:3]]))
    series = {name: [its.get(label, 0.0) for label in labels] for name, its in best.items()}
    draw_chart(
        probability_bars(series, [_visible(label) for label in labels], height=230),
        alt="The likeliest next pieces by both networks",
    )


def _each_piece(given: TextPieces, told: NextPiecePredictions) -> None:
    section("How probable was each piece?")
    labels = distinct([_visible(label) for label in given.labels[1:]])
    series = {name: one.tolist() for name, one in zip((LOOKS_BACK, DOES_NOT), told.probabilities, strict=True)}
    with st.container(key="memory_wide_pieces"):
        draw_chart(
            probability_bars(series, labels, height=230, angle=-45), alt="Probability of each piece by both networks"
        )
