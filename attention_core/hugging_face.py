"""The attention of any transformers model: `p = trace_model(model, **inputs)`, then `p.traces`.

The model runs once, with an attention function of ours that the library calls with query, key, value, mask and scale
after positions are applied. It computes the context with torch's fused kernel and keeps what a trace needs; no matrix
over all pairs is built. Each layer is checked against the model's own written-out attention on two of its queries.
Source: https://huggingface.co/docs/transformers/attention_interface
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from attention_core.attention_names import named
from attention_core.recording import Keeper, Recording, from_weights
from attention_core.trace import AttentionTrace, Rows

OURS = "attention_trace"
"""The name under which our function is registered with the library."""
HARMLESS = {
    *("position_ids", "cache_position", "cu_seq_lens_q", "cu_seq_lens_k", "max_length_q", "max_length_k"),
    *("encoder_hidden_states", "s_aux", "sinks", "position_bias"),
}
"""Tensors that layers hand over besides the essentials and that either change no weight or are read here."""
WEIGHTS_ONLY = "The model handed out its weights only: scores are their logarithms, query, key and value are unknown."
_ONE_AT_A_TIME = threading.RLock()
"""A model's attention function is part of the model, which others may share: one run at a time."""


@dataclass
class _Run:
    """The run in progress in this thread."""

    places: dict[nn.Module, str]
    keeper: Keeper = field(default_factory=Keeper)
    calls: list[tuple[str, nn.Module, AttentionTrace]] = field(default_factory=list)


_THREAD = threading.local()


class _UnknownAttention(RuntimeError):
    """A layer asks for something that neither the fused kernel nor a written-out attention of its own offers."""


def trace_model(model: Any, /, **inputs: Any) -> Recording:
    """Run a transformers model once and return every attention in it.

    The model is in evaluation mode and without gradients while it runs; its attention implementation, its mode and
    its settings are as before when it has finished or failed.

    Args:
        model: a transformers model, built with any attention implementation, or a module around one.
        inputs: what the model is called with, such as input_ids=..., attention_mask=..., pixel_values=...

    Returns:
        a recording whose traces are in the order of execution, of the batch's first item, with names such as
        "encoder.0.self" and "decoder.3.cross". Its note says if the model's code does not go through the library's
        attention interface, so that only the weights it handed out are known.

    Raises:
        ImportError: transformers is not installed.
        TypeError: not a transformers model.
        ValueError: a model without attention, or one that lets nobody see it.
    """
    _needs_transformers(model)
    inputs = {name: value for name, value in inputs.items() if name not in ("output_attentions", "return_dict")}
    with _ONE_AT_A_TIME, _evaluating(model), torch.no_grad():
        run = _Run({module: name for name, module in model.named_modules()})
        configs, bypassing = _configs(model)
        finished = False
        if configs:
            with _implementation(configs, OURS), _running(run), contextlib.suppress(_UnknownAttention):
                model(**inputs)
                finished = True
        if finished and run.calls:
            traces = named(run.calls, model)
            note = f"Not seen: {', '.join(bypassing)}, whose code has no attention interface." if bypassing else ""
            return Recording(traces, note)
        return _from_output(model, inputs)


def _needs_transformers(model: Any) -> None:
    try:
        from transformers import PreTrainedModel
    except ImportError:
        raise ImportError("trace_model needs the package transformers: pip install transformers") from None
    if not isinstance(model, nn.Module) or not any(isinstance(part, PreTrainedModel) for part in model.modules()):
        raise TypeError(
            f"model must be a transformers model, got {type(model).__name__}; attention_core.capture() records any "
            "PyTorch code"
        )
    _register()


