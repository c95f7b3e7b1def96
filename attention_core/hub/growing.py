"""A trace that grows by a row at a time: queries are appended, keys and values too where they are the same positions.

A step that computes the newest token alone calls attention with one query and the keys that the model has kept. The
row belongs to the trace of the whole text; keys that a sliding window has forgotten meanwhile stay in the trace, and
its mask says that the newer rows cannot see them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis


class CannotGrowError(ValueError):
    """A step whose attention is no further row of the trace before it."""


@dataclass(frozen=True, eq=False)
class NewRow:
    """What one step adds to one attention: a query (n_heads, 1, d_q) over n_seen keys, the new one last.

    The key and value (n_key_heads, 1, d) of the new position are None for an attention to another sequence. Mask and
    bias are broadcastable to (n_heads, 1, n_seen), sinks and normaliser are (n_heads, 1).
    """

    query: Tensor
    key: Tensor | None
    value: Tensor | None
    n_seen: int
    mask: Tensor | None
    bias: Tensor | None
    sinks: Tensor | None
    normaliser: Tensor | None


def is_cross(trace: AttentionTrace) -> bool:
    """Return whether the keys are another sequence, which stays as it is while queries come."""
    return trace.story.name.partition(" ")[0].endswith(".cross")


def new_row(first: AttentionTrace, n_before: int, step: AttentionTrace) -> NewRow:
    """Return what a step adds after n_before rows to an attention whose trace at the beginning was `first`."""
    same_kind = (
        step.n_heads == first.n_heads
        and step.key.shape[::2] == first.key.shape[::2]
        and step.value.shape[::2] == first.value.shape[::2]
        and (step.sinks is None) == (first.sinks is None)
    )
    n_most = first.n_keys if is_cross(first) else n_before + 1
    n_least = first.n_keys if is_cross(first) else 1
    if step.n_queries != 1 or not same_kind or not n_least <= step.n_keys <= n_most:
        raise CannotGrowError(
            f"{first.story.name} of {n_before} rows was given {step.n_queries} queries and {step.n_keys} keys of "
            f"{step.n_heads} heads"
        )
    return NewRow(
        query=step.query,
        key=None if is_cross(first) else step.key[:, -1:].clone(),
        value=None if is_cross(first) else step.value[:, -1:].clone(),
        n_seen=step.n_keys,
        mask=step.mask,
        bias=step.bias,
        sinks=step.sinks,
        normaliser=None if first.normaliser is None else step.log_normaliser,
    )


def grown(
    first: AttentionTrace, rows: Sequence[NewRow], query_axis: Axis, key_axis: Axis | None = None
) -> AttentionTrace:
    """Return the trace of the whole text: the first one and every row that came; keys are the queries if not told."""
    key_axis = key_axis or query_axis
    if not rows:
        return first.retold(query_axis=query_axis, key_axis=key_axis)
    cross = is_cross(first)
    key, value = (
        getattr(first, name) if cross else torch.cat([getattr(first, name), *(getattr(row, name) for row in rows)], 1)
        for name in ("key", "value")
    )
    everything_seen = all(
        row.mask is None and row.n_seen == first.n_keys + place for place, row in enumerate(rows, start=1)
    )
    plain = not cross and everything_seen and first.mask is None and (first.is_causal or first.n_queries == 1)
    return replace(
        first,
        query=torch.cat([first.query, *(row.query for row in rows)], 1),
        key=key,
        value=value,
        story=replace(first.story, query_axis=query_axis, key_axis=key_axis),
        is_causal=plain,
        mask=None if plain else _pairs("mask", first, rows, key.shape[1]),
        bias=_pairs("bias", first, rows, key.shape[1]),
        sinks=_per_row(first, [row.sinks for row in rows], first.sinks),
        normaliser=_per_row(first, [row.normaliser for row in rows], first.normaliser),
    )


def _pairs(name: str, first: AttentionTrace, rows: Sequence[NewRow], n_keys: int) -> Tensor | None:
    """Return the "mask" or "bias" (n_heads or 1, n_queries, n_keys), or None where every pair is as any other."""
    is_mask = name == "mask"
    parts = [getattr(one, name) for one in (first, *rows)]
    known = [part for part in parts if part is not None]
    if not known and (is_cross(first) or not is_mask):
        return None
    n_heads = max((part.shape[0] for part in known if part.ndim == 3), default=1)
    dtype = torch.bool if is_mask else known[0].dtype
    whole = torch.zeros(n_heads, first.n_queries + len(rows), n_keys, dtype=dtype, device=first.query.device)
    block = whole[:, : first.n_queries, : first.n_keys]
    block[:] = is_mask if parts[0] is None else parts[0]
    if is_mask and first.is_causal:
        block &= torch.ones(block.shape[1:], dtype=torch.bool, device=whole.device).tril()
    for place, (row, part) in enumerate(zip(rows, parts[1:], strict=True)):
        end = n_keys if is_cross(first) else first.n_keys + place + 1
        seen = whole[:, first.n_queries + place, end - row.n_seen : end]
        seen[:] = is_mask if part is None else part[..., 0, :]
    return whole


def _per_row(first: AttentionTrace, of_rows: Sequence[Tensor | None], at_first: Tensor | None) -> Tensor | None:
    """Return (n_heads, n_queries) of what every row has one of, or None where they have none."""
    if at_first is None:
        return None
    parts = [at_first.expand(first.n_heads, first.n_queries)]
    return torch.cat([*parts, *(row.expand(first.n_heads, 1) for row in of_rows if row is not None)], 1)
