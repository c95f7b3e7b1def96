"""Scores -> mask -> softmax -> weighted sum, fused where torch has a kernel for it, in blocks everywhere else.

One code path serves training and explaining: `attend` returns the context, and on request the row normaliser that
makes every tile of the weights recomputable. A query that may attend to no key gets zeros.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from attention_core.attention.edits import BatchWeights, Edit, Edits, HeadEdit
from attention_core.attention.inside_torch import FUSED_ON_CPU
from attention_core.attention.scores import ScaledDot, Score, check_same_width
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
    _check_shapes(query, key, value)
    if batch_weights := next((edit for edit in edits if isinstance(edit, BatchWeights)), None):  # no other edit counts
        return AttentionOutput(batch_weights.weights @ value, weights=batch_weights.weights if with_weights else None)
    if not edits and has_softmax:
        return _attend_batch(query, key, value, score or ScaledDot(), mask, with_normaliser, with_weights)
    recomputes_rows = not has_softmax or any(not _fits_kernels(edit) and edit.target != "context" for edit in edits)
    n_items = len(query) if recomputes_rows else 1  # at least one, which checks the edits
    items = [
        AttentionScores(query=q, key=k, score=score or ScaledDot(), mask=m, has_softmax=has_softmax, edits=edits)
        for q, k, m in zip(query[:n_items], key, _masks_of_items(mask, len(query)), strict=False)
    ]
    if not has_softmax:
        output = AttentionOutput(torch.stack([*map(context_in_blocks, items, value)]))
    else:
        output = _attend_with_kernel_edits(query, key, value, items[0], mask, with_normaliser, with_weights)
        output = output if with_weights else output._replace(weights=None)  # some ways return them unasked
        for index, item in enumerate(items if recomputes_rows else []):
            _recompute_rows(output, index, item, value[index])
    if any(edit.target == "context" for edit in edits):
        for context in output.context:
            for head in range(len(context)):
                context[head] = items[0].edited_context(head, context[head])
    return output


def _attend_batch(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score: Score,
    mask: Tensor | None,
    with_normaliser: bool,
    with_weights: bool,
    multipliers: Tensor | None = None,  # of the scores of each head, (n_heads, 1, 1)
) -> AttentionOutput:
    """Attend by a fused kernel if one can do it, else with all scores in memory, or in blocks if nothing needs them."""
    scale = score.dot_factor(key.shape[-1])
    if scale is not None and not with_weights:
        check_same_width(query, key)
        query = query if multipliers is None else query * multipliers
        return _attend_fused(query, key, value, mask, scale, with_normaliser)
    if with_weights or multipliers is not None or len(query) > 1:
        return _attend_in_memory(query, key, value, score, mask, multipliers)
    attention = AttentionScores(query=query[0], key=key[0], score=score, mask=_masks_of_items(mask, 1)[0])
    return AttentionOutput(context_in_blocks(attention, value[0])[None])


def _attend_with_kernel_edits(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention: AttentionScores,
    mask: Tensor | None,
    with_normaliser: bool,
    with_weights: bool,
) -> AttentionOutput:
    """Attend with those edits that fit kernels: multipliers of a head's scores, keys hidden from all heads."""
    by_head = [attention.score_multiplier(head) for head in range(query.shape[1])]
    multipliers = query.new_tensor(by_head)[:, None, None] if any(multiplier != 1 for multiplier in by_head) else None
    blocked_keys = {position for edit in attention.edits if _fits_kernels(edit) for position in edit.blocked()}
    if blocked_keys:
        visible = torch.ones(key.shape[2], dtype=torch.bool, device=key.device)
        visible[list(blocked_keys)] = False
        if not with_weights and len(blocked_keys) < len(visible):  # no matrix of weights would miss the columns
            key, value = key[:, :, visible], value[:, :, visible]
            mask = mask[..., visible.to(mask.device)] if mask is not None and mask.shape[-1] > 1 else mask
        else:
            mask = visible if mask is None else mask & visible.to(mask.device)
            mask = mask[(None,) * (4 - mask.ndim)]  # kernels take no mask of keys alone
    return _attend_batch(query, key, value, attention.edited_score, mask, with_normaliser, with_weights, multipliers)


def _fits_kernels(edit: Edit) -> bool:
    """Return whether fused kernels can do it: they can multiply the scores of one head, but not hide keys from one."""
    hides_from_single_head = edit.blocked() and isinstance(edit, HeadEdit) and edit.head is not None
    return edit.is_fusable and not hides_from_single_head


def _recompute_rows(output: AttentionOutput, index: int, attention: AttentionScores, value: Tensor) -> None:
    """Recompute the rows that other edits change, in the item at this index; its value is (n_heads, n_keys, d_v)."""
    edits = [edit for edit in attention.ordered_edits if not _fits_kernels(edit)]
    for head in range(attention.n_heads):
        for rows, weights, normaliser in attention.weight_blocks(head, attention.changed_rows(head, edits)):
            output.context[index, head, rows] = (weights @ upcast_half(value[head])).to(value.dtype)
            if output.log_normaliser is not None:
                output.log_normaliser[index, head, rows] = normaliser.to(output.log_normaliser)
            if output.weights is not None:
                output.weights[index, head, rows] = weights.to(output.weights)


def _attend_in_memory(
    query: Tensor, key: Tensor, value: Tensor, score: Score, mask: Tensor | None, multipliers: Tensor | None
) -> AttentionOutput:
    """Attend with all scores of a batch in memory: for short sequences, as in training."""
    scores = score(query, key)
    weights = masked(scores if multipliers is None else scores * multipliers, mask).softmax(-1)
    if mask is not None:
        weights = weights.masked_fill(~mask.any(-1, keepdim=True), 0)
    return AttentionOutput(weights @ value, weights=weights)


def _attend_fused(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scale: float, with_normaliser: bool
) -> AttentionOutput:
    has_cpu_kernel = query.device.type == "cpu" and mask is None and query.shape[-1] == value.shape[-1]
    if with_normaliser and has_cpu_kernel:
        return AttentionOutput(*FUSED_ON_CPU(query, key, value, scale=scale))
    return AttentionOutput(F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=scale))


def context_in_blocks(attention: AttentionScores, value: Tensor) -> Tensor:
    """Return the context of one item, (n_heads, n_queries, d_v), for any scoring function and any edit before it.

    The value is (n_heads, n_keys, d_v). A query that sees no key gets zeros.
    """
    context = attention.query.new_empty(*attention.query.shape[:2], value.shape[-1])
    for head in range(attention.n_heads):
        for rows, weights, _ in attention.weight_blocks(head):
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


def _masks_of_items(mask: Tensor | None, n_items: int) -> list[Tensor | None]:
    """Return the mask of each item of the batch, without the batch's axis."""
    if mask is None or mask.ndim != 4:
        return [mask] * n_items
    return list(mask.expand(n_items, *mask.shape[1:]))


def _check_shapes(query: Tensor, key: Tensor, value: Tensor) -> None:
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        if tensor.ndim != 4:
            raise ValueError(f"{name} must be (batch, n_heads, n, d), got {tuple(tensor.shape)}")
    if query.shape[:2] != key.shape[:2] or key.shape[:3] != value.shape[:3]:
        raise ValueError(
            f"query {tuple(query.shape)}, key {tuple(key.shape)} and value {tuple(value.shape)} need the same batch "
            "and n_heads, key and value the same n_keys"
        )
