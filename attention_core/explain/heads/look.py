"""What a head hands over, beside its plain weights: weight x |value|, and weights without the keys that only absorb.

A weight says how much of a value is taken, not how much arrives: a key with a tiny value can take nearly all the weight
and hand over next to nothing. Source: Kobayashi et al. 2020, "Attention is Not Only a Weight", who measure
|weight * f(key)| with the value and the head's part of the output projection in f. Here it is |weight * value| with the
head's value vectors as its context sums them, before the output projection, which a trace does not know.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from attention_core.attention.pairs import at_least_single
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import ALL, Rows
from attention_core.explain.heads.rows import knows_normaliser, whole_rows


@dataclass(frozen=True)
class HeadDisplay:
    """How the matrices of heads are shown.

    Attributes:
        times_value: weight x |value| in place of the weight.
        normalised: each row of weight x |value| is divided by its sum, so that rows can be compared as those of the
            weights; nothing without times_value.
        hidden: positions of keys whose columns are taken out, see without_sinks.
    """

    times_value: bool = False
    normalised: bool = False
    hidden: frozenset[int] = frozenset()

    @property
    def is_plain(self) -> bool:
        return not (self.times_value or self.hidden)


PLAIN = HeadDisplay()


class RescaledWeights(NamedTuple):
    """Weights without some of their keys."""

    weights: Tensor  # as large as before, the hidden columns 0
    empty: list[int]  # rows with nothing left, all 0; rows that had nothing before do not count


def has_values(trace: AttentionTrace) -> bool:
    """Return whether the values are known; a model that handed out its weights only gave none."""
    return trace.value.shape[-1] > 0


def handed_over(
    trace: AttentionTrace, head: int = 0, rows: Rows = ALL, cols: Rows = ALL, *, normalised: bool = False
) -> Tensor:
    """Return weight x |value|, the length of what each key adds to each query's context; a tile of it if asked.

    Normalised rows are divided by their sums over all keys; a row of zeros stays so. Needs a trace with values.
    """
    return matrix_for(trace, head, HeadDisplay(times_value=True, normalised=normalised), rows, cols)


def without_sinks(weights: Tensor, positions: frozenset[int]) -> RescaledWeights:
    """Hide columns of sink positions in whole rows (n_rows, n_keys), and rescale each to the sum that it had before.

    What the hidden keys took is shared out among the others in proportion to what they have, as if the softmax had
    never seen the hidden keys. That is no longer what the model computed. Positions beyond the end do not count.
    """
    columns = [position for position in sorted(positions) if position < weights.shape[1]]
    if not columns:
        return RescaledWeights(weights, [])
    before = weights.sum(1)
    left = weights.clone()
    left[:, columns] = 0
    after = left.sum(1)
    rescaled = left * (before / after.clamp_min(torch.finfo(after.dtype).tiny))[:, None]
    empty = (after <= 0) & (before > 0)
    return RescaledWeights(rescaled.masked_fill((after <= 0)[:, None], 0), torch.nonzero(empty).flatten().tolist())


def matrix_for(
    trace: AttentionTrace, head: int, look: HeadDisplay = PLAIN, rows: Rows = ALL, cols: Rows = ALL
) -> Tensor:
    """Return the matrix that is shown for a head, or a tile of it, (n_rows, n_cols); 0 where a query may not attend.

    Whole rows are computed where the look divides by row sums. Needs values where it shows weight x |value|.
    """
    if look.is_plain and knows_normaliser(trace):
        return trace.weights(head, rows, cols)
    return shown(trace, head, look, whole_rows(trace, head, rows).weights, rows).weights[:, cols]


def shown(trace: AttentionTrace, head: int, look: HeadDisplay, weights: Tensor, rows: Rows = ALL) -> RescaledWeights:
    """Return whole rows, trace.weights(head, rows), as the look shows them, and which have nothing left."""
    if look.times_value:
        weights = weights * value_lengths(trace, head)
        if look.normalised:
            weights = weights / weights.sum(1, keepdim=True).clamp_min(torch.finfo(weights.dtype).tiny)
    rescaled = without_sinks(weights, look.hidden)
    if not rescaled.empty:
        return rescaled
    queries = torch.arange(trace.n_queries, device=trace.query.device)[rows]
    return RescaledWeights(rescaled.weights, queries[rescaled.empty].tolist())


def value_lengths(trace: AttentionTrace, head: int = 0) -> Tensor:
    """Return |value|, the Euclidean length of the head's value of each key, (n_keys,); a ValueError without values."""
    if not has_values(trace):
        raise ValueError("trace has no values: the model handed out its weights only, so weight x |value| is unknown")
    return at_least_single(trace.value_of(head)).norm(dim=-1)
