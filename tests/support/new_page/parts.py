"""The parts of the page: two texts that are typed, and how much the first takes from each word of the second."""

import streamlit as st

from attention_core import AttentionTrace
from attention_core.charts.bars import SERIES
from attention_core.device import to_array
from attention_core.inference.soft_lookup import Records, soft_lookup
from ui.hosting.bounds import SENTENCE_LETTERS
from ui.layout import bar_rows
from ui.player import Stepper, at_query, export_bar, show_step_chart, show_words
from ui.state import Field

NAME = "nearest"
QUERY = Field(NAME, "query", "attending", address="query")
WORDS = Field(NAME, "words", "attention tension retention pretend", address="words")
TEMPERATURE, MAX_WORDS = 0.1, 12
STEPS = Stepper(NAME)


def compared_words() -> AttentionTrace:
    """Draw the two fields, and return what the query takes from each word; an empty field is as on arrival."""
    query = QUERY.widget(st.text_input, "Query", max_chars=SENTENCE_LETTERS.most)
    words = WORDS.widget(st.text_area, "Keys", max_chars=SENTENCE_LETTERS.most)
    keys = (words.split() or WORDS.default.split())[:MAX_WORDS]
    return soft_lookup(Records(tuple(keys), tuple(keys)), [query.strip()[:200] or QUERY.default], TEMPERATURE)


def show_shares(trace: AttentionTrace) -> None:
    """Draw a bar for each word."""
    shares = to_array(trace.weights()[0]).tolist()
    labels = map(str, trace.story.key_axis.labels)
    st.html(bar_rows((label, share, SERIES[0]) for label, share in zip(labels, shares, strict=True)))


def show_steps(trace: AttentionTrace) -> None:
    """Step through the comparison."""
    if step := STEPS.draw(trace, 0):
        show_words(trace, step, 0, 0)
        show_step_chart(trace, step, 0, at_query(trace, 0), NAME, stepper=STEPS)


def export(trace: AttentionTrace) -> None:
    """Offer the numbers."""
    export_bar(trace, NAME, query=0)
