"""Everything of a run by name: "17.5.z" of a head, "residual.12" of a layer."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from torch import Tensor

from attention_core.attention.trace import AttentionTrace

OF_HEAD: dict[str, Callable[[AttentionTrace, int], Tensor]] = {
    "q": lambda trace, head: trace.query[head],
    "k": lambda trace, head: trace.key_of(head),
    "v": lambda trace, head: trace.value_of(head),
    "scores": lambda trace, head: trace.scores(head),
    "pattern": lambda trace, head: trace.weights(head),
    "z": lambda trace, head: trace.context(head),
}
"""What a head has: query, key and value as they meet, scores before the mask, weights, and what it hands over."""


class Cache(Mapping[str, Tensor]):
    """States of one run by name; those of a head are computed when they are read.

    Names are "LAYER.HEAD.q", also k, v, scores, pattern (the weights) and z (what the head hands over); and
    "residual.LAYER", the stream after a layer, and "mlp.LAYER", what its MLP adds, of models whose layers are modules.
    """

    def __init__(self, traces: Sequence[AttentionTrace], of_layers: Mapping[str, Sequence[Tensor]]) -> None:
        self._traces, self._of_layers = traces, of_layers

    def __getitem__(self, name: str) -> Tensor:
        if match := re.fullmatch(r"(\d+)\.(\d+)\.(\w+)", name):
            layer, head, state = int(match[1]), int(match[2]), match[3]
            if state in OF_HEAD and layer < len(self._traces) and head < self._traces[layer].n_heads:
                return OF_HEAD[state](self._traces[layer], head)
        elif match := re.fullmatch(r"([a-z]+)\.(\d+)", name):
            states = self._of_layers.get(match[1], ())
            if int(match[2]) < len(states):
                return states[int(match[2])]
        last = len(self._traces) - 1, self._traces[-1].n_heads - 1
        sites = "".join(f', "{site}.0" to "{site}.{len(states) - 1}"' for site, states in self._of_layers.items())
        raise KeyError(f'there is no "{name}": names are "0.0.z" to "{last[0]}.{last[1]}.z", also {[*OF_HEAD]}{sites}')

    def __iter__(self) -> Iterator[str]:
        for layer, trace in enumerate(self._traces):
            yield from (f"{layer}.{head}.{state}" for head in range(trace.n_heads) for state in OF_HEAD)
        yield from (f"{site}.{layer}" for site, states in self._of_layers.items() for layer in range(len(states)))

    def __len__(self) -> int:
        n_of_heads = len(OF_HEAD) * sum(trace.n_heads for trace in self._traces)
        return n_of_heads + sum(map(len, self._of_layers.values()))
