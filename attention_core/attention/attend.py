"""Scores -> mask -> softmax -> weighted sum, fused where torch has a kernel for it, in blocks everywhere else.

One code path serves training and explaining: `attend` returns the context, and on request the row normaliser that
makes every tile of the weights recomputable. A query that may attend to no key gets zeros.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from attention_core.attention.edits import BatchWeights, Edit, Edits, HeadEdit
from attention_core.attention.inside_torch import FUSED_ON_CPU
from attention_core.attention.scores import ScaledDot, Score, same_width
from attention_core.attention.trace import AttentionScores, masked, upcast_half
from attention_core.attention.types import AttentionOutput


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
        ValueError: shapes that do not fit, or an edit that cannot be done (EditError), in words.

    Source: Vaswani et al. 2017, eq. 1; fused kernels: Dao 2023, "FlashAttention-2".
    """
    _check(query, key, value)
    if batch_weights := next((edit for edit in edits if isinstance(edit, BatchWeights)), None):
        return AttentionOutput(batch_weights.weights @ value, weights=batch_weights.weights if with_weights else None)
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
    if any(edit.target == "context" for edit in edits):
        for context in output.context:
            for head in range(len(context)):
                context[head] = items[0].edited_context(head, context[head])
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
    by_head = [attention.score_multiplier(head) for head in range(query.shape[1])]
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
    is_head_bound = isinstance(edit, HeadEdit) and edit.head is not None
    return edit.is_fusable and not (edit.blocked() and is_head_bound)


def _recompute_rows(output: AttentionOutput, number: int, attention: AttentionScores, value: Tensor) -> None:
    """Recompute the rows of an item that the other edits change; its values are (n_heads, n_keys, d_v)."""
    edits = [edit for edit in attention.ordered_edits if not _is_for_kernels(edit)]
    for head in range(attention.n_heads):
        for rows, weights, normaliser in attention.row_blocks(head, attention.changed_rows(head, edits)):
            output.context[number, head, rows] = (weights @ upcast_half(value[head])).to(value.dtype)
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
