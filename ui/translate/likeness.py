"""“Accord is close to agreement because they mean the same”: tested on the present sentence, in numbers."""

from typing import Any

import streamlit as st
import torch
from torch import Tensor

from attention_core.attention.types import Role
from attention_core.charts.bar_table import Bars, bar_table
from attention_core.charts.palette import BLUE_ORANGE, LABELS, ROLE_COLOURS
from attention_core.topics.translate.likeness import Likeness, likeness, n_agreeing
from attention_core.topics.translate.translation import read_source
from attention_core.topics.translate.word_view import NEXT_LABEL
from ui.chart import draw_chart
from ui.computed import computed, model_or_none
from ui.labels import literal
from ui.skeleton import note, say
from ui.translate.translations import TRANSLATORS, ShownTranslation, shown_translation

SIGNED = (BLUE_ORANGE[8], BLUE_ORANGE[2])


@computed(by_model=True)
def _likeness(translator: str, text: str, forced: tuple[int, ...], layer: int) -> Likeness:
    model: Any = model_or_none(f"translator-{translator}")[0]
    shown = shown_translation(translator, text, forced, layer, by_piece=False)
    return likeness(model, shown.trace, read_source(text), shown.made, shown.words)


def same_meaning(shown: ShownTranslation, row: int, text: str, layer: int) -> None:
    """Draw weight, cosine of state and key, and cosine of word vectors for every English word; say what they show."""
    say(
        "“*Accord* gets *agreement* because the two mean the same, so their vectors are close.” Is that so? Here are "
        "the weights of the present word beside two cosines: of the decoder's state with every key, and of the two "
        "word vectors."
    )
    view = shown.words
    if view.is_single:
        st.info("This model has one vector and nothing to choose from. Take one with attention above.")
        return
    row = view.row_of(shown.view.first_piece[row])
    alike = _likeness(shown.translator, text, shown.forced, layer)
    table, words = st.columns([1, 1], gap="large")
    largest = float(alike.keys[row].abs().max()), float(alike.words[row].nan_to_num().abs().max())
    columns = [
        Bars("weight", *_told(view.weights[row], "{:.0%}"), (ROLE_COLOURS[Role.WEIGHTS],), 1 / len(view.keys)),
        Bars("cosine: state, key", *_told(alike.keys[row], "{:.2f}", largest[0]), SIGNED),
        Bars("cosine: words", *_told(alike.words[row].nan_to_num(), "{:.2f}", largest[1]), SIGNED),
    ]
    chart = bar_table(view.source, columns, across=64, ink=LABELS)
    alt = f"Weights and cosines of “{view.target[row]}” with every English word"
    draw_chart(chart, width="content", key="translate_likeness", alt=alt, on=table)
    with words:
        _in_words(shown, row, alike)
        note(
            "A word of several pieces counts with the mean of their vectors; a French word asks with the state before "
            "its first piece. French and English words share one table of vectors."
            + (" The transformer's heads are laid end to end." if shown.trace.n_heads > 1 else "")
        )


def _told(values: Tensor, form: str, limit: float = 1.0) -> tuple[list[float], float, list[str]]:
    return values.tolist(), limit or 1.0, [form.format(value) for value in values.tolist()]


def _in_words(shown: ShownTranslation, row: int, alike: Likeness) -> None:
    view, weights = shown.words, shown.words.weights.cpu()
    french, best, nearest = view.target[row], int(weights[row].argmax()), int(alike.keys[row].argmax())
    asked, key = literal(view.source[best], 24), float(alike.keys[row, best])
    near = (
        "the largest of all" if nearest == best else f"but the key of {literal(view.source[nearest], 24)} is more alike"
    )
    st.markdown(
        f"{literal(french, 24)} looks most at {asked}, with a weight of {float(weights[row, best]):.0%}. The decoder's "
        f"state and that key have cosine **{key:.2f}**, {near}"
        + (f" ({float(alike.keys[row, nearest]):.2f})." if nearest != best else ".")
    )
    if french != NEXT_LABEL:
        nearest = int(alike.words[row].argmax())
        cosine = float(alike.words[row, best])
        st.markdown(
            f"The word vectors of {literal(french, 24)} and {asked} have cosine **{cosine:.2f}**: "
            + ("of all the words here, that is the closest." if nearest == best else "others here are closer.")
        )
    said = torch.tensor([label != NEXT_LABEL for label in view.target])
    by_key, by_word, n = n_agreeing(weights, alike.keys), n_agreeing(weights[said], alike.words[said]), len(weights)
    st.markdown(
        f"In the whole sentence the largest weight is at the key most like the state in **{by_key} of {n}** words, and "
        f"at the English word whose vector is closest in **{by_word} of {int(said.sum())}**."
    )
    how = TRANSLATORS[shown.translator]
    follows = (
        "mostly follows the likeness of *state and key*, which its score measures and its training made. "
        if by_key > 0.75 * n
        else "does not follow the likeness of *state and key*: its score has learned another comparison. "
    )
    st.markdown(
        f"So attention here ({how}) {follows}"
        + (
            "The words themselves are close as well."
            if by_word > 0.75 * n
            else "Word vectors alone do not tell which words mean the same: that is in the states, and in the score."
        )
    )
