"""Does a word know what comes after it? Two sentences that begin alike, read forwards and both ways."""

import html
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import streamlit as st

from attention_core.attention.wording import percent
from attention_core.bounds.harmless import as_markdown
from attention_core.device import to_array
from attention_core.inference import encoder_states as own_states
from attention_core.inference.translation import read_source
from pages.memory import first_screen as screen
from pages.memory.apple import Leaning, describe_leanings, draw_leanings, leanings_of
from pages.memory.charts import TRANSLATOR_COLOURS
from pages.memory.numbers import READINGS
from ui.computed import by_model
from ui.hosting.bounds import SENTENCE_LETTERS
from ui.labels import error_markdown
from ui.layout import stop_run
from ui.lecture.mode import LECTURE
from ui.state import Field

SENTENCE_PAIR = {
    "first": Field(screen.NAME, "first", "Apple makes very good pies.", address="first"),
    "second": Field(screen.NAME, "second", "Apple makes very good phones.", address="second"),
}
_state_differences = by_model(own_states.state_differences)


class ReadTwice(NamedTuple):
    """How far the states of the words that begin two sentences differ, and how *Apple* leans in both."""

    differences: own_states.StateDifferences
    leanings: dict[str, list[Leaning]]


def draw_input() -> ReadTwice:
    """Draw two sentences to type; return how they are read."""
    with st.container(key="experiment_input"):
        for field, column in zip(SENTENCE_PAIR.values(), st.columns(2), strict=True):
            style = {"label_visibility": "collapsed", "max_chars": SENTENCE_LETTERS.maximum}
            field.widget(column.text_input, "A sentence", **style)
    try:
        sources = [read_source(field.value) for field in SENTENCE_PAIR.values()]
    except ValueError as error:
        st.info(error_markdown(error))
        stop_run()
    differences = _state_differences(screen.WITHOUT, *sources)
    if not differences.words:
        st.info("Let both sentences begin with the same word.")
        stop_run()
    return ReadTwice(differences, leanings_of([field.value for field in SENTENCE_PAIR.values()]))


def answer(read: ReadTwice) -> str:
    """Say which word's state moves most, and what *Apple* is."""
    differences, leanings = read
    index = int(differences.bidirectional.argmax())
    word = f"*{as_markdown(differences.words[index][:24])}*"
    share = percent(float(differences.bidirectional[index]))
    moved = f"Read forwards, no. Read both ways, yes: another end changes the state of {word} by {share}."
    return f"{moved} {describe_leanings(leanings)}" if leanings and not LECTURE.value else moved


def draw(read: ReadTwice) -> None:
    """Draw how far each state moves, in either reading, and where *Apple* leans."""
    differences, leanings = read
    if LECTURE.value:  # a hall does not see the boxes
        for field in SENTENCE_PAIR.values():
            st.subheader(as_markdown(field.value), anchor=False)
    forwards, bidirectional = to_array(differences.forwards), to_array(differences.bidirectional)
    for title, shares, column in zip(READINGS.values(), (forwards, bidirectional), st.columns(2), strict=True):
        words = _shaded_words(differences.words, shares, max(float(bidirectional.max()), 1e-9))
        column.html(f'<div class="shaded"><b>Read {title}</b><div>{words}</div></div>')
    st.caption("Per cent by which each word's state differs.")
    if leanings:
        with st.container(key="desk_memory_apple"):
            draw_leanings(leanings)
    query = {"question": "time"}
    st.page_link(
        "pages/lookup/page.py", label="A forecast may not read on", icon=":material/arrow_forward:", query_params=query
    )


def _shaded_words(labels: Sequence[str], shares: np.ndarray, largest: float) -> str:
    """Return HTML of words, the darker the larger their share, which stands below each in per cent."""
    return "".join(
        f'<span class="word" style="background:color-mix(in srgb, {TRANSLATOR_COLOURS[screen.WITHOUT]} '
        f'{55 * share / largest:.0f}%, transparent)">{html.escape(word)}'
        f'<span class="share">{percent(share).removesuffix("%")}</span></span>'
        for word, share in zip(labels, shares, strict=True)
    )
