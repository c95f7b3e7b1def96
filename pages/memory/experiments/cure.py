"""What does attention give back? Each English word's share in the one vector and in what attention gives."""

from functools import partial
from typing import NamedTuple

import streamlit as st

from attention_core.charts.bars import bars
from attention_core.device import to_array
from attention_core.inference.translation import read_source
from pages.memory import first_screen as screen
from pages.memory import look_back
from pages.memory.charts import TRANSLATOR_COLOURS
from pages.memory.look_back import FRENCH_WALK, GUESSED_INDEX
from ui.chart import note_picture
from ui.labels import distinct, literal
from ui.layout import bar_rows, stop_run


class FrenchWord(NamedTuple):
    """A French word that attention says."""

    text: str  # the English sentence
    french: str  # the word, Markdown
    prefix: list[int]  # the pieces before it


def draw_input() -> FrenchWord:
    """Draw the sentence, and the French words to choose from."""
    text = screen.draw_sentence()
    if why := look_back.why_missing():
        st.info(f"The additive model is not there. {why}")
        stop_run()
    translation, labels, pieces = look_back.translation_by_words(text)
    row = FRENCH_WALK.draw(labels, range(GUESSED_INDEX, GUESSED_INDEX + 3))
    return FrenchWord(text, literal(labels[row], 24), translation.ids[: pieces[row]])


def answer(word: FrenchWord) -> str:
    """Say how much depends on the English word that attention weighs most."""
    text, french, prefix = word
    strongest, english = look_back.heaviest_english(text, prefix)
    return look_back.describe_shares(french, english, look_back.shares_by_network(text, prefix, strongest))


def draw(word: FrenchWord) -> None:
    """Draw each English word's share in the one vector, and in the context."""
    source = read_source(word.text)
    context = to_array(look_back.context_shares(screen.ATTENTIVE, source, word.prefix))
    shares = zip(TRANSLATOR_COLOURS.items(), (screen.vector_shares(word.text), context), strict=True)
    for column, ((name, colour), values) in zip(st.columns(2, gap="large"), shares, strict=True):
        alt, labels = f"Each English word's share: {screen.called(name)}", source.word_labels
        note_picture(partial(bars, (100 * values).tolist(), distinct(labels), title="share, %", colour=colour), alt)
        rows = bar_rows((label, float(value), colour) for label, value in zip(labels, values, strict=True))
        column.html(f'<div role="group" aria-label="{alt}"><b>{screen.called(name)}</b>{rows}</div>')
    st.caption("A share tells how far a small change of the word moves what the decoder gets, beside all other words.")
