"""Scores -> mask -> softmax -> weighted sum, fused where torch has a kernel for it, in blocks everywhere else.

One code path serves training and explaining: `attend` returns the context, and on request the row normaliser that
makes every tile of the weights recomputable. A query that may attend to no key gets zeros.

Attention knows no order. Two codes for positions are below: sinusoidal, and rotary. Rotary positions rotate each pair
of a vector's numbers by an angle that grows with the position. The dot product of two rotated vectors depends on the
difference of their positions alone, so that attention can express "two pixels to the left". Source: Su et al. 2021,
"RoFormer", section 3.2; for pictures with two-dimensional waves.

2-simplicial attention: a query scores pairs of keys and receives pairs of values.
The score of query i with the pair (j, k) is trilinear, sum_h q_ih k'_jh k''_kh. Multiplying the two keys of a pair
first, (k'_j * k''_k) element by element, makes it a dot product of the query with one key per pair: the same
attention as everywhere else in the project, only over n x n keys: attend(query, pair_products(*keys),
pair_products(*values)), with a mask whose pairs lie in one row, too. Trace, steps and export come with it.

Source: Clift et al. 2019, "Logic and the 2-simplicial transformer"; the trilinear form, scaled by 1 / sqrt(d_k):
Roy et al. 2025, "Fast and simplex: 2-simplicial attention in Triton", section 3.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from attention_core.attention.edits import Edit, Edits, GivenWeights
from attention_core.attention.inside_torch import FUSED_ON_CPU
from attention_core.attention.scores import ScaledDot, Score, same_width
from attention_core.attention.trace import AttentionScores, AttentionTrace, at_least_float32, masked
from attention_core.attention.types import AttentionOutput, Axis


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    score: Score | None = None,
    mask: Tensor | None = None,
    edits: Edits = (),
    has_softmax: bool = True,
    with_normaliser: bool = False,
    with_weights: bool = False,
) -> AttentionOutput:
    """Let every query collect the values of the keys that score high.

    Args:
        query: (batch, n_heads, n_queries, d_q).
        key: (batch, n_heads, n_keys, d_k).
        value: (batch, n_heads, n_keys, d_v).
        score: scoring function; scaled dot product if None.
        mask: bool, broadcastable to (batch, n_heads, n_queries, n_keys); True = may attend.
        edits: what is changed, see attention_core.attention.edits, for every item of the batch.
        has_softmax: whether the weights are the softmax of the scores; else they are the scores themselves.
        with_normaliser: also return the log-sum-exp of the rows where it comes free of charge.
        with_weights: also return all weights, which needs memory for every pair.

    Returns:
        the context, exactly 0 for a query that sees no key, and perhaps the normaliser or the weights.

    Raises:
        EditError: an edit that cannot be done, a ValueError and an IndexError, with the reason.
        ValueError: shapes that do not fit, in the words of the shapes.

    Source: Vaswani et al. 2017, eq. 1; fused kernels: Dao 2023, "FlashAttention-2".
    """
    _check(query, key, value)
    if given := next((edit for edit in edits if isinstance(edit, GivenWeights)), None):
        return AttentionOutput(given.weights @ value, weights=given.weights if with_weights else None)
    if not edits and has_softmax:
        return _attend_unedited(query, key, value, score or ScaledDot(), mask, with_normaliser, with_weights)
    edits_rows = not has_softmax or any(not _is_for_kernels(edit) and edit.target != "context" for edit in edits)
    n_items = len(query) if edits_rows else 1  # the first item checks the edits, which AttentionScores does
    items = [
        AttentionScores(query=q, key=k, score=score or ScaledDot(), mask=m, has_softmax=has_softmax, edits=edits)
        for q, k, m in zip(query[:n_items], key, _masks(mask, len(query)), strict=False)
    ]
    if not has_softmax:
        contexts = [context_in_blocks(item, its_value) for item, its_value in zip(items, value, strict=True)]
        output = AttentionOutput(torch.stack(contexts))
    else:
        output = _attend_by_kernel(query, key, value, items[0], mask, with_normaliser, with_weights)
        output = output if with_weights else output._replace(weights=None)
        for number, (item, its_value) in enumerate(zip(items if edits_rows else [], value, strict=False)):
            _recompute_rows(output, number, item, its_value)
    for edit in (edit for edit in edits if edit.target == "context"):
        for context in output.context:
            for head in filter(edit.applies_to, range(len(context))):
                context[head] = edit.context(head, context[head])
    return output


def _attend_unedited(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score: Score,
    mask: Tensor | None,
    with_normaliser: bool,
    with_weights: bool,
    factors: Tensor | None = None,  # (n_heads, 1, 1), by which the scores of each head are multiplied
) -> AttentionOutput:
    factor = score.dot_factor(key.shape[-1])
    if factor is not None and not with_weights:
        same_width(query, key)
        return _fused(query if factors is None else query * factors, key, value, mask, factor, with_normaliser)
    if with_weights or factors is not None or len(query) > 1:
        return _attend_in_memory(query, key, value, score, mask, factors)
    attention = AttentionScores(query=query[0], key=key[0], score=score, mask=_masks(mask, 1)[0])
    return AttentionOutput(context_in_blocks(attention, value[0])[None])


def _attend_by_kernel(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention: AttentionScores,
    mask: Tensor | None,
    with_normaliser: bool,
    with_weights: bool,
) -> AttentionOutput:
    """Attend with those edits that kernels can compute: a factor for the scores of a head, keys hidden from all."""
    by_head = [attention.factor(head) for head in range(query.shape[1])]
    factors = query.new_tensor(by_head)[:, None, None] if any(factor != 1 for factor in by_head) else None
    blocked = {key for edit in attention.edits if _is_for_kernels(edit) for key in edit.blocked()}
    if blocked:
        visible = torch.ones(key.shape[2], dtype=torch.bool, device=key.device)
        visible[list(blocked)] = False
        if not with_weights and len(blocked) < len(visible):  # without weights nobody sees that keys are missing
            key, value = key[:, :, visible], value[:, :, visible]
            mask = mask[..., visible.to(mask.device)] if mask is not None and mask.shape[-1] > 1 else mask
        else:
            mask = visible if mask is None else mask & visible.to(mask.device)
            mask = mask.expand(*(1,) * (4 - mask.ndim), *mask.shape)
    return _attend_unedited(query, key, value, attention.edited_score, mask, with_normaliser, with_weights, factors)


def _is_for_kernels(edit: Edit) -> bool:
    """Return whether fused kernels can do it: they can multiply the scores of one head, but not hide keys from one."""
    return edit.is_fusable and (not edit.blocked() or getattr(edit, "head", None) is None)


def _recompute_rows(output: AttentionOutput, number: int, attention: AttentionScores, value: Tensor) -> None:
    """Recompute the rows of an item that the other edits change; its values are (n_heads, n_keys, d_v)."""
    edits = [edit for edit in attention.ordered_edits if not _is_for_kernels(edit)]
    for head in range(attention.n_heads):
        for rows, weights, normaliser in attention.row_blocks(head, attention.changed_rows(head, edits)):
            output.context[number, head, rows] = (weights @ at_least_float32(value[head])).to(value.dtype)
            if output.log_normaliser is not None:
                output.log_normaliser[number, head, rows] = normaliser.to(output.log_normaliser)
            if output.weights is not None:
                output.weights[number, head, rows] = weights.to(output.weights)


def _attend_in_memory(
    query: Tensor, key: Tensor, value: Tensor, score: Score, mask: Tensor | None, factors: Tensor | None
) -> AttentionOutput:
    """Attend in a batch of short sequences with all scores in memory, as models are trained."""
    scores = score(query, key)
    weights = masked(scores if factors is None else scores * factors, mask).softmax(-1)
    if mask is not None:
        weights = weights.masked_fill(~mask.any(-1, keepdim=True), 0)
    return AttentionOutput(weights @ value, weights=weights)


def _fused(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scale: float, with_normaliser: bool
) -> AttentionOutput:
    applies = query.device.type == "cpu" and mask is None and query.shape[-1] == value.shape[-1]
    if with_normaliser and applies:
        return AttentionOutput(*FUSED_ON_CPU(query, key, value, 0.0, False, scale=scale))
    return AttentionOutput(F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=scale))


def context_in_blocks(attention: AttentionScores, value: Tensor) -> Tensor:
    """Return the weighted sums of the values (n_heads, n_keys, d_v) for any scoring function and any edit of weights.

    A query that sees no key gets zeros.
    """
    context = attention.query.new_empty(*attention.query.shape[:2], value.shape[-1])
    for head in range(attention.n_heads):
        for rows, weights, _ in attention.row_blocks(head):
            context[head, rows] = weights @ value[head]
    return context


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


def sinusoidal(n: int, d: int) -> Tensor:
    """Return one vector per position, (n, d), d even: even dimensions are sines, odd ones cosines of ever slower waves.

    Source: Vaswani et al. 2017, section 3.5.
    """
    if d % 2:
        raise ValueError(f"d must be even, got {d}")
    angles = rotary_angles(n, d)
    return torch.stack((angles.sin(), angles.cos()), -1).flatten(1)


def rotary_angles(n: int, d: int) -> Tensor:
    """Return by how much each pair of numbers is rotated at each position, (n, d / 2) radians.

    Source: Su et al. 2021, "RoFormer", section 3.2.
    """
    frequencies = [math.exp(-math.log(10_000.0) * pair / d) for pair in range(0, d, 2)]
    return torch.arange(n)[:, None] * torch.tensor(frequencies)


def rotate(vectors: Tensor, angles: Tensor) -> Tensor:
    """Rotate pairs of numbers, i and i + d / 2 of vectors (..., n, d), by angles (n, d / 2) in radians."""
    first, second = vectors.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat((first * cos - second * sin, first * sin + second * cos), dim=-1)


def plane_waves(n: int, frequency: float) -> Tensor:
    """Return n waves that run in directions spread over half a circle, (n, 2) radians per pixel."""
    directions = (torch.arange(n) + 0.5) * math.pi / max(n, 1)
    return frequency * torch.stack((directions.cos(), directions.sin()), 1)


def cell_positions(side: int, full_side: int) -> Tensor:
    """Return where a picture's cells lie, (side * side, 2) rows and columns in full-size pixels from its middle."""
    line = (torch.arange(side) + 0.5) * (full_side / side) - full_side / 2
    return torch.stack(torch.meshgrid(line, line, indexing="ij"), -1).reshape(-1, 2)


