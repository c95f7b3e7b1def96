"""Heads switched off, positions left out: what the transformer then makes of the same sentence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attention_core.attention.interventions import Intervention
from attention_core.device import device_of
from attention_core.models.beam_search import DecoderState
from attention_core.models.transformer import KINDS, Edits, Transformer
from attention_core.topics.translate.translation import Source, Translation
from attention_core.topics.translate.word_view import piece_probabilities


class Head(NamedTuple):
    """One head of the transformer."""

    kind: str  # "encoder", "decoder" or "cross"
    layer: int  # from 0
    head: int  # from 0

    @property
    def label(self) -> str:
        """Its name for people, counted from 1."""
        return f"{self.kind}, layer {self.layer + 1}, head {self.head + 1}"


def switched_off(heads: Iterable[Head]) -> Edits:
    """Return the interventions that set the contexts of these heads to 0."""
    by_layer: dict[tuple[str, int], list[int]] = {}
    for kind, layer, head in heads:
        by_layer.setdefault((kind, layer), []).append(head)
    return {place: Intervention(ablated_heads=tuple(sorted(which))) for place, which in by_layer.items()}


@dataclass(frozen=True, eq=False)
class Edited:
    """A transformer with edits, for beam search and for everything else that a translator is asked."""

    model: Transformer  # the transformer; it is not changed
    edits: Edits = field(default_factory=dict)  # by (kind, layer)
    with_positions: bool = True  # False leaves the positions out of encoder and decoder

    def parameters(self) -> Iterator[nn.Parameter]:
        """Return the model's trained numbers."""
        return self.model.parameters()

    def begin(self, source: Tensor) -> DecoderState:
        """Read source sentences, int64 (batch, n_source)."""
        return self.model.begin(source, self.edits, with_positions=self.with_positions)

    def step(self, state: DecoderState, target: Tensor) -> tuple[Tensor, DecoderState]:
        """Return logits (n_rows, n, VOCABULARY_SIZE) after each of target pieces (n_rows, n), and the state then."""
        return self.model.step(state, target, self.edits, with_positions=self.with_positions)


@torch.inference_mode()
def head_worth(model: Transformer, source: Source, made: Translation) -> dict[str, Tensor]:
    """Return what the translation by the unedited model loses in log-probability when one head alone is switched off.

    Returns:
        for each kind (n_layers, n_heads), in nats; positive = the translation becomes less probable without the head.

    Source: Michel et al. 2019, "Are sixteen heads really better than one?"; Voita et al. 2019.
    """
    read = model.begin(source.ids[None].to(device_of(model)))
    before = _log_probability(Edited(model), source, made, read)
    worth = {}
    for kind in KINDS:
        lost = torch.zeros(model.config.n_layers, model.config.n_heads)
        for layer in range(model.config.n_layers):
            for head in range(model.config.n_heads):
                edits = switched_off([Head(kind, layer, head)])
                lost[layer, head] = before - _log_probability(
                    Edited(model, edits), source, made, None if kind == "encoder" else read
                )
        worth[kind] = lost
    return worth


def _log_probability(model: Edited, source: Source, made: Translation, read: DecoderState | None) -> float:
    return sum(math.log(max(probability, 1e-30)) for probability in piece_probabilities(model, source, made.ids, read))