def _register() -> None:
    """Make our function and its masks known to the library; without the masks it would deliver none."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import sdpa_mask

    AttentionInterface.register(OURS, _attention)
    AttentionMaskInterface.register(OURS, sdpa_mask)


@contextmanager
def _evaluating(model: nn.Module) -> Iterator[None]:
    before = {module: module.training for module in model.modules()}
    model.eval()
    try:
        yield
    finally:
        for module, mode in before.items():
            module.training = mode


@contextmanager
def _running(run: _Run) -> Iterator[None]:
    before = getattr(_THREAD, "run", None)
    _THREAD.run = run
    try:
        yield
    finally:
        _THREAD.run = before


@contextmanager
def _implementation(configs: list[Any], name: str) -> Iterator[None]:
    before = [config._attn_implementation_internal for config in configs]
    try:
        for config in configs:
            config._attn_implementation_internal = name
        yield
    finally:
        for config, old in zip(configs, before, strict=True):
            config._attn_implementation_internal = old


def _configs(model: nn.Module, only_with_interface: bool = True) -> tuple[list[Any], list[str]]:
    """Return the settings objects to switch, and the classes that bypass the interface."""
    from transformers import PreTrainedConfig, PreTrainedModel

    found: dict[int, Any] = {}
    bypassing: dict[str, None] = {}

    def add(config: Any) -> None:
        if isinstance(config, PreTrainedConfig) and id(config) not in found:
            found[id(config)] = config
            for name in config.sub_configs:
                add(getattr(config, name, None))

    def visit(module: nn.Module, can: bool) -> None:
        if isinstance(module, PreTrainedModel):
            can = not only_with_interface or type(module)._can_set_attn_implementation()
            if not can:
                bypassing[type(module).__name__] = None
        if can:
            add(getattr(module, "config", None))
        for child in module.children():
            visit(child, can)

    visit(model, True)
    return list(found.values()), list(bypassing)


def _attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **more: Any,
) -> tuple[Tensor, Tensor | None]:
    """Compute the context as the library expects it, (batch, n_queries, n_heads, d_v), and keep what a trace needs."""
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    run: _Run | None = getattr(_THREAD, "run", None)
    essentials = {"scaling": scaling, "dropout": dropout, **more}
    own = _own_attention(module)
    sinks = more.get("s_aux", more.get("sinks", getattr(module, "sinks", None)))
    sinks = sinks if isinstance(sinks, Tensor) else None
    unusual = more.get("softcap") is not None or sinks is not None or _unknown(more)
    if unusual and own is None:
        raise _UnknownAttention(f"{type(module).__name__} asks for {sorted(more)} and has no attention of its own")
    causal = _is_causal(module, query, attention_mask, more.get("is_causal"))
    if not unusual:
        context = sdpa_attention_forward(module, query, key, value, attention_mask, **essentials)[0]
        if run is None:
            return context, None
    else:
        own_result = own(module, query, key, value, _written_out(attention_mask, query, key, causal), **essentials)  # type: ignore[misc]
        context = own_result[0]
        if run is None:
            return own_result
    trace = run.keeper.trace(
        query,
        key,
        value,
        mask=attention_mask,
        bias=more.get("position_bias"),
        scale=scaling,
        softcap=more.get("softcap"),
        sinks=sinks,
        is_causal=causal,
        mechanism=type(module).__name__,
    )
    if unusual:
        weights = own_result[1][0]
        heads = range(trace.n_heads)
        if sinks is not None and not _agree(trace, weights, heads, slice(None)):
            # Some models hand out weights without the sink and scale the context afterwards.
            trace = replace(
                trace, sinks=None, note=f"{trace.note} The sink scales the context, not the weights.".strip()
            )
        if not _agree(trace, weights, heads, slice(None)):
            trace = from_weights(weights, name="", note=WEIGHTS_ONLY, mechanism=type(module).__name__)
    elif own is not None and not _spot_check(trace, own, module, query, key, value, attention_mask, causal, essentials):
        written = _written_out(attention_mask, query, key, causal)
        context, all_weights = own(module, query, key, value, written, **essentials)
        trace = from_weights(all_weights[0], name="", note=WEIGHTS_ONLY, mechanism=type(module).__name__)
    run.calls.append((run.places.get(module, type(module).__name__), module, trace))
    return context, None


def _unknown(more: Mapping[str, Any]) -> bool:
    return any(isinstance(value, Tensor) and name not in HARMLESS for name, value in more.items())


def _own_attention(module: nn.Module) -> Callable[..., tuple[Tensor, Tensor]] | None:
    """Return the written-out attention of the file in which the module's class, or one it extends, is defined."""
    for one in type(module).__mro__:
        own = getattr(sys.modules.get(one.__module__), "eager_attention_forward", None)
        if own is not None:
            return own
    return None


def _is_causal(module: nn.Module, query: Tensor, mask: Tensor | None, asked: bool | None) -> bool:
    """Return whether a call without a mask is causal, by the rule of the library's own fused attention."""
    causal = asked if asked is not None else getattr(module, "is_causal", True)
    return bool(query.shape[2] > 1 and mask is None and causal)


def _written_out(mask: Tensor | None, query: Tensor, key: Tensor, causal: bool) -> Tensor | None:
    """Return the mask as numbers to add, as the models' own attention wants it."""
    if causal:
        mask = torch.ones(1, 1, query.shape[2], key.shape[2], dtype=torch.bool, device=query.device).tril()
    if mask is None or mask.dtype != torch.bool:
        return mask
    return torch.zeros(mask.shape, dtype=query.dtype, device=query.device).masked_fill(
        ~mask, torch.finfo(query.dtype).min
    )


