"""What does attention give back? One French word at a time asks the English ones, of which one vector has lost some."""

from typing import NamedTuple

import streamlit as st

from attention_core.attention.edits import UNIFORM
from attention_core.attention.wording import percent
from attention_core.bounds.harmless import as_markdown
from attention_core.inference.translation import TracedTranslation
from pages.memory import first_screen as screen
from pages.memory.scene import last_lost_row
from ui import translators as network
from ui.computed import model_or_fault
from ui.layout import stop_run
from ui.scene import draw_scene, scene_choice
from ui.state import Field, one_of
from ui.translation_scene import translation_data

VECTOR, ATTENTION, EQUAL = "vector", "attention", "equal"
CONTRAST = Field(screen.NAME, "shown", ATTENTION, address="shown", parse=one_of((VECTOR, ATTENTION, EQUAL)))
"""What is handed over: one vector, what attention weighs, or all words alike."""
SCENE = f"{screen.NAME}_cure"


class FrenchWord(NamedTuple):
    """A French word that attention says."""

    text: str  # the English sentence
    attentive: TracedTranslation
    row: int


def draw_input() -> FrenchWord:
    """Draw the sentence; return its translation with attention, and the chosen French word.

    By default that is the last one whose English one vector loses.
    """
    text = screen.draw_sentence()
    attentive = screen.traced(screen.ATTENTIVE, text)
    why = model_or_fault(screen.ATTENTIVE)[1] or model_or_fault(screen.WITHOUT)[1]
    if why or attentive is None:
        st.info(f"A network is not there. {why}")
        stop_run()
    row = screen.FRENCH_ROW.value
    return FrenchWord(
        text, attentive, min(last_lost_row(attentive, text) if row < 0 else row, len(attentive.view.target) - 1)
    )


def answer(query: FrenchWord) -> str:
    """Say which English word attention weighs most."""
    view, row = query.attentive.view, query.row
    key = int(view.weights[row].argmax())
    french, english = as_markdown(view.target[row]), as_markdown(view.source[key])
    weight = percent(float(view.weights[row, key]))
    return f"To say *{french}*, the decoder looks back at *{english}*: **{weight}** of its weight."


def draw(query: FrenchWord) -> None:
    """Draw the scene of the sentence at the French word."""
    text, attentive, row = query
    single = screen.traced(screen.WITHOUT, text)
    if CONTRAST.value == EQUAL:
        attentive = network.traced_translation(attentive.translator, text, (), UNIFORM)
    data = translation_data(attentive, single, text, row) | {
        "query": row,
        "focus": VECTOR if CONTRAST.value == VECTOR else ATTENTION,
        "plays": True,
        "axes": None,
        "alsoLost": ", ".join(screen.lost_words(screen.ATTENTIVE, text)),
    }

    def on_choose() -> None:
        choice = scene_choice(SCENE, len(data["queries"]), len(data["keys"]))
        if choice is None:
            return
        screen.FRENCH_ROW.value = choice.row
        if choice.focus:
            CONTRAST.value = VECTOR if choice.focus == VECTOR else EQUAL if choice.is_even else ATTENTION

    draw_scene(SCENE, data, on_choose)
