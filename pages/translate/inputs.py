"""What one changes in an experiment of the page: the sentence, the models, the French word."""

from typing import NamedTuple

import streamlit as st

from attention_core.inference.translation import TracedTranslation
from pages.translate import first_screen as screen
from pages.translate.forcing import WORD
from ui import translators as network
from ui.computed import model_or_stop
from ui.labels import distinct
from ui.player import export_bar
from ui.state import single_choice
from ui.take_along import take_along


class Translations(NamedTuple):
    """A sentence and what the chosen models that load make of it, by slot."""

    text: str
    models: dict[str, TracedTranslation]

    @property
    def traced(self) -> TracedTranslation:
        """The translation whose words are stepped through."""
        return screen.stepped_model(self.models)

    @property
    def row(self) -> int:
        """The present French word, of that translation."""
        return WORD.value


def draw_sentence() -> str:
    """Draw the box of the sentence; return the sentence."""
    with st.container(key="experiment_input"):
        return screen.sentence_input()


def draw_translations() -> Translations:
    """Draw the box of the sentence; return its translations."""
    text = draw_sentence()
    return _at_hand(text, screen.translate_with_models(text))


def draw_arcs() -> Translations:
    """Draw the sentence and its scene, in which words are crossed out and columns dragged."""
    text = draw_sentence()
    models = screen.translate_with_models(text)
    with st.container(key="translate_pair"):
        screen.draw_scene(models, text)
        return _at_hand(text, models)


def draw_word() -> Translations:
    """Draw the sentence, the model whose words are stepped through, and its French words."""
    translations = draw_translations()
    view = translations.traced.view
    screen.choose_model(screen.stepped_slot(translations.models))
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="translate_word_stepper"):
        labels = dict(enumerate(distinct(view.target)))
        single_choice("French word", WORD, labels, label_visibility="collapsed", wrap=True, width="content")
        screen.WORDS.previous_button(range(len(labels)), "Previous word")
        screen.WORDS.next_button(range(len(labels)), "Next word")
    return translations


def _at_hand(text: str, models: dict[str, TracedTranslation]) -> Translations:
    if not models:
        model_or_stop(f"translator-{screen.MODELS.value['lower']}")  # says what is missing
    translations = Translations(text, models)
    traced, row = translations.traced, translations.row
    take_along(lambda: export_bar(traced.trace, network.NAME, query=traced.view.first_piece[row]))
    return translations
