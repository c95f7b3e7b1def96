"""Scores -> mask -> softmax -> weighted sum, fused where torch has a kernel for it, in blocks everywhere else.

One code path serves training and explaining: `attend` returns the context, and on request the row normaliser that
makes every tile of the weights recomputable. A query that may attend to no key gets zeros.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple, cast

import torch
import torch.nn.functional as F
from torch import Tensor

from attention_core.attention.interventions import NO_INTERVENTION, Intervention
from attention_core.attention.score import Score
from attention_core.attention.scores import ScaledDot, same_width
from attention_core.attention.types import Rows

ROWS_AT_ONCE = 256
"""Queries in one block of the streaming passes: memory stays O(n), a block of 784 keys fits the cache."""


class Attended(NamedTuple):
    """What attention returns.

    Attributes:
        context: (batch, n_heads, n_queries, d_v).
        log_normaliser: (batch, n_heads, n_queries), natural log of the sum of exponentials of each row, if the
            kernel gave it on the way; None = compute it in blocks when it is needed.
        weights: (batch, n_heads, n_queries, n_keys) if they were asked for.
    """

    context: Tensor
    log_normaliser: Tensor | None = None
    weights: Tensor | None = None


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    score: Score | None = None,
    mask: Tensor | None = None,
    intervention: Intervention = NO_INTERVENTION,
    with_normaliser: bool = False,
    with_weights: bool = False,
) -> Attended:
    """Let every query collect the values of the keys that score high.

    Args:
        query: (batch, n_heads, n_queries, d_q).
        key: (batch, n_heads, n_keys, d_k).
        value: (batch, n_heads, n_keys, d_v).
        score: scoring function; scaled dot product if None.
        mask: bool, broadcastable to (batch, n_heads, n_queries, n_keys); True = may attend.
        intervention: edits of scores, keys and heads.
        with_normaliser: also return the log-sum-exp of the rows where it comes free of charge.
        with_weights: also return all weights, which needs memory for every pair; not together with edited scores.

    Returns:
        the context, exactly 0 for a query that sees no key, and perhaps the normaliser or the weights.

    Raises:
        ValueError: shapes that do not fit, in the words of the shapes; weights asked for and scores edited.

    Source: Vaswani et al. 2017, eq. 1; fused kernels: Dao 2023, "FlashAttention-2".
    """
    _check(query, key, value)
    scoring: Score = score or ScaledDot()
    factor = scoring.dot_factor(key.shape[-1])
    plain = not (intervention.blocked_keys or intervention.score_edits)
    if with_weights:
        if intervention.score_edits:
            raise ValueError("with_weights cannot be had with edited scores; take them from the trace")
        n_heads, n_queries, n_keys = *query.shape[1:3], key.shape[2]
        if intervention.blocked_keys:
            mask = torch.stack(
                [cast(Tensor, intervention.full_mask(m, n_heads, n_queries, n_keys)) for m in _masks(mask, len(query))]
            ).to(query.device)
        attended = _at_once(query, key, value, scoring, mask, intervention.scale)
    elif factor is not None and plain:
        same_width(query, key)
        attended = _fused(query, key, value, mask, factor * intervention.scale, with_normaliser)
    elif plain and len(query) > 1:
        attended = _at_once(query, key, value, scoring, mask, intervention.scale)
    else:
        items = zip(query, key, value, _masks(mask, len(query)), strict=True)
        attended = Attended(torch.stack([context_in_blocks(q, k, v, scoring, m, intervention) for q, k, v, m in items]))
    if intervention.ablated_heads or intervention.ablated_by_row:
        is_on = torch.ones(query.shape[:2], dtype=query.dtype, device=query.device)
        is_on[:, list(intervention.ablated_heads)] = 0
        for place in intervention.ablated_by_row:
            is_on[place] = 0
        attended = attended._replace(context=attended.context * is_on[..., None, None])
    return attended


def _at_once(query: Tensor, key: Tensor, value: Tensor, score: Score, mask: Tensor | None, scale: float) -> Attended:
    """Attend in a batch of short sequences, with all scores in memory: the way models are trained."""
    weights = masked(score(query, key) * scale, mask).softmax(-1)
    if mask is not None:
        weights = weights.masked_fill(~mask.any(-1, keepdim=True), 0)
    return Attended(weights @ value, weights=weights)


def _fused(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scale: float, with_normaliser: bool
) -> Attended:
    # torch's own fused CPU kernel also hands out the log-sum-exp, where it applies.
    kernel = getattr(torch.ops.aten, "_scaled_dot_product_flash_attention_for_cpu", None)
    applies = query.device.type == "cpu" and mask is None and query.shape[-1] == value.shape[-1]
    if with_normaliser and kernel is not None and applies:
        return Attended(*kernel(query, key, value, 0.0, False, scale=scale))
    return Attended(F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=scale))


def spans(start: int, stop: int, size: int) -> Iterator[slice]:
    """Yield the slices of a range, each of a size but for the last, which may be shorter."""
    for left in range(start, stop, size):
        yield slice(left, min(left + size, stop))


def masked(scores: Tensor, allowed: Tensor | None) -> Tensor:
    """Return scores with minus infinity where a query may not attend; a mask of None forbids nothing."""
    return scores if allowed is None else scores.masked_fill(~allowed, -math.inf)


def at_least_single(tensor: Tensor) -> Tensor:
    """Return half and bfloat16 numbers as float32, in which scores are computed; others as they are."""
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor


def score_tile(
    query: Tensor,
    key: Tensor,
    score: Score,
    intervention: Intervention,
    head: int,
    rows: Rows,
    cols: Rows,
    bias: Tensor | None = None,
    dtype: torch.dtype | None = None,
) -> Tensor:
    """Return the edited scores of a tile, (n_rows, n_cols), from (n_heads, n, d) query and key.

    The key may have a divisor of n_heads: neighbouring heads share a key head. The bias, broadcastable to (n_heads,
    n_queries, n_keys), is added before the edits. Without a dtype scores have that of the query, at least float32.
    """
    key_head = head // (query.shape[0] // key.shape[0])
    some_queries = at_least_single(query[head, rows])
    tile = score.tile(some_queries if dtype is None else some_queries.to(dtype), key[key_head], cols)
    if bias is not None:
        full = bias.expand(query.shape[0], query.shape[1], key.shape[1])
        tile = tile + full[head][rows][:, cols].to(tile.dtype)
    if intervention.scale != 1:
        tile = tile * intervention.scale
    if intervention.score_edits:
        tile = _with_edits(tile, intervention, head, (query.shape[1], key.shape[1]), rows, cols)
    return tile


def _with_edits(
    tile: Tensor, intervention: Intervention, head: int, shape: tuple[int, int], rows: Rows, cols: Rows
) -> Tensor:
    tile = tile.clone()
    row_of, col_of = (
        {position: place for place, position in enumerate(torch.arange(n, device=tile.device)[some].tolist())}
        for n, some in zip(shape, (rows, cols), strict=True)
    )
    for edited_head, query, key, value in intervention.score_edits:
        if edited_head == head and query in row_of and key in col_of:
            tile[row_of[query], col_of[key]] = value
    return tile


def context_in_blocks(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score: Score,
    mask: Tensor | None,
    intervention: Intervention = NO_INTERVENTION,
) -> Tensor:
    """Return the weighted sums of the values, (n_heads, n_queries, d_v), for any scoring function and any edit."""
    merged = query.new_empty(*query.shape[:2], value.shape[-1])
    full = intervention.full_mask(mask, query.shape[0], query.shape[1], key.shape[1])
    for head in range(query.shape[0]):
        allowed = None if full is None else full[min(head, full.shape[0] - 1)]
        for rows in spans(0, query.shape[1], ROWS_AT_ONCE):
            tile = score_tile(query, key, score, intervention, head, rows, slice(None))
            scores = masked(tile, None if allowed is None else allowed[rows].to(tile.device))
            # A row of nothing but -inf has no softmax; it gets the zeros that it stands for.
            weights = scores.softmax(-1).masked_fill((scores == -math.inf).all(-1, keepdim=True), 0)
            merged[head, rows] = weights @ value[head]
    if intervention.ablated_heads:
        merged[list(intervention.ablated_heads)] = 0
    return merged


def split_heads(merged: Tensor, n_heads: int) -> Tensor:
    """Return (batch, n_heads, n, d) from (batch, n, n_heads * d)."""
    batch, n, width = merged.shape
    if width % n_heads:
        raise ValueError(f"a width of {width} cannot be split into {n_heads} heads")
    return merged.view(batch, n, n_heads, width // n_heads).transpose(1, 2)


def merge_heads(split: Tensor) -> Tensor:
    """Return (batch, n, n_heads * d) from (batch, n_heads, n, d)."""
    return split.transpose(1, 2).flatten(2)


def _masks(mask: Tensor | None, batch: int) -> list[Tensor | None]:
    if mask is None:
        return [None] * batch
    return list(mask.expand(batch, *mask.shape[1:])) if mask.ndim == 4 else [mask] * batch


def _check(query: Tensor, key: Tensor, value: Tensor) -> None:
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        if tensor.ndim != 4:
            raise ValueError(f"{name} must be (batch, n_heads, n, d), got {tuple(tensor.shape)}")
    if query.shape[:2] != key.shape[:2] or key.shape[:3] != value.shape[:3]:
        raise ValueError(
            f"query {tuple(query.shape)}, key {tuple(key.shape)} and value {tuple(value.shape)} need the same batch "
            "and n_heads, key and value the same n_keys"
        )
