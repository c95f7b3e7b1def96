"""Keeps what one call of an attention was given, as traces, in memory that does not grow with every pair.

Recorders hand over query, key, value and mask of one call; one item of the batch is kept, or all, as copies that later
changes in place cannot reach. A mask or bias that several calls share is kept once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

from attention_core.attention.capture.layout import Order, select_slice, sizes_of, usual_order
from attention_core.attention.inside_torch import storage_of, version_of
from attention_core.attention.scores import ScaledDot
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Story
from attention_core.attention.weights import all_finite, detached_copy
from attention_core.attention.weights import from_weights as from_weights

MAX_MASKING_BIAS = -9000.0
"""A bias of this or less stands for a mask: models write -inf, the smallest number of a type, or -10,000."""
UNIFORM_NOTE = (
    "To some queries every key is forbidden, by a finite number that drowns their scores: they attend to all keys "
    "alike, and are shown with a query of 0."
)
EMPTY_NOTE = "Some queries may attend to no key: a softmax gives NaN there; their weights are shown as 0."
MAX_ROUNDING = 1e-3
"""How far float32 may round a score before a note says so: a weight is off by as large a share."""
NO_HEADS = "The call had no dimension for heads: its first one is shown as heads."
Items = int | Literal["all"]


class BatchSlice(NamedTuple):
    """An item of a call's batch, or a window of one."""

    number: int  # among all of the call
    note: str = ""
    name: str = ""  # where all are kept, in brackets

    @classmethod
    def of(
        cls, item: int, n_items: int, window: int = 0, n_windows: int = 1, is_named: bool = False, is_item: bool = True
    ) -> BatchSlice:
        number, n = item * n_windows + window, n_items * n_windows
        unit = "items of the batch" if n_windows == 1 and is_item else "parts of the batch, such as windows"
        note = f"The first of {n} {unit}." if number == 0 else f"Item {item} of {n_items} of the batch, counted from 0."
        if n_windows > 1 and number:
            window_text = f"window {window} of item {item}, if each has as many"
            note = f"Part {number} of {n} of the batch: {window_text}, all counted from 0."
        names = [f"item {item}"] * (n_items > 1) + [f"window {window}"] * (n_windows > 1)
        return cls(number, note if n > 1 else "", f"({', '.join(names)})" if is_named and names else "")

    @staticmethod
    def named_in(name: str) -> str:
        """Return which part of the batch the name of a trace says it is of; empty where none."""
        match = re.search(r"\((item|window) [^()]*\)$", name)
        return match[0] if match else ""


def precision_note(dtype: torch.dtype, distance: float | None = None) -> str:
    """Return the note on a model's own weights in half precision, and how far they are from the trace's."""
    if dtype not in (torch.float16, torch.bfloat16):
        return ""
    difference = f"differ from these by up to {distance:.2g}" if distance else "are rounded, these are not"
    return f"The model computed in {str(dtype).removeprefix('torch.')}: its own weights {difference}."


