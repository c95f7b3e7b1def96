"""What does attention give back? Each English word's share in the one vector and in what attention gives."""

from functools import partial
from typing import NamedTuple

import streamlit as st

from attention_core.attention.wording import percent
from attention_core.charts.bars import bars
from attention_core.device import to_array
from attention_core.faithfulness.assessment import over_many
from attention_core.inference import word_influence as influence
from attention_core.inference.translation import read_source
from pages.memory import first_screen as screen
from pages.memory.charts import TRANSLATOR_COLOURS
from pages.memory.scene import french_row, last_lost_row
from ui.chart import note_picture
from ui.computed import by_model, card_or_empty, model_or_fault
from ui.labels import distinct, literal
from ui.layout import bar_rows, stop_run

_english_weights = by_model(influence.weights_by_word)
_context_shares = by_model(influence.context_shares)


class FrenchWord(NamedTuple):
    """A French word that attention says."""

    text: str  # the English sentence
    french: str  # the word, Markdown
    prefix: list[int]  # the pieces before it


def draw_input() -> FrenchWord:
    """Draw the sentence, and the French words to choose from."""
    text = screen.draw_sentence()
    attentive = screen.traced(screen.ATTENTIVE, text)
    why = model_or_fault(screen.ATTENTIVE)[1] or model_or_fault(screen.WITHOUT)[1]
    if why or attentive is None:
        st.info(f"A network is not there. {why}")
        stop_run()
    view, first = attentive.view, last_lost_row(attentive, text)
    screen.FRENCH_WALK.field.value = french_row(attentive, text)
    row = screen.FRENCH_WALK.draw(view.target, range(first, first + 3))
    return FrenchWord(text, literal(view.target[row], 24), attentive.translation.ids[: view.first_piece[row]])


def answer(word: FrenchWord) -> str:
    """Say how much depends on the English word that attention weighs most."""
    source = read_source(word.text)
    index = int(_english_weights(screen.ATTENTIVE, source, word.prefix).argmax())
    english = literal(source.word_labels[index], 24)
    context_share = percent(float(_context_shares(screen.ATTENTIVE, source, word.prefix)[index]))
    vector_share = percent(float(screen.vector_shares(word.text)[index]))
    return (
        f"To say {word.french}, the decoder looks most at {english}: **{context_share}** of what attention gives "
        f"depends on that word, of the one vector **{vector_share}**."
    )


def draw(word: FrenchWord) -> None:
    """Draw each English word's share in the one vector, and in the context."""
    source = read_source(word.text)
    context = to_array(_context_shares(screen.ATTENTIVE, source, word.prefix))
    shares = zip(TRANSLATOR_COLOURS.items(), (screen.vector_shares(word.text), context), strict=True)
    for column, ((name, colour), values) in zip(st.columns(2, gap="large"), shares, strict=True):
        alt, labels = f"Each English word's share: {screen.LABELS[name]}", source.word_labels
        note_picture(partial(bars, (100 * values).tolist(), distinct(labels), title="share, %", colour=colour), alt)
        rows = bar_rows((label, float(value), colour) for label, value in zip(labels, values, strict=True))
        column.html(f'<div role="group" aria-label="{alt}"><b>{screen.LABELS[name]}</b>{rows}</div>')
    figures = card_or_empty(screen.WITHOUT).get("faithfulness")
    doubt = over_many(figures) if figures else ""
    meaning = "A share tells how far a small change of the word moves what the decoder gets, not what is remembered."
    st.caption(f"{meaning} {doubt}")
