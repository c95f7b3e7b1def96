"""Attention of which the weights alone are known, as a trace; and arrays of weights from anywhere, checked."""

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from attention_core.attention.scores import ScaledDot
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Story

OF_USER = "Weights of your own: scores are their logarithms, query, key and value are unknown."
SIGNED = "Some weights are negative, or sum to more than 1: they are shown as they are, with no softmax."
MAX_ROW_SUM = 1.01
"""Of weights that were rounded to 16 bits; rows that sum to more came of no softmax."""


def detached_copy(tensor: Tensor) -> Tensor:
    """Return a copy that nobody else can change; dimensions that were only expanded stay so and cost nothing."""
    small = tensor.detach()
    for dimension, (size, stride) in enumerate(zip(tensor.shape, tensor.stride(), strict=True)):
        if stride == 0 and size > 1:
            small = small.narrow(dimension, 0, 1)
    return small.clone(memory_format=torch.contiguous_format).expand(tensor.shape)


def all_finite(tensor: Tensor) -> bool:
    """Return whether no number is NaN or infinite; no second tensor is made for it, however large this one is."""
    return not tensor.numel() or all(extreme.isfinite() for extreme in tensor.aminmax())


def from_weights(
    weights: Tensor, *, name: str, note: str, mechanism: str, value: Tensor | None = None
) -> AttentionTrace:
    """Return a trace of known weights, and perhaps values; what is unknown has no columns.

    Its scores are the logarithms of the weights (n_heads, n_queries, n_keys), which a softmax turns into them again.
    Where some are negative, or a row sums to more than 1, scores are the weights themselves, without a softmax.
    """
    weights = detached_copy(weights).float()
    is_signed = bool((weights < 0).any() or (weights.sum(-1) > MAX_ROW_SUM).any())
    n_heads, n_queries, n_keys = weights.shape
    queries, keys = Axis.numbered("queries", n_queries), Axis.numbered("keys", n_keys)
    mask = weights != 0
    empty = weights.new_zeros(n_heads, max(n_queries, n_keys), 0)
    return AttentionTrace(
        query=empty[:, :n_queries],
        key=empty[:, :n_keys],
        value=empty[:, :n_keys] if value is None else detached_copy(value).expand(n_heads, -1, -1),
        score=ScaledDot(1.0),
        mask=None if mask.all() else mask,
        bias=weights if is_signed else torch.where(mask, weights, 1).log(),
        has_softmax=not is_signed,
        normaliser=None if is_signed else torch.where(mask.any(-1), 0.0, -math.inf).to(weights.device),
        story=Story(mechanism=mechanism, query_axis=queries, key_axis=keys, name=name, note=note),
    )


def traces_of_arrays(layers: Iterable[Any]) -> list[AttentionTrace]:
    """Return traces of weights in arrays of NumPy, tensors or lists, (n_heads, n_queries, n_keys) each.

    A batch of one may stand before the heads. They are "encoder.0.self", "decoder.0.self" where no query has weight on
    a later key, or "decoder.0.cross" where queries and keys are not as many.
    """
    tensors = [_checked(f"weights[{number}]", layer) for number, layer in enumerate(layers)]
    squares = [tensor for tensor in tensors if tensor.shape[1] == tensor.shape[2]]
    is_causal = all(tensor.shape[1] > 1 and not bool(tensor.triu(1).any()) for tensor in squares)
    names = {True: "decoder.{}.self" if is_causal else "encoder.{}.self", False: "decoder.{}.cross"}
    traces = []
    for number, tensor in enumerate(tensors):
        name = names[tensor.shape[1] == tensor.shape[2]].format(number)
        trace = from_weights(tensor, name=name, note=OF_USER, mechanism="attention")
        traces.append(trace if trace.has_softmax else trace.with_story(note=f"{OF_USER} {SIGNED}"))
    return traces


def _checked(name: str, layer: Any) -> Tensor:
    weights = torch.as_tensor(layer)
    weights = weights[0] if weights.ndim == 4 and len(weights) == 1 else weights
    shape = " x ".join(map(str, weights.shape)) or "a single number"
    if weights.ndim != 3 or not weights.numel():
        raise ValueError(f"{name} must be (n_heads, n_queries, n_keys) and not empty, got {shape}")
    if weights.is_complex() or not all_finite(weights):
        raise ValueError(f"{name} must hold finite numbers, got {shape} of which some are not")
    return weights
