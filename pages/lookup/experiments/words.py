"""Which words does a question pick out? Every word of the keys is a key of its own, as dark as its weight."""

import html
import re
from operator import attrgetter

import streamlit as st

from attention_core.attention.types import Role
from attention_core.attention.wording import percent
from attention_core.bounds.harmless import as_markdown
from attention_core.charts.ramps import ROLE_COLOURS
from attention_core.inference.soft_lookup import MAX_WORDS, WeighedWord, weigh_words
from pages.lookup import table
from pages.lookup.inputs import LookUp, draw_lookup
from pages.lookup.records import PRESETS
from ui.layout import shaded_word
from ui.lecture.mode import LECTURE

NAMED = 0.02
"""The weight from which on it stands beside its word."""


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
    shares = ", ".join(f"*{as_markdown(word.text)}* {percent(word.weight)}" for word in heaviest)
    return f"“{as_markdown(lookup.text)}” looks most at {shares}."


def draw(lookup: LookUp) -> None:
    """Draw the keys as a text, in which the heaviest words have their weights."""
    words = _weighed(lookup)
    if not words:
        return
    largest, left = max(word.weight for word in words), iter(words)
    keys = lookup.request.records.keys
    pieces = re.split(r"(\w+)", (" " if all(key.endswith((".", "?", "!")) for key in keys) else ", ").join(keys))
    for index, piece in enumerate(pieces):  # every second one is a word
        word = next(left, None) if index % 2 else None
        pieces[index] = _shaded(word, largest) if word else html.escape(piece)
    st.html(f'<p style="margin:0;line-height:1.75;font-size:1.35rem">{"".join(pieces)}</p>')
    subject = f"Each of the first {MAX_WORDS} words" if len(words) == MAX_WORDS else "Every word"
    st.caption(f"{subject} is a key of its own.")


def _shaded(word: WeighedWord, largest: float) -> str:
    if word.weight < NAMED:
        return shaded_word(word.text, word.weight, largest, "padding:1px 0;")
    line = f"box-shadow:inset 0 -3px {ROLE_COLOURS[Role.WEIGHTS]};"
    return shaded_word(word.text, word.weight, largest, line) + f"<b> {percent(word.weight)}</b>"
