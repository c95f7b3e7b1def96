"""The scene of a long sentence: one vector loses words of it, and attention looks them up."""

from attention_core.attention.edits import UNIFORM
from attention_core.inference.translation import TracedTranslation
from pages.memory.first_screen import ATTENTIVE, FRENCH_WALK, NAME, WITHOUT, lost_words, traced
from ui import translators as network
from ui.scene import draw_scene, scene_choice
from ui.state import Field, one_of
from ui.translation_scene import translation_data
from ui.try_this import is_guessing

SURE, LONG = 0.95, 4  # weight of a word that is looked up, and letters of one that is no article or pronoun
VECTOR, ATTENTION, EQUAL = "vector", "attention", "equal"
CONTRAST = Field(NAME, "shown", ATTENTION, address="shown", parse=one_of((VECTOR, ATTENTION, EQUAL)))
"""What is handed over: one vector, what attention weighs, or all words alike."""


def last_lost_row(attentive: TracedTranslation, text: str) -> int:
    """Return the French word that surely looks at the last word which the one vector loses; 0 = it loses none.

    Articles, auxiliaries and wrong words look less surely, or at what means something else, or is lost here, too.
    """
    lost, view = {*lost_words(WITHOUT, text)} - {*lost_words(ATTENTIVE, text)}, attentive.view
    weights, keys = (values.tolist() for values in view.weights.max(1))
    rows = [row for row, key in enumerate(keys) if view.source[key] in lost]
    words = [row for row in rows if weights[row] >= SURE and len(view.source[keys[row]]) >= LONG]
    return max(words or rows, key=keys.__getitem__, default=0)


def french_row(attentive: TracedTranslation, text: str) -> int:
    """Return the chosen French word, by default the last one whose English is lost."""
    row = FRENCH_WALK.field.value
    return min(last_lost_row(attentive, text) if row < 0 else row, len(attentive.view.target) - 1)


def draw_memory_scene(text: str) -> TracedTranslation | None:
    """Draw the scene of a sentence; return what attention makes of it, None where that network is missing."""
    attentive, single = (traced(name, text) for name in (ATTENTIVE, WITHOUT))
    row = french_row(attentive, text) if attentive else 0
    if attentive and CONTRAST.value == EQUAL:
        attentive = network.traced_translation(attentive.translator, text, (), UNIFORM)
    models = [model for model in (attentive, single) if model]
    if not models:
        return None
    data = translation_data(attentive, single, text, row) | {
        "query": row,
        "focus": VECTOR if CONTRAST.value == VECTOR or not attentive else ATTENTION,
        "plays": True,
        "covered": is_guessing(NAME),
        "axes": None,
        "alsoLost": ", ".join(lost_words(ATTENTIVE, text)),
    }

    def on_choose() -> None:
        choice = scene_choice(NAME, max(len(model.view.target) for model in models), models[0].trace.n_keys)
        if choice is None:
            return
        FRENCH_WALK.field.value = choice.row
        if choice.focus:
            CONTRAST.value = VECTOR if choice.focus == VECTOR else EQUAL if choice.is_even else ATTENTION

    draw_scene(NAME, data, on_choose)
    return attentive
