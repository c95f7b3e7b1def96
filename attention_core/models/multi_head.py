"""Multi-head attention of the transformer, and what the trace of one such layer shows."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attention_core.attention.attend import Attended, attend, merge_heads, split_heads
from attention_core.attention.edits import Edits
from attention_core.attention.steps import projections
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Story, always
from attention_core.models.multi_head_steps import INPUTS, MECHANISMS, MERGE
from attention_core.models.traced import first_trace


class KeyValueMemory(NamedTuple):
    others: Tensor  # (batch, n_keys, d_model), what keys and values are made of
    key: Tensor  # (batch, n_heads, n_keys, d_k)
    value: Tensor  # (batch, n_heads, n_keys, d_k)


class AttentionOutput(NamedTuple):
    """What one attention layer did with a batch; enough to make its trace."""

    layer: Attention  # which
    norm: nn.LayerNorm  # what normalised its inputs
    before: Tensor  # (batch, n_queries, d_model), what was normalised
    inputs: Tensor  # (batch, n_queries, d_model), what the queries are made of
    query: Tensor  # (batch, n_heads, n_queries, d_k)
    memory: KeyValueMemory  # keys and values
    mask: Tensor | None  # bool, broadcastable to (batch, n_heads, n_queries, n_keys), or None
    attended: Attended  # the context
    output: Tensor  # (batch, n_queries, d_model), heads merged and projected


class Attention(nn.Module):
    """Multi-head attention. Source: Vaswani et al. 2017, section 3.2.2."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model)
        self.merge = nn.Linear(d_model, d_model)

    def memory(self, others: Tensor) -> KeyValueMemory:
        key, value = (split_heads(project(others), self.n_heads) for project in (self.key, self.value))
        return KeyValueMemory(others, key, value)

    def forward(
        self,
        x: Tensor,
        norm: nn.LayerNorm,
        memory: KeyValueMemory | None,
        mask: Tensor | None,
        edits: Edits = (),
        earlier: Tensor | None = None,
    ) -> AttentionOutput:
        """Let x (batch, n_queries, d_model), normalised, attend to a memory, or to itself.

        Keys and values that were kept from `earlier`, (batch, 2, n_heads, n_earlier, d_k), stand before the others.
        """
        inputs = norm(x)
        query = split_heads(self.query(inputs), self.n_heads)
        memory = self.memory(inputs) if memory is None else memory
        if earlier is not None:
            kept = torch.cat((earlier, torch.stack((memory.key, memory.value), 1)), 3)
            memory = memory._replace(key=kept[:, 0], value=kept[:, 1])
        attended = attend(query, memory.key, memory.value, mask=mask, edits=edits)
        output = self.merge(merge_heads(attended.context))
        return AttentionOutput(self, norm, x, inputs, query, memory, mask, attended, output)


def layer_trace(
    looked: AttentionOutput, kind: str, layer: int, query_axis: Axis, key_axis: Axis, edits: Edits
) -> AttentionTrace:
    """Return the trace of one attention layer, from 0, for the first sentence of a batch; kind is one of MECHANISMS."""
    module, memory, other = looked.layer, looked.memory, "memory" if kind == "cross" else "x"
    named = {"memory": memory.others[0]}
    for letter, linear in {"Q": module.query, "K": module.key, "V": module.value}.items():
        named[f"W_{letter}"] = linear.weight.unflatten(0, (module.n_heads, -1)).transpose(1, 2)
        if linear.bias is not None:
            named[f"b_{letter}"] = linear.bias.unflatten(0, (module.n_heads, -1))
    origin = "the encoder's output" if kind == "cross" else "the layer's inputs"
    vectors = projections(
        (looked.query[0], memory.key[0], memory.value[0]),
        (query_axis, key_axis, key_axis),
        formula=r"$letter = X W_$letter^{(h)}$bias",
        code="$name = $x @ W_$letter[head]$own_bias",
        explanation="A learned projection of $origin, one per head: what this word $meaning.",
        inputs=partial(always, named),
        x=("x", other, other),
        origin=("the layer's inputs", origin, origin),
        bias=(" + b_Q", "", " + b_V"),
        own_bias=(" + b_Q[head]", "", " + b_V[head]"),
    )
    story = Story(
        mechanism=f"{MECHANISMS[kind]}, layer {layer + 1}",
        query_axis=query_axis,
        key_axis=key_axis,
        steps_before=(
            INPUTS.step(looked.inputs[0], query_axis, x=looked.before[0], layer_norm=looked.norm),
            *vectors,
        ),
        steps_after=(
            MERGE.filled(n=module.n_heads).step(
                looked.output[0],
                query_axis,
                contexts=list(looked.attended.context[0]),
                W_O=module.merge.weight.T,
                b_O=module.merge.bias,
            ),
        ),
    )
    mask = None if looked.mask is None else looked.mask[0]
    return first_trace(looked.query, memory.key, memory.value, looked.attended, story, mask=mask, edits=edits)
