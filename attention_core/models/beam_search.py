"""From a translator's next-piece distributions to whole sentences: beam search, of which width one is greedy."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from attention_core.data.pieces import END, PAD, START

LENGTH_PENALTY = 0.8
"""Hypotheses compete by log-probability / length to this power; 0 favours short ones, 1 is the mean per piece."""
MOST_PIECES = 80


class DecoderState(NamedTuple):
    """Where a decoder stands in saying translations: in rows, those of a sentence together, as many for each."""

    encoding: Any  # of the source sentences, which all rows of a sentence share
    said: Tensor  # (n_rows, ...), what the decoder keeps of the pieces so far
    # None, or how many of a piece's likeliest followers must have float32 logits; those of all others may then be
    # nearly right, where that is quicker
    n_sure: int | None = None

    def select(self, rows: Tensor) -> DecoderState:
        """Return the state in which these rows, int64 (n_rows,), go on: some perhaps several times, others never."""
        return self._replace(said=self.said[rows])


class CanTranslate(Protocol):
    """What decoding asks of a model."""

    def parameters(self) -> Iterator[nn.Parameter]: ...

    def begin(self, source: Tensor) -> DecoderState:
        """Read source sentences (batch, n_source); return the state before the start piece, a row for each."""
        ...

    def step(self, state: DecoderState, target: Tensor) -> tuple[Tensor, DecoderState]:
        """Go on by target pieces (n_rows, n); return logits (n_rows, n, vocabulary) and the state after them."""
        ...


class Hypothesis(NamedTuple):
    """One finished or cut-off translation."""

    ids: list[int]  # its pieces, END last if it finished
    log_probability: float  # natural log of the probability of all its pieces, a forced prefix not counted
    logs: list[float]  # natural log of the probability of each piece, given those before it, a forced prefix too

    @property
    def finished(self) -> bool:
        return bool(self.ids) and self.ids[-1] == END


@torch.inference_mode()
def beam_search(
    model: CanTranslate,
    source: Tensor,
    width: int = 5,
    prefix: Sequence[int] = (),
    length_penalty: float = LENGTH_PENALTY,
) -> list[list[Hypothesis]]:
    """Keep the `width` likeliest beginnings at every step, for sentences (batch, n_source) of one length.

    A width of 1 is greedy search; every translation begins with the prefix, too long or ended ones are ValueErrors.
    Returns each sentence's hypotheses, best first.

    Source: length normalisation, Wu et al. 2016, section 7, without their constant.
    """
    if width < 1:
        raise ValueError(f"width must be at least 1, got {width}")
    if len(prefix) >= MOST_PIECES or END in prefix:
        raise ValueError(f"prefix must be shorter than {MOST_PIECES} pieces and not end yet, got {len(prefix)} pieces")
    batch, n_source = source.shape
    most = min(MOST_PIECES, max(2 * n_source + 10, len(prefix) + 10))
    state, sentences = model.begin(source), torch.arange(batch, device=source.device)[:, None]
    tokens = torch.tensor([START, *prefix], device=source.device).expand(batch, 1, -1)
    totals = torch.zeros(batch, 1, device=source.device)  # one beginning each, until there are pieces to choose from
    over, fed, told = totals > 0, tokens[:, 0], totals[:, :, None][..., :0]
    while tokens.shape[2] <= most and not over.all():
        logits, state = model.step(state, fed)
        logs = logits.log_softmax(-1)
        if fed.shape[1] > 1:  # the prefix
            told = logs[:, :-1].gather(2, fed[:, 1:, None]).transpose(1, 2)
        logs[:, -1, :END] = -math.inf  # neither padding, the unknown nor the start is ever said
        gains, pieces = (best.view(*over.shape, -1) for best in logs[:, -1].topk(width))
        gains.masked_fill_(over[..., None], -math.inf)
        gains[..., 0].masked_fill_(over, 0.0)  # a finished one goes on unchanged
        pieces.masked_fill_(over[..., None], PAD)
        totals, flat = (totals[..., None] + gains).flatten(1).topk(width)
        row, piece = flat // width, pieces.flatten(1).gather(1, flat)
        state, fed = state.select((row + sentences * over.shape[1]).flatten()), piece.view(-1, 1)
        state = state._replace(n_sure=2 * width)
        tokens = _longer(tokens, row, piece)
        told = _longer(told, row, gains.flatten(1).gather(1, flat))
        over = over.gather(1, row) | (piece == END)
    return [
        _ranked(*sentence, length_penalty)
        for sentence in zip(tokens[..., 1:].tolist(), totals.tolist(), told.tolist(), strict=True)
    ]


def _longer(known: Tensor, row: Tensor, last: Tensor) -> Tensor:
    """Return what is known of beginnings (batch, n_rows, n), those rows go on, with the last entry of each."""
    return torch.cat((known.gather(1, row[..., None].expand(-1, -1, known.shape[2])), last[..., None]), 2)


def _ranked(
    rows: list[list[int]], totals: list[float], told: list[list[float]], length_penalty: float
) -> list[Hypothesis]:
    found = [
        Hypothesis(ids, total, logs[: len(ids)])
        for ids, total, logs in zip(([one for one in row if one != PAD] for row in rows), totals, told, strict=True)
        if total > -math.inf
    ]
    return sorted(found, key=lambda it: (it.finished, it.log_probability / len(it.ids) ** length_penalty), reverse=True)