class TraceBuilder:
    """Turns what one call was given into traces, and keeps every shared mask and bias once."""

    def __init__(self, item: Items = 0) -> None:
        self.item = item  # of the batch, the last one of a batch that is smaller; or "all", and all windows of each
        self._split_masks: dict[tuple[Any, ...], tuple[Tensor, SplitMask]] = {}

    def slices(self, order: Order, n_items: int = 0) -> list[BatchSlice]:
        """Return what to keep of a call; n_items is the batch of the whole run, 0 where it is not known."""
        sizes = [piece.n for piece in order.items] or [1]
        n = math.prod(sizes)
        has_windows = order.is_batch_first and n_items > 0 and n % n_items == 0
        are_items = has_windows or n_items in (0, n)
        n_items = n_items if has_windows else sizes[0]
        n_windows = n // n_items
        items = range(n_items) if self.item == "all" else [min(self.item, n_items - 1)]
        windows = range(n_windows if self.item == "all" else 1)
        options = self.item == "all", are_items
        return [BatchSlice.of(item, n_items, window, n_windows, *options) for item in items for window in windows]

    def trace(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        *,
        batch_slice: BatchSlice | None = None,
        order: Order | None = None,
        mask: Tensor | None = None,
        bias: Tensor | None = None,
        sinks: Tensor | None = None,
        note: str = "",
        **options: Any,
    ) -> AttentionTrace:
        """Return the trace of one slice of the batch; arguments are as in AttentionTrace and Story, but batched.

        The query is (batch, n_heads, n_queries, d_k) or in another order; key and value may have fewer heads. The mask
        is bool, True = may attend, or float, added to the scores as the bias is. Sinks are (n_heads,) or (batch,
        n_heads, n_queries, 1). Other options are as for build.
        """
        sizes = sizes_of(query, key, value)
        order = order or usual_order(sizes)
        batch_slice = batch_slice or self.slices(order)[0]
        number = batch_slice.number

        def of_slice(tensor: Tensor) -> Tensor:
            return tensor.unbind()[number] if tensor.is_nested else select_slice(tensor, sizes, order, number)

        split_masks = [self.shared(of_slice(pairs), split_mask) for pairs in (mask, bias) if pairs is not None]
        if sinks is not None:
            sinks = sinks[:, None] if sinks.ndim == 1 else sinks[min(batch_slice.number, len(sinks) - 1), ..., 0]
        return self.build(
            *(of_slice(tensor) for tensor in (query, key, value)),
            masks=split_masks,
            sinks=sinks,
            notes=[note, batch_slice.note],
            name=batch_slice.name,
            **options,
        )

    def build(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        *,
        masks: Sequence[SplitMask] = (),
        scale: float | None = None,
        softcap: float | None = None,
        sinks: Tensor | None = None,
        is_causal: bool = False,
        dropout: float = 0.0,
        normaliser: Tensor | None = None,
        name: str = "",
        mechanism: str = "scaled dot product attention",
        notes: Sequence[str] = (),
    ) -> AttentionTrace:
        """Return the trace of one item, (n_heads, n, d) each; key and value may have fewer heads.

        Without a scale dot products are divided by sqrt(d_k). Other arguments are as in AttentionTrace and Story.
        """
        query, key, value = (detached_copy(tensor) for tensor in (query, key, value))
        n_heads = max(query.shape[0], key.shape[0])
        if query.shape[0] < n_heads:
            query = query.expand(n_heads, -1, -1)
        if key.shape[0] != value.shape[0]:  # one of them is broadcast over heads
            key, value = (tensor.expand(max(key.shape[0], value.shape[0]), -1, -1) for tensor in (key, value))
        all_notes = [*notes, *_not_finite({"query": query, "key": key, "value": value})]
        allowed, bias_sum, uniform = _combine(masks)
        if uniform is not None:
            query = query.masked_fill(uniform, 0)
            all_notes.append(UNIFORM_NOTE)
        if allowed is not None and not allowed.any(-1).all():
            all_notes.append(EMPTY_NOTE)
        if softcap is None:
            all_notes.append(_rounding_note(query, key, query.shape[-1] ** -0.5 if scale is None else scale))
        queries, keys = Axis.numbered("queries", query.shape[1]), Axis.numbered("keys", key.shape[1])
        note = " ".join(filter(None, all_notes))
        story = Story(mechanism=mechanism, query_axis=queries, key_axis=keys, shows_vectors=True, name=name, note=note)
        return AttentionTrace(
            query=query,
            key=key,
            value=value,
            score=ScaledDot(scale, None if softcap is None else float(softcap)),
            mask=allowed,
            is_causal=is_causal,
            bias=bias_sum,
            sinks=None if sinks is None else detached_copy(sinks).float(),
            dropout=dropout,
            normaliser=normaliser,
            story=story,
        )

    def shared(self, mask: Tensor, split: Callable[[Tensor], SplitMask]) -> SplitMask:
        """Return split(mask), computed once for all calls that share its numbers."""
        key = (storage_of(mask), mask.storage_offset(), mask.shape, mask.stride(), version_of(mask), split)
        if key not in self._split_masks:
            self._split_masks[key] = (mask, split(mask))  # the mask is kept so that its storage is not reused
        return self._split_masks[key][1]


