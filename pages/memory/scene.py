"""The scene of a long sentence: out of one vector come other words, and attention goes back to each word's vector."""

from typing import Any

from attention_core.evaluate.translation_figures import bleu_by_length
from attention_core.inference.translation import TracedTranslation, read_source
from attention_core.inference.translation_scene import read_and_said
from pages.memory.charts import TRANSLATOR_COLOURS
from pages.memory.first_screen import (
    ATTENTIVE,
    LABELS,
    LENGTH,
    NAME,
    WITHOUT,
    beginning,
    lost_words,
    n_words,
    present_length,
    stop_lengths,
    traced,
)
from ui.component import component
from ui.lecture.mode import LECTURE
from ui.scene import draw_scene
from ui.state import component_message
from ui.translation_scene import note_weights
from ui.try_this import is_answered, is_guessing

SURE, LONG = 0.95, 4  # weight of a word that is looked up, and letters of one that is no article or pronoun
TITLES = {
    WITHOUT: "one vector for all {} words: its French, read back",
    ATTENTIVE: "attention: one vector for each word or mark",
}
_memory_scene = component("one_vector", folder="pages/memory")


def last_lost_row(attentive: TracedTranslation, text: str) -> int:
    """Return the French word that surely looks at the last word which the one vector loses; 0 = it loses none.

    Articles, auxiliaries and wrong words look less surely, or at what means something else, or is lost here, too.
    """
    lost, view = {*lost_words(WITHOUT, text)} - {*lost_words(ATTENTIVE, text)}, attentive.view
    weights, keys = (values.tolist() for values in view.weights.max(1))
    rows = [row for row, key in enumerate(keys) if view.source[key] in lost]
    words = [row for row in rows if weights[row] >= SURE and len(view.source[keys[row]]) >= LONG]
    return max(words or rows, key=keys.__getitem__, default=0)


def draw_memory_scene(text: str) -> TracedTranslation | None:
    """Draw the scene of a sentence, or its beginning; return what attention makes of it, None without that network."""
    stops, n = stop_lengths(text), present_length(text)
    read = beginning(text, n)
    models = {name: model for name in TITLES if (model := traced(name, read))}
    if not models:
        return None
    data: dict[str, Any] = {
        "sentence": text,
        "words": read_source(read).words,
        "counts": [n, n_words(read)],
        "stops": stops,
        "size": next(iter(models.values())).trace.value_of(0).shape[1],
        "halves": [_half(name, model, read) for name, model in models.items()],
        "curve": _curves(),
        "covered": is_guessing(NAME),
        "isTold": LECTURE.value and is_answered(NAME),  # in the answer
    }

    def on_choose() -> None:
        length = (component_message(f"{NAME}_scene", "chosen") or {}).get("length")
        if length in stops:
            LENGTH.value = 0 if length == stops[-1] else length

    noted = models.get(ATTENTIVE) or models[WITHOUT]
    note_weights(noted, 0 if noted.view.is_single else last_lost_row(noted, read))
    draw_scene(NAME, data, on_choose, _memory_scene)
    return models.get(ATTENTIVE)


def _half(name: str, model: TracedTranslation, text: str) -> dict[str, Any]:
    translation, is_single = read_and_said(model, text), name == WITHOUT
    return (
        {"name": "vector" if is_single else "attention", "title": TITLES[name].format(n_words(text))}
        | translation
        | {"row": (name == ATTENTIVE and last_lost_row(model, text)) or None}
    )


def _curves() -> dict[str, Any]:
    groups, scores = bleu_by_length(tuple(LABELS))
    rows = [{"name": LABELS[name], "colour": TRANSLATOR_COLOURS[name], "bleu": bleu} for name, bleu in scores.items()]
    return {"groups": groups, "scores": rows}
