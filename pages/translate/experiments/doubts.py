"""Is this map an explanation? English words are erased one after another, in the map's order and in others."""

import streamlit as st

from pages.translate.inputs import Translations, draw_word
from ui.translators import NAME, draw_translation_faithfulness

draw_input = draw_word


def answer(_: Translations) -> str:
    """Leave the answer to the drawing, which computes it."""
    return ""


def draw(translations: Translations) -> None:
    """Draw what becomes of the answer as words go."""
    traced = translations.traced
    if traced.view.source != traced.view.keys:
        st.info("One vector has no map over words. Take a model with attention.")
    else:
        draw_translation_faithfulness(NAME, translations.text, traced)
