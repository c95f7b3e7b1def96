"""Can a network look back at its own states? Two networks guess the next piece of a text; one may look back."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.wording import format_count, percent
from attention_core.charts.bars import probability_bars
from attention_core.device import to_array
from attention_core.inference import encoder_states as own_states
from pages.memory.first_screen import NAME
from ui.chart import draw_chart
from ui.computed import by_model, cached_computation, model_or_stop
from ui.edits import EditList, WeightsRow, matrix_editor, show_outcome, show_weights_difference
from ui.hosting.bounds import PASSAGE_LETTERS
from ui.labels import distinct, literal
from ui.layout import section, shaded_word, stop_run
from ui.state import Field, whole_number

READER, STATE_ONLY = "language-recurrent", "language-recurrent-alone"
NETWORKS = {"looks back": READER, "its state alone": STATE_ONLY}
FIRST_PASSAGE = (
    "My uncle John keeps a guitar. It was raining all day, so we stayed at home and played cards. My uncle John keeps a"
)
PASSAGE = Field(NAME, "passage", FIRST_PASSAGE, address="passage")
PIECE = Field(NAME, "piece", -1, address="piece", parse=whole_number)
EDITS = EditList(NAME)
N_COMPARED = 12  # likeliest pieces whose probabilities before and after a change are compared
LIKELIEST, PIECES = "What comes next?", "How probable was each piece?"
_foresee = cached_computation(on_cluster=True)(own_states.foresee)
_after_piece = by_model(own_states.after_piece)


class TextReading(NamedTuple):
    """A text, how both networks read it, and one of its pieces."""

    text: own_states.TextPieces
    probabilities: list[np.ndarray]  # of each piece by each network, (n_pieces,)
    trace: AttentionTrace  # with the edits that fit
    position: int  # of the piece after which the next one is guessed

    @property
    def names(self) -> list[str]:
        """The pieces, each with a name of its own."""
        return _visible_names(self.text.labels)


def draw_input() -> TextReading:
    """Draw the text, and the choice of one of its pieces."""
    with st.container(key="experiment_input"):
        PASSAGE.widget(st.text_area, "A text in English", max_chars=PASSAGE_LETTERS.maximum, height=84)
    text = own_states.cut(PASSAGE.value)
    if len(text.ids) < 2:
        st.info("Type a few words: there is nothing to foresee yet.")
        stop_run()
    if text.left_out:
        st.caption(f"The first {len(text.ids) - 1} pieces are read; {text.left_out} more are left out.")
    learned = _foresee(model_or_stop(READER), model_or_stop(STATE_ONLY), text)
    position = PIECE.clamp_to_options(range(len(text.ids)), len(text.ids) - 1)
    trace = learned.trace.replace(EDITS.fitting(learned.trace, input_id=PASSAGE.value))
    reading = TextReading(text, learned.probabilities, trace, position)
    _draw_weights(reading)
    PIECE.widget(st.select_slider, "After which piece", range(len(text.ids)), format_func=reading.names.__getitem__)
    return reading


def answer(reading: TextReading) -> str:
    """Say which earlier state weighs most in the context, an average of them."""
    row, names, position = _weights_row(reading), reading.names, reading.position
    key = int(row.argmax())
    if not row[key]:
        return "There is no earlier state yet."
    distance = format_count(position - key, "pieces")
    return f"Yes: it averages its own states, {percent(row[key])} that after {literal(names[key])}, {distance} ago."


def draw(reading: TextReading) -> None:
    """Draw what both networks foresee, and weights to be changed."""
    text, probabilities, _, position = reading
    left, right = st.columns([1, 1.25], gap="large")
    with left:
        section(LIKELIEST)
        foreseen = {name: _after_piece(model, text, position) for name, model in NETWORKS.items()}
        likeliest = [(-shares).argsort()[:n] for shares, n in zip(foreseen.values(), (4, 3), strict=True)]
        pieces = list(dict.fromkeys(np.concatenate(likeliest).tolist()))
        labels = _visible_names([own_states.piece_label(piece) for piece in pieces])
        series = {name: shares[pieces].tolist() for name, shares in foreseen.items()}
        chart = probability_bars(series, labels, height=230)
        draw_chart(chart, alt=LIKELIEST)
    with right:
        section(PIECES)
        series = {name: shares.tolist() for name, shares in zip(foreseen, probabilities, strict=True)}
        with st.container(key="memory_wide_pieces"):
            chart = probability_bars(series, _visible_names(text.labels[1:]), height=230, angle=-45)
            draw_chart(chart, alt=PIECES)
    with st.container(key="desk_memory_elsewhere"):
        _edit_weights(reading)


def _visible_names(labels: Sequence[str]) -> list[str]:
    return distinct([_visible(label) for label in labels])


def _visible(label: str) -> str:
    return label.strip() or "␣"


def _weights_row(reading: TextReading) -> np.ndarray:
    return to_array(reading.trace.weights(0, [reading.position])[0])


def _draw_weights(reading: TextReading) -> None:
    """Draw each piece as dark as its weight after the chosen piece."""
    row, labels = _weights_row(reading), reading.text.labels
    maximum = float(row.max()) or 1.0
    styles = ["padding:0;"] * len(row)
    styles[reading.position] += "outline:2px solid #0072B2;"
    pieces = zip(labels[1:], row[1:].tolist(), styles[1:], strict=True)
    spans = [shaded_word(label, weight, maximum, style) for label, weight, style in pieces]
    paragraph_style = "font-size:max(1.05rem,var(--least,0px));line-height:1.9;white-space:pre-wrap;margin:0"
    st.html(f"<p style='{paragraph_style}'>{''.join(spans).strip()}</p>")


def _edit_weights(reading: TextReading) -> None:
    """Let the weights after the piece be changed; draw the next pieces before and after."""
    text, _, trace, position = reading
    section("Let it look elsewhere")
    left, right = st.columns([1, 1.25], gap="large")
    with left:
        if position:
            earlier: dict[tuple[int, ...], str] = {
                (index,): _visible(label) for index, label in enumerate(text.labels[:position])
            }
            matrix_editor(WeightsRow(EDITS, trace, [position], input_id=PASSAGE.value), PIECE.set, earlier)
        else:
            EDITS.draw(trace)
    if not trace.edits:
        return
    with right:
        before, after = (_after_piece(READER, text, position, edits) for edits in ((), trace.edits))
        pieces = np.argsort(-np.maximum(before, after))[:N_COMPARED].tolist()
        labels = _visible_names([own_states.piece_label(piece) for piece in pieces])
        show_outcome(labels, before[pieces], after[pieces])
        show_weights_difference(NAME, trace.replace(()), trace)