def drop_unwritten(trace: AttentionTrace) -> AttentionTrace:
    """Return a trace without the last keys of a cache to which nothing was written yet: they are 0, and barred."""
    has_more_keys = trace.key.shape[-1] > 0 and trace.n_keys > trace.n_queries
    if trace.mask is None or not has_more_keys or trace.mask.shape[-1] == 1 or trace.mask[..., -1].any():
        return trace
    written = trace.mask.flatten(0, -2).any(0) | (trace.key != 0).any(-1).any(0) | (trace.value != 0).any(-1).any(0)
    n = max(trace.n_queries, int(written.nonzero().amax()) + 1) if written.any() else trace.n_keys
    bias = trace.bias if trace.bias is None or trace.bias.shape[-1] == 1 else trace.bias[..., :n]
    return replace(
        trace,
        key=trace.key[:, :n].clone(),
        value=trace.value[:, :n].clone(),
        mask=trace.mask[..., :n],
        bias=bias,
        story=replace(trace.story, key_axis=Axis.numbered("keys", n)),
    )


class SplitMask(NamedTuple):
    """A mask or bias taken apart, each broadcastable to (n_heads, n_queries, n_keys); None = it does nothing."""

    allowed: Tensor | None  # bool, True = may attend
    bias: Tensor | None = None  # float, added to the scores
    uniform: Tensor | None = None
    """bool (n_heads, n_queries, 1), queries to which every key is forbidden by the same large negative number, in which
    their scores are lost to rounding: they attend to all keys alike."""


def split_mask(mask: Tensor) -> SplitMask:
    return SplitMask(detached_copy(mask)) if mask.dtype == torch.bool else split_bias(mask)


def split_bias(bias: Tensor) -> SplitMask:
    """Return which keys a float mask forbids, and what it adds elsewhere.

    A row in which every number forbids hides no key: only the differences between its numbers count.
    """
    bias = detached_copy(bias)
    top = bias.amax(-1, keepdim=True)
    low = (top <= MAX_MASKING_BIAS) & (top > -math.inf)
    uniform = None
    if low.any():
        bias = torch.where(low, bias - top, bias)
        uniform = low & (top.abs().double() * torch.finfo(torch.float32).eps > 1)
        uniform = uniform if uniform.any() else None
    allowed = bias > MAX_MASKING_BIAS
    allowed_bias = torch.where(allowed, bias, 0)
    return SplitMask(None if allowed.all() else allowed, allowed_bias if allowed_bias.any() else None, uniform)


def split_large_negative(hidden: Tensor) -> SplitMask:
    """Take apart a mask that writes a large negative number where hidden, bool, is True."""
    uniform = hidden.all(-1, keepdim=True)
    if not uniform.any():
        return SplitMask(~hidden)
    return SplitMask(~hidden | uniform, None, uniform)


def split_minus_infinity(hidden: Tensor) -> SplitMask:
    """Take apart a mask that writes minus infinity where hidden, bool, is True."""
    return SplitMask(~hidden)


def _combine(masks: Sequence[SplitMask]) -> SplitMask:
    allowed = bias_sum = uniform = None
    for mask in masks:
        if mask.allowed is not None:
            allowed = mask.allowed if allowed is None else allowed & mask.allowed
        if mask.bias is not None:
            bias_sum = mask.bias if bias_sum is None else bias_sum + mask.bias
        if mask.uniform is not None:
            uniform = mask.uniform if uniform is None else uniform | mask.uniform
    if uniform is not None and bias_sum is not None:
        bias_sum = bias_sum.masked_fill(uniform, 0)
    return SplitMask(allowed, bias_sum, uniform)


def _rounding_note(query: Tensor, key: Tensor, scale: float) -> str:
    """Return a note where scores are so large that float32 rounds them by more than MAX_ROUNDING."""
    longest = [float(tensor.float().norm(dim=-1).amax()) if tensor.numel() else 0.0 for tensor in (query, key)]
    bound = abs(scale) * math.prod(longest)
    rounding = bound * torch.finfo(torch.float32).eps / 2
    if not MAX_ROUNDING < rounding < math.inf:
        return ""
    share = "weights may be off by as large a share"
    return f"Scores may be as large as {bound:,.0f}, which float32 rounds by up to {rounding:.1g}: {share}."


def _not_finite(tensors: dict[str, Tensor]) -> list[str]:
    notes = []
    for name, tensor in tensors.items():
        if not all_finite(tensor):
            bad = (~tensor.isfinite()).nonzero()
            head, position, column = bad[0].tolist()
            fault = "NaN" if tensor[head, position, column].isnan() else "infinity"
            several = f": {len(bad):,} numbers are not finite, the first" if len(bad) > 1 else ""
            notes.append(f"The {name} holds {fault}{several} in head {head} at position {position}, counted from 0.")
    return notes
