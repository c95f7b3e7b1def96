"""Translations of the typed sentence by every model, computed once per sentence and shared by all visitors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.data.pieces import END
from attention_core.topics.translate.translation import (
    Candidate,
    Source,
    Translation,
    explain,
    explain_layers,
    next_pieces,
    read_source,
    translate,
    translation_of,
)
from attention_core.topics.translate.word_view import piece_probabilities, sentence_probability
from ui.models import COMPUTE, model_or_none

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


@dataclass(frozen=True)
class Said:
    """What a model said.

    Attributes:
        made: the French sentence.
        probabilities: of each of its pieces, forced ones included.
    """

    made: Translation
    probabilities: list[float]

    @property
    def probability(self) -> tuple[float, float]:
        """Of the whole sentence, and per word (geometric mean)."""
        return sentence_probability(self.probabilities, len(self.made.word_labels))


def why_missing(translator: str) -> str:
    """Return why a model cannot be loaded, or ""."""
    return model_or_none(f"translator-{translator}")[1]


def said(translator: str, text: str, forced: Sequence[int] = ()) -> Said | None:
    """Return what a model makes of a sentence, or None if the model cannot be loaded.

    Args:
        translator: one of TRANSLATORS.
        text: the English sentence; something in it can be read.
        forced: French pieces that it must begin with; END last ends it there.
    """
    return None if why_missing(translator) else _said(translator, text, tuple(forced))


def _model(translator: str) -> Any:
    return model_or_none(f"translator-{translator}")[0]


@st.cache_data(max_entries=500, show_spinner=False)
def _said(translator: str, text: str, forced: tuple[int, ...]) -> Said:
    model, source = _model(translator), read_source(text)
    with COMPUTE:
        ended = bool(forced) and forced[-1] == END
        made = translation_of(forced) if ended else translate(model, source, BEAM, forced)
        return Said(made, piece_probabilities(model, source, made.ids))


@st.cache_resource(max_entries=100, show_spinner=False)
def trace_of(translator: str, text: str, forced: tuple[int, ...], layer: int) -> AttentionTrace:
    """Return the attention of a model saying its translation; a transformer's is one layer's cross-attention."""
    model, source = _model(translator), read_source(text)
    made = _said(translator, text, forced).made
    with COMPUTE:
        if translator == "transformer":
            return explain_layers(model, source, made)["cross", layer]
        return explain(model, source, made)


@st.cache_data(max_entries=2000, show_spinner=False)
def candidates(translator: str, text: str, after: tuple[int, ...]) -> list[Candidate]:
    """Return the ten likeliest next pieces."""
    model, source = _model(translator), read_source(text)
    with COMPUTE:
        return next_pieces(model, source, after)


def cut_words(source: Source) -> list[tuple[str, list[str]]]:
    """Return the words that were cut into several pieces, with these."""
    parts: dict[int, list[str]] = {}
    for label, word in zip(source.labels[:-1], source.word_of[:-1], strict=True):
        parts.setdefault(word, []).append(label)
    return [(source.words[word], pieces) for word, pieces in parts.items() if len(pieces) > 1]
