"""What if it looked elsewhere? Arcs are cut and dragged, and the French is said anew."""

import streamlit as st

from attention_core.bounds.harmless import as_markdown
from attention_core.inference.read_back import words_only_in
from attention_core.inference.translation import read_source
from pages.translate.forcing import forced_words_note, keys_of, weights_row
from pages.translate.inputs import Translations, draw_arcs
from ui.edits import show_weights_difference, weight_editor
from ui.translators import EDITS, NAME, show_next_word, translation

draw_input = draw_arcs


def answer(translations: Translations) -> str:
    """Say how many words the visitor's changes have changed."""
    traced = translations.traced
    if not traced.trace.edits:
        return "Then it can say something else."
    learned = translation(traced.translator, translations.text, traced.forced).word_labels
    n_changed, n = len(words_only_in(traced.view.target[:-1], learned)), len(traced.view.target) - 1
    return f"With your changes, {n_changed} of {n} French words are other ones."


def draw(translations: Translations) -> None:
    """Draw what changes weights and what comes of it; a lecture has room for the scene alone."""
    with st.container(key="desk_translate_weights"):
        left, right = st.columns(2, gap="large")
        with left:
            _draw_changes(translations)
        with right:
            _draw_outcome(translations)


def _draw_changes(translations: Translations) -> None:
    """Draw the present word's weights to be changed, and the list of changes."""
    (text, _), traced, row = translations, translations.traced, translations.row
    view, trace = traced.view, traced.trace
    if view.is_single:
        st.info("This model looks at one vector alone: no weight can be changed. Take one with attention above.")
    else:
        key_names = dict(zip(keys_of(text), view.source, strict=True))
        row_sources = {view.first_piece[at]: word for at, word in enumerate(view.target) if at != row}
        weight_editor(weights_row(traced, row, text), key_names, row_sources)
    EDITS.draw(trace)
    show_weights_difference(NAME, trace.replace(()), trace)


def _draw_outcome(translations: Translations) -> None:
    """Draw what is said before and after the changes, and how likely each next piece is."""
    (text, _), traced = translations, translations.traced
    trace, name = traced.trace, traced.translator
    if trace.edits:
        learned_text = translation(name, text, traced.forced).text
        anew = "Only what comes from the first changed word on is said anew."
        if traced.forced:
            anew = f"{forced_words_note(traced)} No weight changes what is given, only how likely it is."
        changed_text = traced.translation.text
        st.markdown(f"As learned: *{as_markdown(learned_text)}*  \nChanged: *{as_markdown(changed_text)}*  \n{anew}")
    prefix = tuple(traced.translation.ids[: traced.view.first_piece[translations.row]])
    show_next_word(name, read_source(text), prefix, trace.edits)
