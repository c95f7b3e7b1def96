"""The attention function that the transformers library calls in place of its own; it keeps a trace of every call."""

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attention_core.attention.capture.layout import usual_order
from attention_core.attention.capture.trace_builder import BatchSlice, TraceBuilder, from_weights, precision_note
from attention_core.attention.edits import EditError, Edits
from attention_core.attention.inside_torch import FUSED_ON_CPU
from attention_core.attention.trace import AttentionTrace, upcast_half
from attention_core.attention.types import Rows

HANDLED_KWARGS = {
    *("position_ids", "cache_position", "cu_seq_lens_q", "cu_seq_lens_k", "max_length_q", "max_length_k"),
    *("encoder_hidden_states", "s_aux", "sinks", "position_bias"),
}
"""Further arguments with tensors that layers pass to their attention; they change no weight, or are read here."""
WEIGHTS_ONLY = "The model handed out its weights only: scores are their logarithms, query, key and value are unknown."
SCALED_BY_SINK = "The sink scales the context, not the weights."


@dataclass
class Run:
    """The run in progress in this thread.

    `on_attention` is given the number of each call, its weights (batch, n_heads, n_queries, n_keys) and its context
    (batch, n_queries, n_heads, d_v), and may return other weights; no trace is kept. `on_context` is given the number
    and the context, and may return another one.
    """

    n_items: int
    edits: Mapping[int, Edits] = field(default_factory=dict)  # by number of the call, for every item of the batch
    item_edits: Sequence[Mapping[int, Edits]] = ()  # for each item, further edits of its own; empty = none
    on_attention: Callable[[int, Tensor, Tensor], Tensor | None] | None = None
    on_context: Callable[[int, Tensor], Tensor | None] | None = None
    builder: TraceBuilder = field(default_factory=TraceBuilder)
    calls: list[tuple[nn.Module, list[AttentionTrace]]] = field(default_factory=list)  # a trace of each kept part
    starts: list[int] = field(default_factory=list)  # number of calls before each forward of a writing model
    float_masks: frozenset[int] = frozenset()  # ids of the settings of models that know masks of numbers only
    blind: dict[int, tuple[Tensor, Tensor | None]] = field(default_factory=dict)
    """id of a mask -> the mask and which queries may see no key in it, None if there are none"""

    @property
    def edited(self) -> list[int]:
        all_edits = (self.edits, *self.item_edits)
        return [number for edits in all_edits for number, call_edits in edits.items() if call_edits]

    def edits_of(self, number: int, n_splits: int) -> list[Edits]:
        """Return the edits of a call for each part of its batch; an item may come in several parts, such as windows."""
        n_items = len(self.item_edits)
        item_edits = [edits.get(number, ()) for edits in self.item_edits] or [()]
        by_split = [item_edits[split * n_items // n_splits] for split in range(n_splits)]
        return [(*self.edits.get(number, ()), *split_edits) for split_edits in by_split]


class AttentionCall(NamedTuple):
    """What a layer asks of its attention: tensors (batch, n_heads, n, d), and settings such as scaling and dropout."""

    module: nn.Module
    query: Tensor
    key: Tensor
    value: Tensor
    mask: Tensor | None
    causal: bool
    settings: dict[str, Any]


_THREAD = threading.local()


class UnsupportedError(ValueError):
    """A model that shows no attention, or a head that it does not have or that cannot be switched off."""


class RefusedEditError(UnsupportedError, EditError):
    """An edit that a model's attention cannot have."""


class UnknownAttentionError(RuntimeError):
    """A layer asks for what neither the fused kernel nor the model's eager attention offers."""


@contextmanager
def running(run: Run) -> Iterator[None]:
    """Keep every call of the attention function that this thread makes inside the block."""
    before = current_run()
    _THREAD.run = run
    try:
        yield
    finally:
        _THREAD.run = before


def current_run() -> Run | None:
    """Return the run in progress in this thread."""
    return getattr(_THREAD, "run", None)


def mask(*args: Any, config: Any = None, **kwargs: Any) -> Tensor | None:
    """Return the mask of one kind of layer as the library's fused attention, or where need be its eager one, has it."""
    from transformers.masking_utils import eager_mask, sdpa_mask

    run = current_run()
    wants_numbers = run is not None and id(config) in run.float_masks
    return (eager_mask if wants_numbers else sdpa_mask)(*args, config=config, **kwargs)


def attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **options: Any,
) -> tuple[Tensor, Tensor | None]:
    """Compute the context as the library expects it, (batch, n_queries, n_heads, d_v), and keep what a trace needs.

    A layer with a softcap, sinks or unknown tensors runs the model's own written-out attention, since the
    fused kernel has none of them: while it runs, some three matrices of (batch, n_heads, n_queries, n_keys) are in
    memory, for this one layer.
    """
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    run = current_run()
    settings = {"scaling": scaling, "dropout": dropout, **options}
    if run is None:
        return sdpa_attention_forward(module, query, key, value, attention_mask, **settings)
    eager = _eager_attention(module)
    sinks = options.get("s_aux", options.get("sinks", getattr(module, "sinks", None)))
    sinks = sinks if isinstance(sinks, Tensor) else None
    unknown = any(isinstance(value, Tensor) and name not in HANDLED_KWARGS for name, value in options.items())
    unusual = options.get("softcap") is not None or sinks is not None or unknown
    if unusual and eager is None:
        name = type(module).__name__
        raise UnknownAttentionError(f"{name} asks for {sorted(options)} and has no attention of its own")
    causal = options.get("is_causal")  # by the rule of the library's own fused attention
    causal = getattr(module, "is_causal", True) if causal is None else causal
    causal = bool(query.shape[2] > 1 and attention_mask is None and causal)
    inputs, number = AttentionCall(module, query, key, value, attention_mask, causal, settings), len(run.calls)
    if run.on_attention is not None:
        if eager is None:
            raise UnknownAttentionError(f"{type(module).__name__} has no attention of its own that hands out weights")
        context, weights = _run_eager(eager, inputs)
        new_weights = run.on_attention(number, weights, context)
        run.calls.append((module, []))
        if new_weights is not None:
            context = (new_weights @ value.repeat_interleave(new_weights.shape[1] // value.shape[1], 1)).transpose(1, 2)
        return context.contiguous(), None
    normalisers, all_weights = None, None
    if eager is not None and unusual:
        context, all_weights = _run_eager(eager, inputs)
    else:
        context, normalisers = _fused(run, inputs)
    call = _CallResult(inputs, eager, sinks, context, all_weights)
    splits = run.builder.slices(usual_order(query.shape[:2]), run.n_items)
    traces = [call.trace(run.builder, split, normalisers) for split in splits]
    if run.on_context is not None:
        new_context = run.on_context(number, call.context)
        run.calls.append((module, []))
        return (call.context if new_context is None else new_context.contiguous()), None
    try:
        edits = run.edits_of(number, len(query))
        context, traces = call.edited(traces, edits, [split.number for split in splits])
    except EditError as reason:
        raise RefusedEditError(f"edits of trace {number}: {reason}") from None
    run.calls.append((module, traces))
    return context, None


@dataclass
class _CallResult:
    """One call of the attention function, from which the trace of each item of the batch can be made."""

    inputs: AttentionCall
    eager: Callable[..., tuple[Tensor, Tensor]] | None  # the model's written-out attention
    sinks: Tensor | None
    context: Tensor  # (batch, n_queries, n_heads, d_v)
    all_weights: Tensor | None  # of the model's own attention, where that ran

    def trace(self, builder: TraceBuilder, split: BatchSlice, normalisers: Tensor | None = None) -> AttentionTrace:
        module, query, key, value, mask, causal, settings = self.inputs
        item = split.number
        trace = builder.trace(
            query,
            key,
            value,
            batch_slice=split,
            order=usual_order(query.shape[:2]),
            mask=mask,
            bias=settings.get("position_bias"),
            scale=settings["scaling"],
            softcap=settings.get("softcap"),
            sinks=self.sinks,
            is_causal=causal,
            mechanism=type(module).__name__,
            note=precision_note(query.dtype),
            normaliser=None if normalisers is None else normalisers[item].detach().clone(),
        )
        if self.all_weights is None:
            if self.eager is None or _spot_check(trace, self.eager, self.inputs, item):
                return trace
            self.context, self.all_weights = _run_eager(self.eager, self.inputs)
        weights, heads = self.all_weights[item], range(trace.n_heads)
        if self.sinks is not None and not _agree(trace, weights, heads, slice(None)):
            # Some models hand out weights without the sink and scale the context afterwards.
            note = f"{trace.story.note} {SCALED_BY_SINK}".strip()
            trace = replace(trace, sinks=None).with_story(note=note)
        if not _agree(trace, weights, heads, slice(None)):
            trace = from_weights(weights, name=split.name, note=WEIGHTS_ONLY, mechanism=type(module).__name__)
        return trace

    def edited(
        self, traces: list[AttentionTrace], edits: Sequence[Edits], recorded: Sequence[int]
    ) -> tuple[Tensor, list[AttentionTrace]]:
        """Return the context and the traces of the kept parts of the batch with the edits of each part.

        Only rows that these change are computed anew.
        """
        if not any(edits):
            return self.context, traces
        traces, context, value = list(traces), self.context.clone(), self.inputs.value
        for number, item_edits in enumerate(edits):
            if not item_edits:
                continue
            only_context = all(edit.target == "context" for edit in item_edits)
            if SCALED_BY_SINK in traces[0].story.note and not only_context:
                raise EditError("a sink scales what its heads hand over, so that no weight can be set")
            index = recorded.index(number) if number in recorded else None
            is_needed = index is None and not only_context
            unedited = self.trace(TraceBuilder(), BatchSlice(number)) if is_needed else traces[index or 0]
            changed = replace(unedited, edits=item_edits, normaliser=unedited.normaliser if only_context else None)
            item_context = context[number]
            for head in range(unedited.n_heads):
                values = upcast_half(value[number, head // (unedited.n_heads // value.shape[1])])
                for rows, weights, _ in changed.weight_blocks(head, changed.changed_rows(head)):
                    item_context[rows, head] = (weights @ values).to(item_context.dtype)
                item_context[:, head] = changed.edited_context(head, item_context[:, head])
            if index is not None:
                traces[index] = changed
        return context, traces


def _fused(run: Run, inputs: AttentionCall) -> tuple[Tensor, Tensor | None]:
    """Return the context (batch, n_queries, n_heads, d_v), and the normalisers if the kernel has them."""
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    module, query, key, value, mask, causal, settings = inputs
    if _kernel_fits(inputs):
        context, normalisers = FUSED_ON_CPU(query, key, value, 0.0, causal, scale=settings["scaling"])
        return context.transpose(1, 2).contiguous(), normalisers
    context = sdpa_attention_forward(module, query, key, value, mask, **settings)[0]
    return _with_mean_for_blind(run, context, value, mask), None


def _kernel_fits(inputs: AttentionCall) -> bool:
    """Return whether torch's fused kernel for processors applies, which returns the normalisers, too."""
    query, key, value, settings = inputs.query, inputs.key, inputs.value, inputs.settings
    plain = inputs.mask is None and not settings["dropout"] and settings.get("position_bias") is None
    alike = query.shape[:2] == key.shape[:2] == value.shape[:2] and query.shape[-1] == value.shape[-1]
    fits = query.device.type == "cpu" and query.dtype == torch.float32 and query.shape[2] == key.shape[2] > 0
    return bool(plain and alike and fits)


def _with_mean_for_blind(run: Run, context: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
    """Return the context (batch, n_queries, n_heads, d_v) with the mean value for queries that may see no key.

    So the library's written-out attention has it; its fused one gives 0. Such queries are padding, but layers of other
    masks may let them see, and there their weights should be those that output_attentions gives.
    """
    if mask is None or mask.dtype != torch.bool or mask.ndim != 4:
        return context
    if id(mask) not in run.blind:  # holding the mask keeps its id from being given to another
        blind = ~mask.any(-1).transpose(1, 2)[..., None]
        run.blind[id(mask)] = (mask, blind if blind.any() else None)
    blind_queries = run.blind[id(mask)][1]
    if blind_queries is None:
        return context
    mean = value.mean(2).repeat_interleave(context.shape[2] // value.shape[1], 1)
    return torch.where(blind_queries, mean[:, None], context)


def _eager_attention(module: nn.Module) -> Callable[..., tuple[Tensor, Tensor]] | None:
    files = (sys.modules.get(base.__module__) for base in type(module).__mro__)
    return next(filter(None, (getattr(file, "eager_attention_forward", None) for file in files)), None)


def _run_eager(eager: Callable[..., tuple[Tensor, Tensor]], inputs: AttentionCall) -> tuple[Tensor, Tensor]:
    module, query, key, value, mask, causal, settings = inputs
    if causal:
        mask = torch.ones(1, 1, query.shape[2], key.shape[2], dtype=torch.bool, device=query.device).tril()
    if mask is not None and mask.dtype == torch.bool:
        mask = query.new_zeros(mask.shape).masked_fill(~mask, torch.finfo(query.dtype).min)
    return eager(module, query, key, value, mask, **settings)


def _spot_check(
    trace: AttentionTrace, eager: Callable[..., tuple[Tensor, Tensor]], inputs: AttentionCall, item: int
) -> bool:
    """Return whether the trace has the weights of the model's own attention for the middle and the last query."""
    module, query, key, value, mask, causal, settings = inputs
    n_queries, bias, item_slice = query.shape[2], settings.get("position_bias"), slice(item, item + 1)
    if any(pairs is not None and pairs.ndim != 4 for pairs in (mask, bias)):
        return True  # a shape whose rows cannot be told
    rows = slice(n_queries // 2, n_queries, max(n_queries - 1 - n_queries // 2, 1))  # a slice copies nothing
    if causal:
        queries, keys = (torch.arange(n, device=query.device) for n in (n_queries, key.shape[2]))
        mask = (keys <= queries[rows, None])[None, None]
    elif mask is not None:
        mask = mask[item_slice] if len(mask) > 1 else mask
        mask = mask[..., rows, :] if mask.shape[2] == n_queries else mask
    if bias is not None:
        bias = bias[item_slice] if len(bias) > 1 else bias
        settings = settings | {"position_bias": bias[:, :, rows] if bias.shape[2] == n_queries else bias}
    tensors = query[item_slice, :, rows], key[item_slice], value[item_slice]
    sampled = AttentionCall(module, *tensors, mask, False, settings)
    return _agree(trace, _run_eager(eager, sampled)[1][0], {0, trace.n_heads - 1}, rows)


def _agree(trace: AttentionTrace, weights: Tensor, heads: Iterable[int], rows: Rows) -> bool:
    """Return whether a trace has these weights (n_heads, n_rows, n_keys), blind queries aside.

    The rows are computed directly: the trace's own normaliser would need all of them.
    """
    allowance = 1e-5 if weights.dtype in (torch.float32, torch.float64) else 0.02
    if weights.shape[0] != trace.n_heads or weights.shape[2] != trace.n_keys:
        return False
    for head in heads:
        scores = trace.masked_scores(head, rows)
        if trace.sinks is None and (scores.softmax(-1) - weights[head]).abs().max() <= allowance:
            continue  # most layers; NaN, as in the rows of blind queries, is not less
        normaliser = scores.logsumexp(-1)
        sees_keys = normaliser > -torch.inf
        normaliser = trace.with_sinks(normaliser, head, rows)
        expected, handed_out = (scores - normaliser[:, None]).exp()[sees_keys], weights[head][sees_keys].to(scores)
        if not torch.allclose(expected, handed_out, rtol=0, atol=allowance, equal_nan=True):
            return False
    return True
