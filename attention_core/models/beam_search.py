"""From a translator's next-piece distributions to whole sentences: beam search, of which width one is greedy."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from attention_core.data.pieces import END, PAD, START, UNKNOWN

LENGTH_PENALTY = 0.8
"""Hypotheses compete by log-probability / length to this power; 0 favours short ones, 1 is the mean per piece."""
MOST_PIECES = 80


class CanTranslate(Protocol):
    """What decoding asks of a model."""

    def parameters(self) -> Iterator[nn.Parameter]:
        """Return the trained numbers."""
        ...

    def encode(self, source: Tensor) -> Any:
        """Read source sentences (batch, n_source); the result has a method repeat(n)."""
        ...

    def decode(self, encoding: Any, target: Tensor) -> tuple[Tensor, Any, Any]:
        """Return features (batch, n_target, d) first."""
        ...

    def logits(self, features: Tensor) -> Tensor:
        """Return (..., vocabulary)."""
        ...


class Hypothesis(NamedTuple):
    """One finished or cut-off translation.

    Attributes:
        ids: its pieces, END last if it finished.
        log_probability: natural log of the probability of all its pieces, a forced prefix not counted.
    """

    ids: list[int]
    log_probability: float

    @property
    def finished(self) -> bool:
        """Whether the model said that the sentence ends here."""
        return bool(self.ids) and self.ids[-1] == END


@torch.inference_mode()
def greedy(model: CanTranslate, source: Tensor, prefix: Sequence[int] = ()) -> Hypothesis:
    """Take the likeliest piece at every step; source int64 (n_source,)."""
    return beam_search(model, source[None], width=1, prefix=prefix)[0][0]


@torch.inference_mode()
def beam_search(
    model: CanTranslate,
    source: Tensor,
    width: int = 5,
    prefix: Sequence[int] = (),
    length_penalty: float = LENGTH_PENALTY,
) -> list[list[Hypothesis]]:
    """Keep the `width` likeliest beginnings at every step, for sentences (batch, n_source) of one length.

    A width of 1 is greedy search; every translation begins with the prefix.

    Returns:
        for each sentence its hypotheses, best first.

    Raises:
        ValueError: width below 1, or a prefix that is too long or already ends.

    Source: length normalisation, Wu et al. 2016, section 7, without their constant.
    """
    if width < 1:
        raise ValueError(f"width must be at least 1, got {width}")
    if len(prefix) >= MOST_PIECES or END in prefix:
        raise ValueError(f"prefix must be shorter than {MOST_PIECES} pieces and not end yet, got {len(prefix)} pieces")
    batch, n_source = source.shape
    most = min(MOST_PIECES, max(2 * n_source + 10, len(prefix) + 10))
    encoding = model.encode(source).repeat(width)
    tokens = torch.tensor([START, *prefix], device=source.device).expand(batch, width, -1)
    totals = torch.full((batch, width), -math.inf, device=source.device)
    totals[:, 0] = 0.0
    over = torch.zeros(batch, width, dtype=torch.bool, device=source.device)
    while tokens.shape[2] <= most and not over.all():
        features = model.decode(encoding, tokens.flatten(0, 1))[0][:, -1]
        gains = model.logits(features).log_softmax(-1).view(batch, width, -1)
        gains[..., [PAD, START, UNKNOWN]] = -math.inf
        gains = gains.masked_fill(over[..., None], -math.inf)
        gains[..., PAD] = torch.where(over, 0.0, -math.inf)  # a finished one goes on unchanged
        totals, flat = (totals[..., None] + gains).flatten(1).topk(width)
        row, piece = flat // gains.shape[2], flat % gains.shape[2]
        tokens = torch.cat((tokens.gather(1, row[..., None].expand(-1, -1, tokens.shape[2])), piece[..., None]), 2)
        over = over.gather(1, row) | (piece == END)
    return [
        _ranked(sentence, total, length_penalty)
        for sentence, total in zip(tokens[..., 1:].tolist(), totals.tolist(), strict=True)
    ]


def _ranked(rows: list[list[int]], totals: list[float], length_penalty: float) -> list[Hypothesis]:
    found = [
        Hypothesis([piece for piece in row if piece != PAD], total)
        for row, total in zip(rows, totals, strict=True)
        if total > -math.inf
    ]
    return sorted(found, key=lambda it: (it.finished, it.log_probability / len(it.ids) ** length_penalty), reverse=True)
