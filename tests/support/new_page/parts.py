"""The parts of the page: two texts that are typed, and how much the first takes from each word of the second."""

from functools import partial

import streamlit as st

from attention_core import AttentionTrace
from attention_core.charts.bars import SERIES, bars
from attention_core.device import to_array
from attention_core.inference.soft_lookup import Records, soft_lookup
from ui.chart import note_picture
from ui.hosting.bounds import SENTENCE_LETTERS
from ui.labels import literal
from ui.layout import bar_rows
from ui.player import Stepper, export_bar, show_all_numbers
from ui.state import Field
from ui.try_this import TryThis, try_this

NAME = "nearest"
QUERY = Field(NAME, "query", "attending", address="query")
WORDS = Field(NAME, "words", "attention tension retention pretend", address="words")
TEMPERATURE, MAX_WORDS = 0.1, 12
STEPS = Stepper(NAME)


def query_and_keys() -> tuple[str, tuple[str, ...]]:
    """Draw the two fields, and return what is in them; an empty field is as on arrival."""
    query = QUERY.widget(st.text_input, "Query", max_chars=SENTENCE_LETTERS.maximum)
    words = WORDS.widget(st.text_area, "Keys", max_chars=SENTENCE_LETTERS.maximum)
    return query.strip()[:200] or QUERY.default, (*(words.split() or WORDS.default.split())[:MAX_WORDS],)


def compare(query: str, keys: tuple[str, ...]) -> AttentionTrace:
    """Return what the query takes from each key."""
    return soft_lookup(Records(keys, keys), [query], TEMPERATURE)


def show_shares(trace: AttentionTrace) -> None:
    """Draw a bar for each word, and ask where most comes from once the query changes."""
    with st.container(key="nearest_shares"):
        labels = draw_weights(trace)
    try_this(NAME, _other_query(trace, labels))


def draw_weights(trace: AttentionTrace) -> list[str]:
    """Draw a bar for each word; return the words."""
    shares, labels = to_array(trace.weights()[0]).tolist(), list(map(str, trace.story.key_axis.labels))
    st.html(bar_rows((label, share, SERIES[0]) for label, share in zip(labels, shares, strict=True)))
    title = "What the query takes from each word"
    note_picture(partial(bars, shares, labels, title=title, colour=SERIES[0]), title)
    return labels


def _other_query(trace: AttentionTrace, labels: list[str]) -> TryThis:
    def act() -> None:
        QUERY.value = labels[-1]

    def outcome() -> tuple[int, str]:
        share = to_array(trace.weights()[0]).max()
        return int(share < 0.5), f"The nearest word gives {share:.0%}."

    question = f"The query becomes {literal(labels[-1])}, which is a key, too. What does the nearest word give?"
    return TryThis("ask with a key", question, ("more than half", "less than half"), act, outcome, "nearest_shares")


def show_steps(trace: AttentionTrace) -> None:
    """Draw all the numbers of the comparison."""
    show_all_numbers(trace, STEPS, NAME)


def export(trace: AttentionTrace) -> None:
    """Offer the numbers."""
    export_bar(trace, NAME, query=0)