MAX_PAIRS = 128 * 128  # pairs of keys that are laid out at once; more would need a kernel that goes tile by tile


def pair_products(first: Tensor, second: Tensor) -> Tensor:
    """Multiply every row of one matrix (..., n, d) with every row of another (..., m, d), element by element.

    The pair (j, k) is row j * m + k of the result, (..., n * m, d). A ValueError refuses other widths, or more pairs
    than MAX_PAIRS.
    """
    if first.shape[-1] != second.shape[-1]:
        raise ValueError(f"first and second need the same width, got {first.shape[-1]} and {second.shape[-1]}")
    n_pairs = first.shape[-2] * second.shape[-2]
    if n_pairs > MAX_PAIRS:
        raise ValueError(f"first and second make {n_pairs:,} pairs, at most {MAX_PAIRS:,} are laid out at once")
    return (first.unsqueeze(-2) * second.unsqueeze(-3)).flatten(-3, -2)


def pair_axis(axis: Axis) -> Axis:
    """Return the axis of all ordered pairs of positions; its grid is (n, n), so that charts draw a square."""
    labels = [f"({first}, {second})" for first in axis.labels for second in axis.labels]
    return Axis(f"pairs of {axis.name}", labels, (len(axis), len(axis)))


def pair_weights(trace: AttentionTrace, query: int) -> Tensor:
    """Return the slice of the n x n x n weights that belongs to one query: rows are j, columns k; it sums to 1."""
    return _square(trace, trace.weights(0, [query])[0])


