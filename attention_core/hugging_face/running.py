"""Run a transformers model once, and keep every attention in it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from attention_core.attention_names import named
from attention_core.hugging_face.attention import (
    WEIGHTS_ONLY,
    Ablated,
    Run,
    UnknownAttentionError,
    attention,
    running,
)
from attention_core.recording import Recording, from_weights

OURS = "attention_trace"
"""The name under which our function is registered with the library."""
_ONE_AT_A_TIME = threading.RLock()
"""A model's attention function is part of the model, which others may share: one run at a time."""


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
    return run_model(model, inputs)[0]


def run_model(
    model: Any, inputs: Mapping[str, Any], *, ablated: Collection[tuple[int, int]] = ()
) -> tuple[Recording, Any]:
    """Run a transformers model once; return every attention in it and what it put out.

    Args:
        model: as for trace_model; it is left as it was.
        inputs: what the model is called with, by name. With output_hidden_states=True, use_cache=True or labels the
            output has what they ask for; output_attentions and return_dict are dropped.
        ablated: (number of the trace in Recording.traces, head): the context of that head is 0 before the heads are
            projected together, for every item of the batch, so that all that follows changes. The trace of that
            number has the intervention. Numbers count the calls of attention in the order in which the model makes
            them: they mean the same in another run of the same model as long as the input does not decide which
            layers run.

    Returns:
        (the recording as of trace_model, the model's own output of this same run).

    Raises:
        ImportError: transformers is not installed.
        TypeError: not a transformers model.
        ValueError: a model without attention, or one that lets nobody see it; ablated names what is not there, or
            the model's code bypasses the library's attention interface, so that no head can be switched off.
    """
    chosen: dict[int, list[tuple[int, int]]] = {}
    for number, head in ablated:
        chosen.setdefault(number, []).append((-1, head))
    return _run(model, inputs, chosen)


def run_ablations(model: Any, inputs: Mapping[str, Any], ablations: Sequence[Collection[tuple[int, int]]]) -> Any:
    """Run a model once on a batch in which every item loses heads of its own; return the model's output.

    Args:
        model: as for run_model.
        inputs: as for run_model, one item per ablation.
        ablations: per item of the batch, (number of the trace, head) as for run_model.

    Raises:
        ImportError, TypeError, ValueError: as for run_model.
    """
    chosen: dict[int, list[tuple[int, int]]] = {}
    for item, ablated in enumerate(ablations):
        for number, head in ablated:
            chosen.setdefault(number, []).append((item, head))
    return _run(model, inputs, chosen)[1]


def _run(model: Any, inputs: Mapping[str, Any], ablated: Ablated) -> tuple[Recording, Any]:
    _needs_transformers(model)
    inputs = {name: value for name, value in inputs.items() if name not in ("output_attentions", "return_dict")}
    with _ONE_AT_A_TIME, _evaluating(model), torch.no_grad():
        run = Run({module: name for name, module in model.named_modules()}, ablated)
        configs, bypassing = _configs(model)
        if configs:
            with _implementation(configs, OURS), running(run), contextlib.suppress(UnknownAttentionError):
                output = model(**inputs)
                if run.calls:
                    return _recording(run, bypassing, model), output
        if ablated:
            raise ValueError(
                f"no head of {type(model).__name__} can be switched off: its code bypasses the library's attention "
                "interface"
            )
        return _from_output(model, inputs)


def _recording(run: Run, bypassing: Sequence[str], model: Any) -> Recording:
    wrong = [number for number in run.ablated if not 0 <= number < len(run.calls)]
    if wrong:
        raise ValueError(f"ablated: the model has traces 0 to {len(run.calls) - 1}, got {wrong[0]}")
    note = f"Not seen: {', '.join(bypassing)}, whose code has no attention interface." if bypassing else ""
    return Recording(named(run.calls, model), note)


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
    _register()


def _register() -> None:
    """Make our function and its masks known to the library; without the masks it would deliver none."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import sdpa_mask

    AttentionInterface.register(OURS, attention)
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


def _from_output(model: nn.Module, inputs: dict[str, Any]) -> tuple[Recording, Any]:
    """Return traces of the weights that the model hands out itself, for code that bypasses the interface."""
    configs, _ = _configs(model, only_with_interface=False)
    with _implementation(configs, "eager"):
        output = model(**{**inputs, "output_attentions": True, "return_dict": True})
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
    return Recording(traces, note), output


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
