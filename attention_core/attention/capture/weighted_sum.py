"""Traces of written-out attention, a product of weights and values, and of flex_attention; each is checked.

They have queries and keys where the origin of the scores is known. flex_attention runs as it is written, uncompiled.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from attention_core.attention.capture import provenance
from attention_core.attention.capture.layout import Order, with_note
from attention_core.attention.capture.trace_builder import (
    NO_HEADS,
    BatchSlice,
    SplitMask,
    TraceBuilder,
    from_weights,
    precision_note,
    split_large_negative,
    split_mask,
    split_minus_infinity,
)
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Rows

FEW = 1 << 16
"""Weights up to which all of them are compared; of more, those of two queries in the first and the last head."""


def allowance_of(*tensors: Tensor) -> float:
    """Return by how much weights may differ that were computed from numbers of these types."""
    return 0.02 if any(tensor.dtype in (torch.float16, torch.bfloat16) for tensor in tensors) else 1e-5


def agrees(trace: AttentionTrace, weights: Tensor, context: Tensor | None = None, dropout: float = 0.0) -> bool:
    """Return whether a trace has these weights (n_heads, n_queries, n_keys), and with them this context.

    Weights that were dropped are 0 and count for nothing, the others were divided by 1 - dropout.
    """
    if tuple(weights.shape) != (trace.n_heads, trace.n_queries, trace.n_keys):
        return False
    rows: Rows = slice(None)
    heads: Iterable[int] = range(trace.n_heads)
    if weights.numel() > FEW:
        half = trace.n_queries // 2
        rows, heads = slice(half, trace.n_queries, max(trace.n_queries - 1 - half, 1)), {0, trace.n_heads - 1}
    allowance = allowance_of(trace.query, trace.key, weights)
    for head in heads:
        computed, recorded = trace.masked_scores(head, rows).softmax(-1), weights[head, rows].float()
        if dropout:
            computed, recorded = computed.where(recorded != 0, 0), recorded * (1 - dropout)
        if not torch.allclose(computed, recorded.to(computed), rtol=0, atol=allowance, equal_nan=True):
            return False
        if context is not None:
            value = trace.value_of(head)
            sums, recorded_context = computed.to(value) @ value, context[head, rows].to(value)
            size = float(value.abs().max().nan_to_num(1).clamp_min(1))
            if not torch.allclose(sums, recorded_context, rtol=0, atol=10 * allowance * size, equal_nan=True):
                return False
    return True


def _distance(trace: AttentionTrace, weights: Tensor) -> float:
    """Return how far the weights of a trace are from these (n_heads, n_queries, n_keys), by some rows of many."""
    rows = slice(None, None, -(-weights.numel() // (16 * FEW)))
    return max(float((trace.weights(head, rows) - recorded[rows]).abs().max()) for head, recorded in enumerate(weights))


def agrees_in_context(trace: AttentionTrace, context: Tensor) -> bool:
    """Return whether a trace gives this context (n_heads, n_queries, d_v)."""
    allowance = 10 * allowance_of(trace.value) * float(trace.value.abs().max().clamp_min(1))
    computed = torch.stack([trace.context(head) for head in range(trace.n_heads)])
    return torch.allclose(computed, context.to(computed), rtol=0, atol=allowance, equal_nan=True)


MECHANISM = "written-out attention"
SCORES_UNKNOWN = (
    "Its scores come from no plain product of queries and keys: these are its weights, with their logarithms."
)
CHANGED = "The model changed its weights after the softmax: these are the weights that met the values."
MIXED = (
    "The model mixed its weights after the softmax, such as those of talking heads: these are the weights before, and "
    "the model's own context is not their sum of the values."
)
SIGNED = "Some weights are negative: they are shown as they are, with no softmax."
OPTIONS = "Its softmax is over numbers that a layer puts out for each query, not over scores of queries and keys."
OVER_QUERIES = "Its softmax runs over the queries: each key shares itself out among them, and a row need not sum to 1."
OVER_OTHERS = "Its softmax runs over axis {} of {}, not over the keys, axis {}: a row need not sum to 1."
PARTIAL = "One softmax runs over these keys and others: these rows sum to {:.2f} to {:.2f}."


@dataclass(frozen=True, eq=False)
class WeightedSum:
    steps: list[provenance.ElementwiseStep]  # from the weights to the left factor, the last one first
    softmax: provenance.Softmax  # how the weights were made
    left: Tensor  # the factor of the weights, (n, rows, m), or the weights before they were mixed
    right: Tensor  # the factor of the values, (n, m, d)
    out: Tensor  # the product, (n, rows, d)
    is_mixed: bool = False  # whether the weights were mixed before they met the values
    axis_note: str = ""  # where the softmax runs over another axis than the keys

    @cached_property
    def layout(self) -> provenance.WeighedLayout | None:
        """Where all is; None where this is no product of weights and values."""
        return provenance.WeighedLayout.of(self.steps, self.softmax, self.left, self.right, self.out)

    def over_its_axis(self) -> WeightedSum:
        """Return the same product with the axis over which it sums as that of the keys, and a note that tells it."""
        _, dimensions = provenance.summed_dimensions(self.steps, self.softmax, self.left)
        keys, shape = dimensions[0][0] if list(map(len, dimensions)) == [1] else -1, self.softmax.layout.shape
        over_queries = {keys, self.softmax.dimension} == {len(shape) - 2, len(shape) - 1}
        if keys == self.softmax.dimension or not (over_queries or keys == len(shape) - 1):  # as where heads are mixed
            return self
        note = OVER_QUERIES if over_queries else OVER_OTHERS.format(self.softmax.dimension, tuple(shape), keys)
        return replace(self, softmax=replace(self.softmax, dimension=keys, scores=None), axis_note=note)

    @property
    def is_folded(self) -> bool:
        return len(self.softmax.layout.shape) < 4

    def traces(self, order: Order, builder: TraceBuilder, n_items: int, is_settled: bool) -> list[AttentionTrace]:
        """Return the traces of the slices of the batch that are recorded; n_items is the batch of the whole run."""
        has_heads_only = not order.items and any(sub_axis.n > 1 for sub_axis in order.sub_axes)
        note = NO_HEADS if self.is_folded and not is_settled and has_heads_only else ""
        return [self._trace(order, batch_slice, note, builder) for batch_slice in builder.slices(order, n_items)]

    def _trace(self, order: Order, batch_slice: BatchSlice, note: str, builder: TraceBuilder) -> AttentionTrace:
        """Return the trace of one slice, checked against weights and product; a ValueError where it cannot be right."""
        assert self.layout is not None
        layout = self.layout.item_layout(order, batch_slice.number)
        weights, value, context = layout.weights.of(self.left), layout.value.of(self.right), layout.context.of(self.out)
        dropout = next((float(step.scalar) for step in self.steps if step.operation == "dropout"), 0.0)
        dropped = f"Dropout of {dropout:g} was on; these are the weights before it." if dropout else ""
        notes, names = [batch_slice.note, note, dropped], {"name": batch_slice.name, "mechanism": MECHANISM}
        scores_block = None if self.is_mixed else layout.scores
        plain = provenance.score_inputs(self.softmax.scores, scores_block) if scores_block else None
        if plain is not None:
            trace = _plain(plain, value, builder, dropout=dropout, notes=notes, **names)
            if agrees(trace, weights, None if dropout else context, dropout):
                apart = _distance(trace, weights) if precision_note(weights.dtype) and not dropout else None
                return with_note(trace, precision_note(weights.dtype, apart))
        changed = any(step.operation == "changed" for step in self.steps)
        is_partial = weights.shape[-1] < self.softmax.layout.shape[self.softmax.dimension]
        partial = PARTIAL.format(*map(float, weights.sum(-1).aminmax())) if is_partial else SCORES_UNKNOWN
        notes.append(MIXED if self.is_mixed else CHANGED if changed else self.axis_note or partial)
        notes += [self.axis_note] if changed and self.axis_note else []
        if dropout:
            notes.append("Those that were dropped are 0.")
            weights = weights * (1 - dropout)
        if bool(weights.isnan().any()):
            raise ValueError("its weights are not a number")
        if self.softmax.is_over_options:
            notes.append(OPTIONS)
        if bool((weights < 0).any()):
            notes.append(SIGNED)
        return from_weights(weights, note=" ".join(filter(None, notes)), value=value, **names)


def _plain(plain: provenance.ScoreInputs, value: Tensor, builder: TraceBuilder, **options: Any) -> AttentionTrace:
    masks = []
    if plain.bias is not None:
        masks.append(builder.shared(plain.bias, split_mask))
    if plain.hidden is not None:
        split = split_minus_infinity if plain.is_minus_infinity else split_large_negative
        masks.append(builder.shared(plain.hidden, split))
    options |= {"scale": plain.scale, "softcap": plain.softcap}
    return builder.build(plain.query, plain.key, value, masks=masks, **options)


FLEX = "flex_attention"
FLEX_MECHANISM = "flex attention"
FLEX_CHANGED = "Its score_mod does more than add to the scores: these are its weights, with their logarithms."


def flex_trace(
    builder: TraceBuilder,
    batch_slice: BatchSlice,
    context: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Any,
    block_mask: tuple[Any, ...],
    scale: float,
    kernel_options: Any,
    score_mod_other_buffers: tuple[Any, ...] = (),
    mask_mod_other_buffers: tuple[Any, ...] = (),
) -> AttentionTrace:
    """Return the trace of one slice of the batch; arguments are those of the operation, which gave this context.

    What score_mod adds becomes the bias. Where it does more, weights and values are kept. A ValueError says that the
    trace would not be what the model did.
    """
    item, pairs = batch_slice.number, (*query.shape[1:3], key.shape[2])
    heads, queries, keys = (torch.arange(n, device=query.device) for n in pairs)
    indices = [torch.full_like(heads[:1], item), heads[:, None, None], queries[:, None], keys]
    allowed = _on_all_pairs(block_mask[-1], indices, mask_mod_other_buffers, pairs)
    query, key, value = query[item], key[item], value[min(item, len(value) - 1)]
    shared = len(heads) // key.shape[0]
    dots = query @ key.repeat_interleave(shared, 0).mT * scale
    scores = _on_all_pairs(lambda *at: score_mod(dots, *at), indices, score_mod_other_buffers, pairs)
    masks = [] if allowed.all() else [SplitMask(allowed)]
    bias = scores - dots
    if bias.abs().max() > 0:
        at_zero = _on_all_pairs(
            lambda *at: score_mod(torch.zeros_like(dots), *at), indices, score_mod_other_buffers, pairs
        )
        barred = at_zero == -torch.inf
        masks += [SplitMask(~barred)] if barred.any() else []
        masks.append(SplitMask(None, at_zero.masked_fill(barred, 0)))
    names: dict[str, Any] = {"name": batch_slice.name, "mechanism": FLEX_MECHANISM}
    trace = builder.build(query, key, value, masks=masks, scale=scale, notes=[batch_slice.note], **names)
    if not agrees_in_context(trace, context[item]):
        weights = scores.masked_fill(~allowed, -torch.inf).softmax(-1).nan_to_num()
        note = f"{batch_slice.note} {FLEX_CHANGED}".strip()
        trace = from_weights(weights, note=note, value=value.repeat_interleave(shared, 0), **names)
        if not agrees_in_context(trace, context[item]):
            raise ValueError("what it computes could not be followed")
    return trace


def _on_all_pairs(function: Any, indices: list[Tensor], buffers: tuple[Any, ...], pairs: tuple[int, ...]) -> Tensor:
    expanded = [index.expand(pairs) for index in indices]
    return torch.as_tensor(function(*expanded, *buffers), device=indices[0].device).expand(pairs)
