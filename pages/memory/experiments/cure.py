"""What does attention give back? Each English word's share in the one vector and in what attention gives."""

from typing import NamedTuple

import numpy as np
import streamlit as st

from attention_core.charts.bars import bar_table
from attention_core.device import to_array
from attention_core.inference.translation import read_source
from pages.memory import first_screen as screen
from pages.memory import look_back
from pages.memory.charts import TRANSLATOR_COLOURS
from pages.memory.look_back import FRENCH_WALK, GUESSED_INDEX
from ui.chart import draw_chart
from ui.labels import literal
from ui.layout import stop_run


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
    labels, (strongest, _) = (
        list(read_source(word.text).word_labels),
        look_back.heaviest_english(word.text, word.prefix),
    )
    labels[strongest] = f"► {labels[strongest]}"
    context = to_array(look_back.context_shares(screen.ATTENTIVE, read_source(word.text), word.prefix))
    shares = zip(screen.LABELS.values(), (screen.vector_shares(word.text), context), strict=True)
    columns = {f"{label}, %": 100 * np.asarray(values) for label, values in shares}
    chart = bar_table(labels, columns, [*TRANSLATOR_COLOURS.values()])
    alt = f"Shares of {len(labels)} English words in the one vector and in the context"
    draw_chart(chart, width="content", key="memory_cure", alt=alt)
    st.caption(
        f"{'; '.join(map(screen.called, screen.LABELS)).capitalize()}. A share tells how far a small change of the "
        "word moves what the decoder gets, beside all other words."
    )
