"""What one model did with one input."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from torch import Tensor

from attention_core.pretrained.model import Kind
from attention_core.recording import Recording


@dataclass(frozen=True, eq=False)
class ModelRun:
    """Every attention of one run, its tokens and its output.

    Attributes:
        model: the model's name for people.
        kind: see Kind; None for a recording whose model nobody knows.
        recording: the traces in the order of execution, their axes labelled with tokens or patches.
        tokens: of the only or the encoder's input; for vision what stands before the patches, then the patches.
        target_tokens: of the decoder of an encoder-decoder.
        special: positions in tokens that are no words: [CLS], [SEP], the first token, what stands before patches.
        logits: (n_positions, n_outputs), over the vocabulary, or (1, n_classes) of a classifier; None without.
        hidden: (n_positions, d_model), what the last layer hands out; None for a recording from a file.
        patch_grid: rows and columns of patches, or None.
        n_prefix: tokens before the first patch.
        picture: uint8 (height, width, 3), what a vision model was shown, or None.
        notes: what a reader has to know, such as where the text was cut.
    """

    model: str
    kind: Kind | None
    recording: Recording
    tokens: tuple[str, ...]
    target_tokens: tuple[str, ...] = ()
    special: frozenset[int] = frozenset()
    logits: Tensor | None = field(default=None, repr=False)
    hidden: Tensor | None = field(default=None, repr=False)
    patch_grid: tuple[int, int] | None = None
    n_prefix: int = 0
    picture: np.ndarray | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()
