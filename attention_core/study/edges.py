"""Which head acts through which: what each head gives to each later one, by one gradient.

An edge is what a head writes into the stream, clean less corrupt, times the slope of the metric by what a later head
reads there through its query, key or value, in the corrupt run.
Source: Syed et al. 2023, "Attribution Patching Outperforms Automated Circuit Discovery".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attention_core.attention.scores import ScaledDot
from attention_core.hub.tracing import UnsupportedError
from attention_core.study.output import Table
from attention_core.study.sites import Activations
from attention_core.study.sources import Stream

INPUTS = ("by_query", "by_key", "by_value")


@dataclass(eq=False)
class HeadEdges(Table):
    """Estimates of how the metric of a corrupt run changes if one head reads another one as in the clean run.

    Attributes:
        by_input: (3, n_layers, n_heads, n_layers, n_heads), through the query, key and value of the head that reads.
    """

    by_input: Tensor

    @property
    def values(self) -> Tensor:
        """(n_layers, n_heads, n_layers, n_heads), from the head that writes to one of a later layer; else 0."""
        return self.by_input.sum(0)

    def largest(self, n: int = 20) -> list[tuple[str, str, float]]:
        """Return the (head that writes, head that reads, value) that are farthest from 0."""
        columns = self.columns()
        rows = zip(*(columns[name] for name in ("from", "to", "value")), strict=True)
        return sorted(rows, key=lambda row: -abs(row[2]))[:n]

    def columns(self) -> Mapping[str, Sequence[Any]]:
        n_layers, n_heads, *_ = self.values.shape
        heads = [(layer, head) for layer in range(n_layers) for head in range(n_heads)]
        pairs = [(first, second) for first in heads for second in heads if first[0] < second[0]]
        columns: dict[str, Any] = {
            "from": [f"{a}.{b}" for (a, b), _ in pairs],
            "to": [f"{a}.{b}" for _, (a, b) in pairs],
        }
        for name, values in zip(("value", *INPUTS), (self.values, *self.by_input), strict=True):
            columns[name] = [float(values[(*first, *second)]) for first, second in pairs]
        return columns


def head_edges(stream: Stream, clean: Activations, corrupt: Activations, slopes: Activations) -> HeadEdges:
    """Return the edges of a corrupt run: its stream, what heads hand over in both runs, and the slopes by that."""
    if stream.family.writes or any(stream.family.after):
        name = type(stream.model).__name__
        raise UnsupportedError(f"{name} norms what its heads add to the stream, so that no edge is a product")
    n_layers, n_heads = len(stream.layers), stream.traces[0].n_heads
    result = torch.zeros(len(INPUTS), n_layers, n_heads, n_layers, n_heads)
    written: list[Tensor] = []  # of each layer (n_heads, n * d_model)
    for layer in range(n_layers):
        read = stream.slopes_by_stream(layer, *_slopes_by_inputs(stream, layer, slopes[layer]))
        for index, vectors in enumerate(written):
            result[:, index, :, layer] = (vectors @ read.flatten(2).transpose(1, 2)).cpu()
        output = stream.output_matrix(layer).unflatten(0, (n_heads, -1))
        written.append(((clean[layer] - corrupt[layer]) @ output).flatten(1))
    return HeadEdges(result)


def _slopes_by_inputs(stream: Stream, layer: int, slopes: Tensor) -> tuple[Tensor, ...]:
    """Return the slopes by each head's own query, key and value, (n_heads, n, d), of those by what it hands over."""
    trace = stream.traces[layer]
    if not isinstance(trace.score, ScaledDot) or trace.score.cap is not None:
        raise UnsupportedError("the scores are no plain scaled products, whose slopes are known")
    factor, rows = trace.score.factor(trace.key.shape[-1]), []
    for head, slope in enumerate(slopes):
        weights, value = trace.weights(head), trace.value_of(head)
        by_weights = slope @ value.T
        by_scores = factor * weights * (by_weights - (weights * by_weights).sum(1, keepdim=True))
        rows.append((by_scores @ trace.key_of(head), by_scores.T @ trace.query[head], weights.T @ slope))
    return tuple(torch.stack(states) for states in zip(*rows, strict=True))
