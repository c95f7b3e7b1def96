"""Parts of the page of translations that follow the present word: the trace's steps, the next word, the alignments."""

from __future__ import annotations

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.charts.alignment import alignment_chart
from attention_core.device import to_array
from attention_core.topics.translate.word_view import NEXT_LABEL, WordView
from ui.layout import section
from ui.next_words import next_words
from ui.query_row import query_row
from ui.step_view import show_matrix, show_words
from ui.stepper import is_hidden, stepper
from ui.translate.parts import Shown
from ui.translate.state import MOST_FORCED, NAME, take_choice
from ui.translate.translations import TRANSLATORS, candidates

FIXED = (
    "Here the softmax has one key to choose from: its weight is 1 at every word, and the context never changes. "
    "Everything that the decoder can know of the sentence has to fit into this one vector."
)


def step_part(shown: Shown, text: str, row: int) -> int:
    """Draw the stepper over the trace, the present step at the present word, and what could be said next.

    Returns:
        the piece that is the query.
    """
    trace, view = shown.trace, shown.view
    query = view.first_piece[row]
    word = view.target[row]
    st.markdown(
        f"**{TRANSLATORS[shown.translator].capitalize()}, word {row + 1} of {len(view.target)}**: "
        + ("what comes next?" if word == NEXT_LABEL else "the decoder is about to say")
        + ("" if word == NEXT_LABEL else f" **{_plain(word)}**.")
        + (f" Its first piece is looked at, {_plain(view.pieces_of[row][0])}." if len(view.pieces_of[row]) > 1 else "")
    )
    step = stepper(trace, NAME)
    hidden = is_hidden(step, NAME)
    words, matrix, following = st.columns([1.05, 1.15, 0.8], gap="medium")
    if not hidden:
        head = _choose_head(trace, words)
        best = int(trace.weights(head, [query])[0].argmax())
        with words:
            show_words(trace, step, head, query, best)
            if view.is_single and step.role in (Role.SCORES, Role.WEIGHTS, Role.CONTEXT):
                st.caption(FIXED)
        with matrix:
            marked = query if step.row_axis is trace.story.query_axis else best
            show_matrix(step, head, marked, NAME, size=330)
            if step.name in ("weights", "scores", "scaled") and trace.n_keys > 1:
                with st.expander("This row in numbers"):
                    query_row(trace, head, query, n=4, key_words="word")
    with following:
        next_part(shown, text, query)
    return query


def _choose_head(trace: AttentionTrace, place) -> int:
    if trace.n_heads == 1:
        return 0
    if st.session_state.get(f"{NAME}_head") not in range(trace.n_heads):
        st.session_state[f"{NAME}_head"] = 0
    with place:
        st.segmented_control(
            "Head",
            range(trace.n_heads),
            key=f"{NAME}_head",
            format_func=lambda head: str(head + 1),
            required=True,
            wrap=True,
            persist_state="session",
        )
    return st.session_state[f"{NAME}_head"]


def next_part(shown: Shown, text: str, piece: int) -> None:
    """Draw the ten likeliest pieces at the present word; a click goes on from another one."""
    ids = shown.said.made.ids
    after = tuple(ids[:piece])
    section("The next word", Role.OUTPUT)
    next_words(
        NAME, candidates(shown.translator, text, after), after, ids[piece] if piece < len(ids) else None, take_choice
    )
    if len(after) >= MOST_FORCED:
        st.info(f"Up to {MOST_FORCED} pieces can be chosen; from here on the models speak alone.")
    st.caption(
        "Softmax over 8,000 pieces, the ten likeliest. Click one to put it there instead; every model goes on from it. "
        "A hyphen marks a piece that continues a word, ␣ a space where none is due."
    )


def alignment_part(models: dict[str, Shown], row: int) -> None:
    """Draw the alignments of the models as heatmaps on one colour scale."""
    section("Who looks where", Role.WEIGHTS)
    places = st.columns([max(len(one.view.keys), 4) for one in models.values()], gap="large")
    longest = max(max(len(one.view.target), len(one.view.keys)) for one in models.values())
    cell = min(38, 430 / longest)
    for (slot, shown), place in zip(models.items(), places, strict=True):
        view = shown.view
        with place:
            st.markdown(f"**{TRANSLATORS[shown.translator].capitalize()}**: {_what(shown)}")
            st.altair_chart(
                alignment_chart(
                    to_array(view.weights),
                    view.target,
                    view.keys,
                    size=round(cell * max(len(view.target), len(view.keys))),
                    marked=min(row, len(view.target) - 1),
                    key_title="key: the encoder's last state" if view.is_single else "keys: the encoder's state at",
                ),
                width="content",
                key=f"{NAME}_alignment_{slot}",
                alt=f"Weights of {len(view.target)} target words over {len(view.keys)} keys, {shown.translator}",
            )
    st.caption(
        "Rows are queries, columns are keys, each row sums to 1; both pictures have the same colours, and the uniform "
        "weight is marked on the bar. Where French turns the order round, so does the diagonal: “red car”, “voiture "
        "rouge”. After figure 3 of Bahdanau, Cho and Bengio (2015)."
    )


def _what(shown: Shown) -> str:
    view: WordView = shown.view
    if view.is_single:
        return "one column, all 1. The bottleneck."
    if shown.translator == "mean":
        return f"every word gets 1/{len(view.keys)}, always: adding instead of attending."
    if shown.translator == "transformer":
        layer = st.session_state.get(f"{NAME}_layer", 3)
        return f"cross-attention of layer {layer}, mean of {shown.trace.n_heads} heads."
    return "hover a row to see where its word looks."


def _plain(text: str) -> str:
    """Return text without the signs that Markdown would take for its own."""
    return "".join("\\" + letter if letter in "\\`*_{}[]<>()#+-.!|~$:" else letter for letter in text)