def _spot_check(
    trace: AttentionTrace,
    own: Callable[..., tuple[Tensor, Tensor]],
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    causal: bool,
    essentials: dict[str, Any],
) -> bool:
    """Return whether the trace has the weights of the model's own attention for the middle and the last query."""
    n_queries, bias = query.shape[2], essentials.get("position_bias")
    if any(one is not None and one.ndim != 4 for one in (mask, bias)):
        return True  # a shape whose rows cannot be told
    rows = sorted({n_queries // 2, n_queries - 1})
    if causal:
        positions = torch.arange(key.shape[2], device=query.device)
        mask = (positions <= torch.tensor(rows, device=query.device)[:, None])[None, None]
    elif mask is not None:
        mask = mask[:1]
        mask = mask[..., rows, :] if mask.shape[2] == n_queries else mask
    some = dict(essentials)
    if bias is not None:
        some["position_bias"] = bias[:1, :, rows] if bias.shape[2] == n_queries else bias[:1]
    written = _written_out(mask, query, key, False)
    weights = own(module, query[:1, :, rows], key[:1], value[:1], written, **some)[1]
    return _agree(trace, weights[0], {0, trace.n_heads - 1}, rows)


def _agree(trace: AttentionTrace, weights: Tensor, heads: Iterable[int], rows: Rows) -> bool:
    """Return whether a trace has these weights (n_heads, n_rows, n_keys), blind queries aside.

    The rows are computed directly: the trace's own normaliser would need all of them.
    """
    exact = weights.dtype in (torch.float32, torch.float64)
    if weights.shape[0] != trace.n_heads or weights.shape[2] != trace.n_keys:
        return False
    for head in heads:
        scores, allowed = trace.scores(head, rows), trace.allowed(head, rows)
        if allowed is not None:
            scores = scores.masked_fill(~allowed, -torch.inf)
        normaliser = scores.logsumexp(-1)
        seen = normaliser > -torch.inf
        if trace.sinks is not None:
            sinks = trace.sinks.expand(trace.n_heads, trace.n_queries)[head, rows]
            normaliser = torch.logaddexp(normaliser, sinks.to(normaliser))
        ours, theirs = (scores - normaliser[:, None]).exp()[seen], weights[head][seen].to(scores)
        if not torch.allclose(ours, theirs, rtol=0, atol=1e-5 if exact else 0.02, equal_nan=True):
            return False
    return True


def _from_output(model: nn.Module, inputs: dict[str, Any]) -> Recording:
    """Return traces of the weights that the model hands out itself, for code that bypasses the interface."""
    configs, _ = _configs(model, only_with_interface=False)
    with _implementation(configs, "eager"):
        output = model(**inputs, output_attentions=True, return_dict=True)
    calls = list(_handed_out(output))
    if not calls:
        raise ValueError(
            f"{type(model).__name__} shows no attention: its code bypasses the library's attention interface, and "
            "output_attentions=True gives no weights. Try attention_core.capture()."
        )
    mechanism = f"attention of {type(model).__name__}"
    traces = [from_weights(weights, name=name, note=WEIGHTS_ONLY, mechanism=mechanism) for name, weights in calls]
    note = f"{type(model).__name__} bypasses the library's attention interface. {WEIGHTS_ONLY}"
    if any(name.startswith("encoder") and weights.shape[1] != weights.shape[2] for name, weights in calls):
        note += " It does not compare every position with every other: its columns are no positions of the input."
    return Recording(traces, note)


def _handed_out(output: Any) -> Iterator[tuple[str, Tensor]]:
    """Yield (name, weights of the first item), encoder first, then self and cross attention of each decoder layer."""
    layers = {
        name: [layer[0] for layer in output.get(name) or () if isinstance(layer, Tensor) and layer.ndim == 4]
        for name in ("encoder_attentions", "attentions", "decoder_attentions", "cross_attentions")
    }
    for number, weights in enumerate(layers["encoder_attentions"]):
        yield f"encoder.{number}.self", weights
    causal = all(_looks_causal(weights) for weights in layers["attentions"]) or bool(layers["cross_attentions"])
    own = layers["decoder_attentions"] or layers["attentions"]
    stack = "decoder" if layers["decoder_attentions"] or causal else "encoder"
    for number in range(max(len(own), len(layers["cross_attentions"]))):
        if number < len(own):
            yield f"{stack}.{number}.self", own[number]
        if number < len(layers["cross_attentions"]):
            yield f"decoder.{number}.cross", layers["cross_attentions"][number]


def _looks_causal(weights: Tensor) -> bool:
    n_queries, n_keys = weights.shape[1:]
    return n_queries == n_keys > 1 and not weights.triu(1).any()
