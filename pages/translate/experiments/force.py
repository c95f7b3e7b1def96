"""What if the French began otherwise? Its first words are typed or chosen, and the models go on from them."""

from functools import partial

import streamlit as st

from attention_core.attention.types import Role
from attention_core.data.pieces import load_vocabulary
from attention_core.inference.translation import TracedTranslation, read_source
from pages.translate.forcing import (
    FORCED_PIECES,
    MAX_FORCED,
    PREFIX,
    WORD,
    force_pieces,
    n_forced_words,
    pieces_of,
)
from pages.translate.inputs import Translations, draw_arcs, draw_word
from ui.fragments import BODY, rerun_fragments, with_rerun
from ui.hosting.bounds import PREFIX_LETTERS
from ui.layout import section
from ui.lecture.mode import LECTURE
from ui.translators import NAME, TRANSLATORS, likely_pieces, model_of
from ui.words import chosen_token, piece_label, token_bars


def draw_input() -> Translations:
    """Draw the sentence and both translations; in a lecture, which has less room, the French of one."""
    return draw_word() if LECTURE.value else draw_arcs()


def answer(translations: Translations) -> str:
    """Say how much of the French is given."""
    n = n_forced_words(translations.traced)
    return f"Each word depends on those before it; you have chosen {n or 'none'}."


def draw(translations: Translations) -> None:
    """Draw the beginning to type, and what could be said next at the present word, each a button."""
    traced = translations.traced
    left, right = st.columns(2, gap="large")
    with left:
        PREFIX.widget(
            st.text_input,
            "The French must begin with",
            max_chars=PREFIX_LETTERS.maximum,
            placeholder="nothing",
            on_change=with_rerun(lambda: force_pieces(pieces_of(PREFIX.value), PREFIX.value)),
        )
        free = partial(st.button, "The model's own choice", key="translate_free", disabled=not FORCED_PIECES.value)
        free(on_click=with_rerun(force_pieces), args=([],))
    with right:
        _draw_next_pieces(traced, translations.text, traced.view.first_piece[translations.row])


def _draw_next_pieces(traced: TracedTranslation, text: str, position: int) -> None:
    ids = traced.translation.ids
    prefix = tuple(ids[:position])
    section(f"The next word, {TRANSLATORS[traced.translator]}", Role.OUTPUT)
    pieces = likely_pieces(model_of(traced.translator), read_source(text), prefix)
    after_apostrophe = bool(prefix) and load_vocabulary().text(prefix[-1]).endswith("'")
    bars = [piece._replace(text=piece_label(piece.text, after_apostrophe)) for piece in pieces]
    token_bars(NAME, bars, prefix, ids[position] if position < len(ids) else None, _on_piece, language="fr")
    if len(prefix) >= MAX_FORCED:
        st.info(f"Up to {MAX_FORCED} pieces can be chosen; from here on the models speak alone.")
    st.caption("Click a piece to force it.")


def _on_piece() -> None:
    choice = chosen_token(NAME)
    if choice is not None and len(choice[1]) < MAX_FORCED:
        force_pieces([*choice[1], choice[0]])
        WORD.value += 1
        rerun_fragments(BODY)
