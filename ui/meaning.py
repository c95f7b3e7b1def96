"""Texts compared by their meaning: the sentence encoder, with its vectors cached for all visitors."""

from collections.abc import Sequence

import torch
from torch import Tensor

from attention_core.hub.catalogue import PACKAGE, find_local
from attention_core.hub.model import ModelError
from attention_core.inference.soft_lookup import Encoder, meaning, sentence_vectors
from ui.computed import cached_computation
from ui.model_runs import pretrained_of

TEXTS_PER_TURN = 16  # that are read before the next visitor computes


def meaning_encoder() -> Encoder:
    """Return the encoder by meaning, loaded once for everybody; ModelError = it is not here."""
    if find_local(PACKAGE) is None:
        raise ModelError(f"The sentence encoder MiniLM is not here. The Python package {PACKAGE} brings it.")
    return meaning(pretrained_of(PACKAGE), _encode)


def _encode(texts: Sequence[str]) -> Tensor:
    starts = range(0, len(texts), TEXTS_PER_TURN)
    return torch.cat([_vectors(tuple(texts[start : start + TEXTS_PER_TURN])) for start in starts])


@cached_computation(spinner="Reading the texts")
def _vectors(texts: tuple[str, ...]) -> Tensor:
    return sentence_vectors(pretrained_of(PACKAGE), texts)
