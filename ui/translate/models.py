"""The translators of the page, and what they say of a sentence, kept for all visitors."""

from typing import Any

from attention_core.attention.edits import Edits, SetWeights
from attention_core.models.translator import MAX_PIECES
from attention_core.topics.translate.translation import (
    ShownTranslation,
    Translation,
    forced_translation,
    probability_per_word,
    read_source,
    show_translation,
)
from ui.computed import cached_computation, model_or_none, model_or_stop
from ui.edits import EditList

NAME = "translate"
EDITS = EditList(NAME)
TRANSLATORS = {
    "none": "no attention",
    "additive": "additive attention",
    "transformer": "transformer",
    "mean": "plain average",
    "dot": "dot attention",
    "general": "general attention",
}
"""By the last part of a name, what people call a model; all but the transformer differ in attention alone."""
LISTED = ("none", "additive", "transformer")
"""Translators that are offered on arrival; the others are computed only when they are asked for."""

_translated = cached_computation(by_model=True)(forced_translation)
_shown = cached_computation(by_model=True)(show_translation)


def model_of(translator: str) -> Any:
    return model_or_none(f"translator-{translator}")[0]


def why_missing(translator: str) -> str:
    return model_or_none(f"translator-{translator}")[1]


def translation(translator: str, text: str, forced: tuple[int, ...] = ()) -> Translation:
    """Return the model's translation that begins with the forced pieces; a final END stops it there.

    Says what is missing, and ends the part, where the model is not there.
    """
    return _translated(model_or_stop(f"translator-{translator}"), read_source(text), forced)


def shown_translation(translator: str, text: str, forced: tuple[int, ...], edits: Edits = ()) -> ShownTranslation:
    """Return the translation with its attention; what comes before the first edited piece is said as learned."""
    made, source = translation(translator, text, forced), read_source(text)
    if edits:
        first = min(edit.query for edit in edits if isinstance(edit, SetWeights))
        kept = max(forced, tuple(made.ids[: min(first, MAX_PIECES - 1)]), key=len)
        made = _translated(model_of(translator), source, kept, tuple(edits))
    return _shown(model_of(translator), translator, source, forced, made, tuple(edits))


def changed_translation(translator: str, text: str, forced: tuple[int, ...]) -> ShownTranslation:
    """Return the translation with the edits of this page that fit."""
    shown = shown_translation(translator, text, forced)
    for _ in range(2 if EDITS.changes else 1):  # the changed translation may have words that can be edited in turn
        edits = EDITS.fitting(shown.trace.replace(()), translator, text)
        shown = shown_translation(translator, text, forced, edits)
    return shown


def average_per_word(made: Translation) -> str:
    """Return how likely the model finds a word of its translation, on average, such as "44%"."""
    return f"{probability_per_word(made.probabilities, len(made.word_labels)):.0%}"
