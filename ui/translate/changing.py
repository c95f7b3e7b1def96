"""Arcs changed by hand: an English word is cut, set to a number, or looked at as by another French word."""

import streamlit as st

from attention_core.bounds import as_markdown
from attention_core.topics.translate.translation import ShownTranslation, read_source
from ui.edits import WeightsRow, show_weights_difference, weight_editor
from ui.translate.forcing import follow_first_screen
from ui.translate.models import EDITS, NAME, show_next_word, translation


def _keys_of(text: str) -> list[tuple[int, ...]]:
    """Return the pieces of each English word."""
    word_of = read_source(text).word_of
    return [tuple(place for place, of in enumerate(word_of) if of == word) for word in range(word_of[-1] + 1)]


def _row(shown: ShownTranslation, row: int, text: str) -> WeightsRow:
    return WeightsRow(EDITS, shown.trace, shown.view.pieces(row), None, shown.translator, text)


def change_arc(shown: ShownTranslation, row: int, column: int, weight: float | None, text: str) -> None:
    """Set what a French word gives an English one; None = cut it, or give it back; for a callback."""
    _row(shown, row, text).set_weight(_keys_of(text)[column], weight)


def change_arcs(shown: ShownTranslation, row: int, text: str) -> None:
    """Draw the present word's weights to be changed, the list of changes, and what is said before and after."""
    follow_first_screen(shown, row)
    view, trace, name = shown.view, shown.trace, shown.translator
    left, right = st.columns(2, gap="large")
    with left:
        if view.is_single:
            st.info("This model looks at one vector alone: no weight can be changed. Click a word of the other.")
        else:
            words = dict(zip(_keys_of(text), view.source, strict=True))
            others = {view.first_piece[at]: word for at, word in enumerate(view.target) if at != row}
            weight_editor(_row(shown, row, text), words, others)
        EDITS.draw(trace, hint="Click a French word above, then an English one to cut the arc between them.")
        show_weights_difference(NAME, trace.replace(()), trace)
    with right:
        if trace.edits:
            was = translation(name, text, shown.forced).text
            st.markdown(
                f"As learned: *{as_markdown(was)}*  \nChanged: *{as_markdown(shown.translation.text)}*  \nOnly what "
                "comes from the first changed word on is said anew."
            )
        after = tuple(shown.translation.ids[: shown.view.first_piece[row]])
        show_next_word(NAME, name, read_source(text), after, trace.edits)