def pair_scores(trace: AttentionTrace, query: int) -> Tensor:
    """Return one query's slice of the scores, (n_keys, n_keys); -inf where it may not attend."""
    return _square(trace, trace.masked_scores(0, [query])[0])


def _square(trace: AttentionTrace, row: Tensor) -> Tensor:
    if trace.story.key_axis.grid is None:
        raise ValueError(f"the keys of {trace.story.mechanism!r} are single {trace.story.key_axis.name}, not pairs")
    return row.view(trace.story.key_axis.grid)


def others(n: int, n_more: int = 0) -> Tensor:
    """Return the mask of queries that look at everyone but themselves, (n, n + n_more); n_more keys have no query."""
    return ~torch.eye(n, n + n_more, dtype=torch.bool)


def pairs_of_others(n: int, with_nobody: bool = False) -> Tensor:
    """Return the mask of a query that looks at pairs of two different others, bool (n, m, m) with m = n.

    With nobody, a further position at the end, m = n + 1, may be chosen only as the pair of itself with itself.
    """
    m = n + with_nobody
    single = others(n, int(with_nobody))
    pairs = single[:, :, None] & single[:, None, :] & ~torch.eye(m, dtype=torch.bool)
    if with_nobody:
        pairs[:, n, :] = pairs[:, :, n] = False
        pairs[:, n, n] = True
    return pairs
