"""What every model makes of the typed sentence, computed once for all visitors."""

from dataclasses import dataclass
from typing import Any

from attention_core.attention.trace import AttentionTrace
from attention_core.data.pieces import END
from attention_core.topics.translate.translation import (
    NextPiece,
    Translation,
    explain,
    explain_layers,
    next_pieces,
    read_source,
    translate,
    translation_of,
)
from attention_core.topics.translate.word_view import WordView, piece_probabilities, told_by_source, word_view
from ui.computed import computed, model_or_none

TRANSLATORS = {
    "none": "no attention",
    "mean": "plain average",
    "dot": "dot",
    "general": "general",
    "additive": "additive",
    "transformer": "transformer",
}
"""Models by the last part of their name, and what people call them; the first six differ only in how they attend."""
N_LAYERS = 3
BEAM = 5


@dataclass(frozen=True, eq=False)
class ShownTranslation:
    translator: str  # one of TRANSLATORS
    forced: tuple[int, ...]  # the pieces that it had to begin with
    made: Translation
    trace: AttentionTrace  # its attention, over pieces; a transformer's is one layer's cross-attention
    words: WordView  # the same by word
    view: WordView  # the same by word, or by piece where that was asked for


def why_missing(translator: str) -> str:
    return model_or_none(f"translator-{translator}")[1]


@computed(by_model=True)
def translation(translator: str, text: str, forced: tuple[int, ...]) -> Translation:
    """Return what a model, which is there, makes of a sentence begun with forced pieces; END last ends it there."""
    model, source = _model(translator), read_source(text)
    if forced and forced[-1] == END:
        return translation_of(forced, piece_probabilities(model, source, forced))
    return translate(model, source, BEAM, forced)


@computed(by_model=True)
def shown_translation(
    translator: str, text: str, forced: tuple[int, ...], layer: int, by_piece: bool
) -> ShownTranslation:
    """Return the translation with its attention; `layer` is the transformer's, from 1."""
    model, source = _model(translator), read_source(text)
    made = translation(translator, text, forced)
    if translator == "transformer":
        trace = explain_layers(model, source, made)["cross", layer - 1]
    else:
        trace = explain(model, source, made)
    words = word_view(trace, source, made, made.probabilities)
    view = word_view(trace, source, made, made.probabilities, by_piece=True) if by_piece else words
    return ShownTranslation(translator, forced, made, trace, words, view)


@computed(by_model=True)
def fit(translator: str, text: str, forced: tuple[int, ...]) -> float:
    """Return by how many nats the English makes each forced piece likelier, on average; the end does not count."""
    return told_by_source(_model(translator), read_source(text), [piece for piece in forced if piece != END])


@computed(by_model=True)
def candidates(translator: str, text: str, after: tuple[int, ...]) -> list[NextPiece]:
    return next_pieces(_model(translator), read_source(text), after)


def _model(translator: str) -> Any:
    return model_or_none(f"translator-{translator}")[0]
