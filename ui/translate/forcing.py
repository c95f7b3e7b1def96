"""French that every translation must begin with: typed, or chosen piece by piece."""

import streamlit as st

from attention_core.attention.types import Role
from attention_core.bounds import PREFIX_LETTERS, as_markdown
from attention_core.data.pieces import END
from attention_core.data.sentence_presets import CLASSIC, GIVEN
from attention_core.topics.translate.translation import (
    ShownTranslation,
    WordView,
    french_prefix,
    read_source,
    translation_of,
)
from ui.layout import section
from ui.state import Field, plain_text, whole_number, whole_numbers
from ui.translate.models import NAME, TRANSLATORS, likely_pieces, model_of, translation
from ui.words import chosen_piece, next_words

MAX_FORCED = 60  # pieces that may be forced; the sentence needs room to end
CLASSIC_PAIRS = (("accord", "agreement"), ("zone", "Area"), ("économique", "Economic"), ("européenne", "European"))


def _pieces_of(text: str) -> list[int]:
    return french_prefix(text[: PREFIX_LETTERS.most])[:MAX_FORCED]


def _numbered_pieces(text: str) -> list[int]:
    numbers = whole_numbers(text)[:MAX_FORCED]
    translation_of(numbers)  # IndexError where there is no such piece
    return numbers


PREFIX = Field(NAME, "prefix", "", address="begin", parse=lambda text: plain_text(text)[: PREFIX_LETTERS.most])
FORCED_PIECES: Field[list[int]] = Field(
    NAME, "forced", lambda: _pieces_of(PREFIX.value), address="pieces", parse=_numbered_pieces
)
"""Chosen one by one they need not be those into which the typed beginning would be cut."""
WORD = Field(NAME, "at", 2, address="at", parse=whole_number)
"""The French word that is looked at; on arrival *rouge*, whose colour is lost without attention."""


def forced_pieces() -> tuple[int, ...]:
    return tuple(FORCED_PIECES.value)


def force_pieces(pieces: list[int], text: str | None = None) -> None:
    """Let every translation begin with pieces, typed as `text` or chosen one by one."""
    FORCED_PIECES.value = pieces
    PREFIX.value = translation_of(pieces).text[: PREFIX_LETTERS.most] if text is None else text


def force_what_comes_with(sentence: str) -> None:
    """Force the French that comes with an example, or none."""
    french = GIVEN.get(sentence.strip(), "")
    force_pieces([*_pieces_of(french), END] if french else [])


def force_french(shown: ShownTranslation, row: int, text: str) -> None:
    """Draw the beginning to type, and what could be said next at the present word, each a button."""
    follow_first_screen(shown, row)
    typed, following = st.columns([1, 1], gap="large")
    with typed:
        PREFIX.widget(
            st.text_input,
            "The French must begin with",
            max_chars=PREFIX_LETTERS.most,
            placeholder="nothing: the models are free",
            on_change=lambda: force_pieces(_pieces_of(PREFIX.value), PREFIX.value),
        )
        own = "The model's own choice"
        st.button(own, key="translate_free", disabled=not FORCED_PIECES.value, on_click=force_pieces, args=([],))
        st.caption("All models go on from what you force.")
    with following:
        _next_word(shown, text, shown.view.first_piece[row])


def follow_first_screen(shown: ShownTranslation, row: int) -> None:
    """Run the whole page again if something in a tab has changed what the first screen shows."""
    if (shown.forced, row) != (forced_pieces(), WORD.value):
        st.rerun()


def _next_word(shown: ShownTranslation, text: str, piece: int) -> None:
    ids = shown.translation.ids
    after = tuple(ids[:piece])
    section(f"The next word, {TRANSLATORS[shown.translator]}", Role.OUTPUT)
    bars = likely_pieces(model_of(shown.translator), read_source(text), after)
    next_words(NAME, bars, after, ids[piece] if piece < len(ids) else None, _take_choice)
    if len(after) >= MAX_FORCED:
        st.info(f"Up to {MAX_FORCED} pieces can be chosen; from here on the models speak alone.")
    st.caption("The ten likeliest of 8,000 next pieces. Click one to force it. A hyphen: it continues a word.")


def _take_choice() -> None:
    choice = chosen_piece(NAME)
    if choice is not None and len(choice[1]) < MAX_FORCED:
        force_pieces([*choice[1], choice[0]])
        WORD.value += 1


def forced_french_note(text: str, shown: ShownTranslation) -> None:
    """Say what a model would have said itself where French comes with the sentence."""
    if text == CLASSIC and shown.forced == (*_pieces_of(GIVEN[CLASSIC]), END):
        itself = translation(shown.translator, text).text
        st.markdown(
            f"The French is given. Left to itself this model says *{as_markdown(itself)}* All of them fail: such words "
            "are rare where they learned. "
            + ("" if shown.view.is_single else f"Given the French, {_where_it_looks(shown.view)}.")
        )


def _where_it_looks(view: WordView) -> str:
    told = []
    for french, english in CLASSIC_PAIRS:
        weights = view.weights[view.target.index(french)]
        best, wanted = int(weights.argmax()), view.source.index(english)
        missed = "" if best == wanted else f", not at *{english}* ({float(weights[wanted]):.0%})"
        told.append(f"*{french}* looks most at *{view.source[best]}* ({float(weights[best]):.0%}){missed}")
    return "; ".join(told)
