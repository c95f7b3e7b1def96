"""Keeps what one call of an attention was given, as a trace, in memory that does not grow with every pair.

Recorders hand over query, key, value and mask of one call; the first item of the batch is kept, as copies that later
changes in place cannot reach. A mask or bias that several calls share is kept once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from attention_core.attention.scores import ScaledDot
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Story

FORBIDS = -9000.0
"""A bias of this or less stands for a mask: models write -inf, the smallest number of a type, or -10,000."""


class Keeper:
    """Turns what one call was given into a trace, and keeps every shared mask and bias once."""

    def __init__(self) -> None:
        self._seen: dict[tuple[int, int], tuple[Tensor, Tensor | None, Tensor | None]] = {}

    def trace(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        *,
        mask: Tensor | None = None,
        bias: Tensor | None = None,
        scale: float | None = None,
        softcap: float | None = None,
        sinks: Tensor | None = None,
        is_causal: bool = False,
        dropout: float = 0.0,
        normaliser: Tensor | None = None,
        name: str = "",
        mechanism: str = "scaled dot product attention",
        note: str = "",
    ) -> AttentionTrace:
        """Return the trace of the first item of the batch; arguments are as in AttentionTrace and Story, but batched.

        The query is (batch, n_heads, n_queries, d_k), and with three dimensions the first one is shown as heads; key
        and value may have fewer heads. The mask is bool, True = may attend, or float, added to the scores as the bias
        is. Without a scale dot products are divided by sqrt(d_k). Sinks are (n_heads,) or (batch, n_heads, n_queries,
        1). The normaliser is that of the first item.
        """
        notes = [note, _batch_note(query)]
        first_query, first_key, first_value = (own_copy(first_item(given, 3)) for given in (query, key, value))
        n_heads = max(first_query.shape[0], first_key.shape[0])
        if first_query.shape[0] < n_heads:
            first_query = first_query.expand(n_heads, -1, -1)
        if first_key.shape[0] != first_value.shape[0]:  # one of them is broadcast over heads
            shared = max(first_key.shape[0], first_value.shape[0])
            first_key, first_value = (own.expand(shared, -1, -1) for own in (first_key, first_value))
        (allowed, added), (more_allowed, own_bias) = self._mask_and_bias(mask), self._mask_and_bias(bias)
        allowed = more_allowed if allowed is None else allowed if more_allowed is None else allowed & more_allowed
        notes += _not_finite({"query": first_query, "key": first_key, "value": first_value})
        return AttentionTrace(
            query=first_query,
            key=first_key,
            value=first_value,
            score=ScaledDot(scale, None if softcap is None else float(softcap)),
            mask=allowed,
            is_causal=is_causal,
            bias=added if own_bias is None else own_bias if added is None else added + own_bias,
            sinks=None if sinks is None else _first_sinks(sinks),
            dropout=dropout,
            normaliser=normaliser,
            story=Story(
                mechanism=mechanism,
                query_axis=Axis.numbered("queries", first_query.shape[1]),
                key_axis=Axis.numbered("keys", first_key.shape[1]),
                shows_vectors=True,
                name=name,
                note=" ".join(filter(None, notes)),
            ),
        )

    def _mask_and_bias(self, mask: Tensor | None) -> tuple[Tensor | None, Tensor | None]:
        """Return the first item's bool mask and float bias, either of them None where it would say nothing."""
        if mask is None:
            return None, None
        place = (id(mask), mask._version if not mask.is_inference() else 0)
        if place not in self._seen:
            first = first_item(mask, 3)
            parts = (own_copy(first), None) if first.dtype == torch.bool else split_bias(first)
            self._seen[place] = (mask, *parts)  # holding the mask keeps its id from being given to another
        return self._seen[place][1:]


