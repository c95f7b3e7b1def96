"""The translators of *Translate* and *Inside a transformer*, and what they say of a sentence, kept for all visitors."""

from collections.abc import Sequence
from typing import Any

import torch

from attention_core.attention.edits import Edits, QueryEdit
from attention_core.device import device_of
from attention_core.faithfulness import subjects
from attention_core.faithfulness.attribution import Subject
from attention_core.inference import translation as core
from attention_core.inference.translation import TracedTranslation, read_source
from attention_core.models.transformer import EditsByAttention
from attention_core.models.translator import MAX_PIECES
from ui.computed import cached_computation, card_or_empty, model_or_fault, model_or_stop
from ui.edits import EditList, show_outcome
from ui.faithfulness import QuestionedMap, question_map
from ui.hosting.bounds import QUESTIONED_PIECES
from ui.words import piece_label

NAME = "translate"
EDITS = EditList(NAME)
TRANSLATORS = {
    "none": "without attention",
    "dot": "dot attention",
    "transformer": "transformer",
    "mean": "plain average",
    "additive": "additive attention",
    "input-feeding": "dot attention with input feeding",
}
"""By the last part of a name, what people call a model; all but the transformer differ in attention alone."""
LISTED = ("none", "dot", "transformer")
"""Translators that are offered on arrival; the others are computed only when they are asked for."""
FIRST = {"upper": "none", "lower": "dot"}
"""The two that are shown on arrival, trained equally long and equally large."""

MAX_PIECES_COMPARED = 300  # next pieces that are compared; others are hardly likely

likely_pieces = cached_computation(on_cluster=True)(core.next_pieces)
_translated = cached_computation(on_cluster=True)(core.forced_translation)
_traced = cached_computation(on_cluster=True)(core.trace_translation)


def model_of(translator: str) -> Any:
    """Return a translator by the last part of its name; None where its file is missing."""
    return model_or_fault(f"translator-{translator}")[0]


def passes(translator: str) -> str:
    """Return how long a translator was trained, in words; "" where its card is missing."""
    epochs = card_or_empty(f"translator-{translator}").get("epochs")
    return f"{epochs:g} passes" if epochs else ""


def why_missing(translator: str) -> str:
    return model_or_fault(f"translator-{translator}")[1]


def translation(translator: str, text: str, forced: tuple[int, ...] = ()) -> core.Translation:
    """Return the model's translation that begins with the forced pieces; a final END stops it there.

    Says what is missing, and ends the fragment, where the model is not there.
    """
    return _translated(model_or_stop(f"translator-{translator}"), core.read_source(text), forced)


def traced_translation(translator: str, text: str, forced: tuple[int, ...], edits: Edits = ()) -> TracedTranslation:
    """Return the translation with its attention; what comes before the first edited piece is said as learned."""
    result, source = translation(translator, text, forced), core.read_source(text)
    if edits:
        first = min(edit.query or 0 if isinstance(edit, QueryEdit) else 0 for edit in edits)
        prefix = max(forced, tuple(result.ids[: min(first, MAX_PIECES - 1)]), key=len)
        result = _translated(model_of(translator), source, prefix, tuple(edits))
    return _traced(model_of(translator), translator, source, forced, result, tuple(edits))


def changed_translation(translator: str, text: str, forced: tuple[int, ...]) -> TracedTranslation:
    """Return the translation with the edits of this page that fit."""
    learned = traced_translation(translator, text, forced)
    edits = EDITS.fitting(learned.trace, translator, text, grows=True)
    traced = traced_translation(translator, text, forced, edits) if edits else learned
    EDITS.fitting(traced.trace.replace(()), translator, text)  # notes which are about words that are not said
    return traced


def show_next_word(
    translator: str, source: core.SourceSentence, after: tuple[int, ...], changes: Edits | EditsByAttention
) -> None:
    """Draw how likely each next piece is after others, as learned and with changes."""
    model = model_or_stop(f"translator-{translator}")
    learned, changed = (
        {piece.piece: piece for piece in likely_pieces(model, source, after, MAX_PIECES_COMPARED, edits)}
        for edits in ((), changes)
    )
    pieces = learned | changed
    labels = [piece_label(piece.text) for piece in pieces.values()]
    before, after_changes = (
        [likely[key].probability if key in likely else 0.0 for key in pieces] for likely in (learned, changed)
    )
    show_outcome(labels, before, after_changes)


def _translation_subject(model: Any, text: str, ids: Sequence[int]) -> Subject:
    source, device = read_source(text), device_of(model)
    pieces, target = source.ids.to(device), torch.tensor(ids, device=device)
    return subjects.translation_subject(model, pieces, target, source.word_of, source.words)


def question_translation(page: str, text: str, traced: TracedTranslation) -> QuestionedMap:
    """Return what becomes of a translation as English words become the unknown one."""
    n_pieces = len(read_source(text).ids) + len(traced.translation.ids)
    if n_pieces > QUESTIONED_PIECES.maximum:
        sizes = f"{n_pieces} pieces in both languages, at most {QUESTIONED_PIECES}"
        return QuestionedMap.missing(f"This is too long to erase word after word: {sizes}.")
    inputs = "words", _translation_subject, text, traced.translation.ids
    note = "The answer is French that is given, in whole or in part." if traced.forced else ""
    return question_map(page, f"translator-{traced.translator}", *inputs, note=note)
