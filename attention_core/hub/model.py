"""A loaded model with what it takes to feed it."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformers import PreTrainedModel


class ModelKind(StrEnum):
    """What a model takes and what it is for."""

    ENCODER = "encoder"
    DECODER = "decoder"
    ENCODER_DECODER = "encoder-decoder"
    VISION = "vision"


class ModelError(ValueError):
    """A model that cannot be had or used; the message is for people."""


def first_line(error: BaseException) -> str:
    """Return what an error of a library says, short enough to stand in a sentence."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]


@dataclass(frozen=True, eq=False)
class Pretrained:
    """A model in evaluation mode and in float32, ready for an input; n_bytes of weights on disk.

    Attributes:
        name: what was asked for: a hub id, a folder, a package.
        tokenizer: text to token numbers; None for vision.
        processor: picture to pixel values; None for text.
        most_tokens: positions that the model knows; None = no bound of its own.
    """

    name: str
    kind: ModelKind
    model: PreTrainedModel = field(repr=False)
    tokenizer: Any = field(default=None, repr=False)
    processor: Any = field(default=None, repr=False)
    most_tokens: int | None = None
    n_bytes: int = 0

    def fewer_logits(self, n_positions: int, most: int) -> dict[str, int]:
        """Return what the model is called with to spare logits of early positions beyond so many numbers in all."""
        vocabulary = getattr(self.model.config.get_text_config(), "vocab_size", 0) or 0
        takes = "logits_to_keep" in inspect.signature(self.model.forward).parameters
        return {"logits_to_keep": max(1, most // vocabulary)} if takes and n_positions * vocabulary > most else {}