def split_bias(bias: Tensor) -> tuple[Tensor | None, Tensor | None]:
    """Return what a float mask forbids, as a bool mask, and what it adds elsewhere; None where it does neither."""
    bias = own_copy(bias)
    allowed = bias > FORBIDS
    rest = torch.where(allowed, bias, 0)
    return None if allowed.all() else allowed, rest if rest.any() else None


def first_item(tensor: Tensor, n_dimensions: int) -> Tensor:
    """Return the first item of each leading dimension beyond the last n; a tensor of fewer gets dimensions of one."""
    if tensor.is_nested:
        tensor = tensor.unbind()[0]
    while tensor.ndim > n_dimensions:
        tensor = tensor[0]
    return tensor if tensor.ndim == n_dimensions else tensor[(None,) * (n_dimensions - tensor.ndim)]


def own_copy(tensor: Tensor) -> Tensor:
    """Return a copy that nobody else can change; dimensions that were only expanded stay so and cost nothing."""
    small = tensor.detach()
    for dimension, (size, stride) in enumerate(zip(tensor.shape, tensor.stride(), strict=True)):
        if stride == 0 and size > 1:
            small = small.narrow(dimension, 0, 1)
    return small.clone().expand(tensor.shape)


def from_weights(weights: Tensor, *, name: str, note: str, mechanism: str) -> AttentionTrace:
    """Return a trace of which only the weights are known: query, key and value have no columns.

    Its scores are the logarithms of the weights (n_heads, n_queries, n_keys), which a softmax turns into them again.
    """
    weights = own_copy(weights).float()
    n_heads, n_queries, n_keys = weights.shape
    mask = weights > 0
    empty = weights.new_zeros(n_heads, max(n_queries, n_keys), 0)
    return AttentionTrace(
        query=empty[:, :n_queries],
        key=empty[:, :n_keys],
        value=empty[:, :n_keys],
        score=ScaledDot(1.0),
        mask=None if mask.all() else mask,
        bias=torch.where(mask, weights, 1).log(),
        normaliser=torch.where(mask.any(-1), 0.0, -math.inf).to(weights.device),
        story=Story(
            mechanism=mechanism,
            query_axis=Axis.numbered("queries", n_queries),
            key_axis=Axis.numbered("keys", n_keys),
            name=name,
            note=note,
        ),
    )


def unique(names: Sequence[str]) -> list[str]:
    """Return the names with a number behind every repetition, such as "encoder.0.self (2)"."""
    counts = [names[: place + 1].count(name) for place, name in enumerate(names)]
    return [name if count == 1 else f"{name} ({count})" for name, count in zip(names, counts, strict=True)]


def _batch_note(query: Tensor) -> str:
    if query.is_nested or query.ndim > 3:
        items = query.size(0) if query.is_nested else math.prod(query.shape[:-3])
        return f"The first of {items} items of the batch." if items > 1 else ""
    return "The call had no dimension for heads: its first one is shown as heads." if query.ndim == 3 else ""


def all_finite(tensor: Tensor) -> bool:
    """Return whether no number is NaN or infinite."""
    return bool(tensor.sum().isfinite() or tensor.isfinite().all())  # the sum alone tells in nearly every case


def _not_finite(tensors: dict[str, Tensor]) -> list[str]:
    """Return where a tensor (n_heads, n, d) holds what is no finite number."""
    notes = []
    for name, tensor in tensors.items():
        if not all_finite(tensor):
            bad = (~tensor.isfinite()).nonzero()
            head, position, column = bad[0].tolist()
            what = "NaN" if tensor[head, position, column].isnan() else "infinity"
            notes.append(
                f"The {name} holds {what}: {len(bad)} numbers are not finite, the first in head {head} at position "
                f"{position}."
            )
    return notes


def _first_sinks(sinks: Tensor) -> Tensor:
    """Return (n_heads, n_queries or 1) from (n_heads,) or (batch, n_heads, n_queries, 1)."""
    flat = sinks[:, None] if sinks.ndim == 1 else first_item(sinks, 3)[..., 0]
    return own_copy(flat).float()
