"""Blocks of plain attention and feed-forward network on top of each other, of which small models are built."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from torch import Tensor, nn

from attention_core.attention.edits import Edits
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Text
from attention_core.models.transformer import (
    INPUTS,
    EncoderLayer,
    LayerActivations,
    TransformerConfig,
    layer_trace,
)

EditsByLayer = Mapping[int, Edits] | Edits
"""What is changed in which layer, by its index from 0; without indices, in every layer."""


class StackOutput(NamedTuple):
    states: tuple[Tensor, ...]  # of each layer, (batch, n, d_model): the residual stream behind it
    activations: tuple[LayerActivations, ...]  # of each layer


class EncoderStack(nn.Module):
    """Encoder layers, each reading what the one before wrote."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.n_layers))

    def forward(self, x: Tensor, mask: Tensor | None = None, edits: EditsByLayer = ()) -> StackOutput:
        """Read x (batch, n, d_model); the mask is bool, broadcastable to (batch, n_heads, n, n)."""
        states, activations = [], []
        for index, layer in enumerate(self.layers):
            x, of_layer = layer(x, self.edits_of(index, edits), mask)
            states.append(x)
            activations.append(of_layer)
        return StackOutput(tuple(states), tuple(activations))

    def edits_of(self, layer: int, edits: EditsByLayer) -> Edits:
        return edits.get(layer, ()) if isinstance(edits, Mapping) else edits

    def traces(
        self, output: StackOutput, noun: str, labels: Sequence[str], edits: EditsByLayer = (), inputs: Text = INPUTS
    ) -> tuple[AttentionTrace, ...]:
        """Return each layer's trace of the first item of a batch; noun and labels say what the positions hold."""
        axis = Axis(noun, labels)
        return tuple(
            layer_trace(activations, "self", index, axis, axis, self.edits_of(index, edits), inputs)
            for index, activations in enumerate(output.activations)
        )
