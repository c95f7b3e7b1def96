"""Two sentences that begin alike: what their first words know of the rest, read forwards only and both ways."""

import streamlit as st

from attention_core.bounds import SENTENCE_LETTERS
from attention_core.device import to_array
from attention_core.topics.memory.both_ways import state_differences
from attention_core.topics.translate.translation import read_source
from ui.computed import cached_computation, model_or_stop
from ui.glossary import note, paragraph
from ui.labels import as_percent, error_markdown, literal
from ui.memory.first_screen import WITHOUT, shaded_words
from ui.memory.networks import NAME, READINGS
from ui.state import Field

BEGUN_ALIKE = {
    "first": Field(NAME, "first", "Apple makes very good pies.", address="first"),
    "second": Field(NAME, "second", "Apple makes very good phones.", address="second"),
}
_differences = cached_computation(by_model=True)(state_differences)


def what_follows() -> None:
    """Let two sentences be typed; draw how much the states of their common words differ in both readings."""
    paragraph("Is Apple a fruit or a company? Two sentences that begin alike:")
    typed, read = st.columns([1, 1.3], gap="large")
    for field in BEGUN_ALIKE.values():
        look = {"label_visibility": "collapsed", "max_chars": SENTENCE_LETTERS.most}
        field.widget(typed.text_input, "A sentence", **look)
    try:
        sources = [read_source(field.value) for field in BEGUN_ALIKE.values()]
    except ValueError as error:
        st.info(error_markdown(error))
        return
    apart = _differences(model_or_stop(WITHOUT), *sources)
    if not apart.words:
        st.info("Let both sentences begin with the same word.")
        return
    forwards, both_ways = to_array(apart.forwards), to_array(apart.both_ways)
    for title, shares in zip(READINGS.values(), (forwards, both_ways), strict=True):
        words = shaded_words(apart.words, shares, max(float(both_ways.max()), 1e-9))
        read.html(f'<div class="short-and-long"><b>Read {title}</b>{words}</div>')
    with read:
        note("Below each word: how far its state moves between the sentences, in per cent.")
    paragraph(
        f"Forwards, the states cannot differ: the same words came before. Both ways, {literal(apart.words[0], 24)} has "
        f"moved by **{as_percent(float(both_ways[0]))}**. Naming may read both ways; a forecast of prices may not."
    )
    curve = {"tab": "time"}
    st.page_link("pages/lookup.py", label="Forecast a curve", icon=":material/arrow_forward:", query_params=curve)
