"""Which words does a question pick out? Every word of the keys is a key of its own, as dark as its weight."""

from itertools import groupby
from operator import attrgetter

import streamlit as st

from attention_core.attention.wording import percent
from attention_core.inference.soft_lookup import MAX_WORDS, WeighedWord, weigh_words
from pages.lookup import table
from pages.lookup.inputs import LookUp, draw_lookup
from pages.lookup.records import PRESETS
from ui.labels import literal
from ui.layout import shaded_word
from ui.lecture.mode import LECTURE


def draw_input() -> LookUp:
    """Draw what one changes; a lecture asks a text instead of the first table, whose keys are single words."""
    lookup = draw_lookup()
    if not LECTURE.value or table.PRESET.value != table.FIRST_TABLE:
        return lookup
    preset = PRESETS["Ask a text"]
    request = table.LookupRequest(preset.records, tuple(preset.queries), (), True, preset.text)
    return lookup._replace(request=request, query=0, temperature=preset.temperature)


def _weighed(lookup: LookUp) -> list[WeighedWord]:
    return weigh_words(lookup.request.records, lookup.text, lookup.temperature, lookup.encoder)


def answer(lookup: LookUp) -> str:
    """Say which words get most weight."""
    heaviest = sorted(_weighed(lookup), key=attrgetter("weight"))[::-1][:3]
    if not heaviest:
        return "None: the keys have no words."
    shares = ", ".join(f"{literal(word.text)} {percent(word.weight)}" for word in heaviest)
    return f"{literal(lookup.text)} Most weight: {shares}."


def draw(lookup: LookUp) -> None:
    """Draw the words of the keys."""
    words = _weighed(lookup)
    if not words:
        return
    largest = max(word.weight for word in words)
    keys = (key_words for _, key_words in groupby(words, key=attrgetter("key")))
    lines = (" ".join(shaded_word(word.text, word.weight, largest) for word in key_words) for key_words in keys)
    st.html(f'<p style="margin:0;line-height:1.8">{"<br>".join(lines)}</p>')
    subject = f"Each of the first {MAX_WORDS} words" if len(words) == MAX_WORDS else "Every word"
    st.caption(f"{subject} is a key of its own.")
