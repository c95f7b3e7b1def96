"""The residual stream of one run as a sum: of the embedding, every head, every MLP and the biases.

A norm is linear once its scale is frozen, and so are projections, rotary positions and, with its weights as they were,
a head. So whatever reads the stream is a sum over sources; a head among them is a sum over the tokens that it looked
at, and each of those, again, over the sources of its stream. Sums are in float64 where the device has it.
Source: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits".
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attention_core.attention.trace import AttentionTrace
from attention_core.deprecated import renamed_attribute
from attention_core.device import device_of
from attention_core.hub.tracing import UnsupportedError, hooked, run_model
from attention_core.study.families import FrozenNorm, family_of, matrix, projection, submodule
from attention_core.study.sites import states_of

BIAS = "biases"
MAX_NUMBERS = 500_000  # of the sources that go through a linear map together, 4 MB


@dataclass(frozen=True, eq=False)
class Source:
    """A part of a sum of vectors."""

    # "embedding", "2.0" for head 0 of layer 2, "mlp 2", "biases"; of a part what follows the name of the whole, such as
    # " of 5 car" or ": embedding"
    name: str
    vectors: Tensor  # (n_positions, d) or (d,), what it adds
    # gives the sources that add up to it; None = it is no sum, as of an MLP
    terms: Callable[[], Iterator[Source]] | None = None

    parts = renamed_attribute("terms")


def all_through(sources: Iterable[Source], linear: Callable[[Tensor], Tensor]) -> Iterator[Source]:
    """Yield what a linear map makes of each source, and of its parts; it is given several at a time, stacked."""
    stream = iter(sources)
    while first := next(stream, None):
        portion = [first, *islice(stream, MAX_NUMBERS // max(first.vectors.numel(), 1))]
        for source, vectors in zip(portion, linear(torch.stack([source.vectors for source in portion])), strict=True):
            terms = source.terms
            yield Source(source.name, vectors, None if terms is None else partial(_terms_through, terms, linear))


def _terms_through(terms: Callable[[], Iterator[Source]], linear: Callable[[Tensor], Tensor]) -> Iterator[Source]:
    return all_through(terms(), linear)


class Stream:
    """One run of a model of a described architecture, and the sources of everything in it.

    UnsupportedError where the architecture is not described, or this model is not built as its description says.
    """

    def __init__(self, model: Any, inputs: Mapping[str, Any], tokens: Sequence[str] = ()) -> None:
        self.family, family = family_of(model), family_of(model)
        is_half = any(parameter.dtype in (torch.float16, torch.bfloat16) for parameter in model.parameters())
        self.model, self.inputs, self.precise = model, inputs, deepcopy(model).float() if is_half else model
        base = self.precise.base_model
        self.layers: list[nn.Module] = list(submodule(base, family.layers) or ())
        self.attentions: list[Any] = [submodule(layer, family.attention) for layer in self.layers]
        self.head = [submodule(self.precise, path) for path in family.head]
        self.final = submodule(base, family.final)
        after = [submodule(layer, path) for layer in self.layers for path in family.after]
        norms = [submodule(layer, path) for layer in self.layers for path in (family.reads, family.writes)]
        mlps = [submodule(layer, family.mlp) for layer in self.layers]
        normed = [attention for attention in self.attentions if submodule(attention, "q_norm")]
        read_inputs = {*self.layers, *normed, *norms, *after, self.final, *self.head} - {None}
        read_outputs = {*self.head, *self.layers[-1:], *mlps} - {None}
        with watching_calls(read_inputs, read_outputs, {*self.attentions}) as self.calls:
            self.recording, self.output = run_model(self.precise, inputs)
        self.traces: list[AttentionTrace] = self.recording.traces
        if len(self.traces) != len(self.layers) or any(module not in self.calls for module in self.attentions):
            raise UnsupportedError(f"this {type(model).__name__} has other attentions than its layers say")
        self.dtype = torch.float32 if device_of(self.precise).type == "mps" else torch.float64
        self.tokens = [*tokens] or [*map(str, range(self.traces[0].n_queries))]
        self.reads = [self._norm(submodule(layer, family.reads)) for layer in self.layers]
        self.writes = [self._norm(submodule(layer, family.writes)) for layer in self.layers]
        self.after = [self._norm(norm) for norm in after]

    def _norm(self, module: Any) -> FrozenNorm | None:
        return None if module is None else FrozenNorm(module, self.input_of(module), self.dtype)

    def input_of(self, module: Any) -> Tensor:
        """Return the states (n, d) that a module was given in the run."""
        return self.calls[module].input

    def output_of(self, module: Any) -> Tensor:
        """Return what a module put out in the run, (n, d), in the precision of sums."""
        return self.calls[module].output.to(self.dtype)

    def states(self, layer: int) -> Tensor:
        """Return the stream (n, d_model) with which a layer begins; n_layers = after the last one."""
        is_before_layer = layer < len(self.layers)
        return self.input_of(self.layers[layer]) if is_before_layer else self.calls[self.layers[-1]].output

    def read_head(self, states: Tensor) -> Tensor:
        """Return the logits (n, n_outputs) that the head makes of the last norm's outputs (n, d_model)."""
        if not self.family.between:
            name, *others = {path.split(".")[0] for path in self.family.head}
            if others:
                raise UnsupportedError(f"the head of {type(self.precise).__name__} is no module of its own")
            return getattr(self.precise, name)(states)
        for module in self.head[:-1]:
            states = getattr(torch, self.family.between)(module(states))
        return self.head[-1](states)

    def sources(self, layer: int, positions: Tensor) -> Iterator[Source]:
        """Yield what adds up to the stream with which a layer begins, (n_positions, d_model) each, the biases last."""
        embedding = self.states(0).to(self.dtype)[positions]
        yield Source("embedding", self._carried(embedding, 0, layer, positions))
        biases = torch.zeros_like(embedding)
        for number in range(layer):

            def carry(vectors: Tensor, after: int = 2 * number) -> Tensor:
                return self._carried(vectors, after, layer, positions)

            output, output_bias = (tensor.to(self.dtype) for tensor in self._output(number))
            yield from all_through(self._heads(number, output, positions), carry)
            biases += carry(self._written(number, output_bias.expand_as(biases), positions))
            if (norm := self.after[2 * number]) is not None:
                biases += self._carried(norm.bias.expand_as(biases), 2 * number + 1, layer, positions)
            added = self.output_of(submodule(self.layers[number], self.family.mlp))[positions]
            yield Source(f"mlp {number}", self._carried(added, 2 * number + 1, layer, positions))
            if (norm := self.after[2 * number + 1]) is not None:
                biases += self._carried(norm.bias.expand_as(biases), 2 * number + 2, layer, positions)
        yield Source(BIAS, biases)

    def _carried(self, vectors: Tensor, after: int, layer: int, positions: Tensor) -> Tensor:
        """Return what the norms of the stream itself, from one on up to a layer, make of vectors in it."""
        for norm in self.after[after : 2 * layer]:
            vectors = vectors if norm is None else norm(vectors, positions)
        return vectors

    def output_matrix(self, layer: int) -> Tensor:
        """Return W_O of all heads of a layer, (n_heads * d_v, d_model)."""
        return self._output(layer)[0]

    def slopes_by_stream(self, layer: int, *slopes: Tensor) -> Tensor:
        """Return slopes by the stream with which a layer begins, through each head's query, key and value alone.

        The slopes by query, key and value, (n_heads, n, d) each, become (3, n_heads, n, d_model). Of norms, too, these
        are the slopes that they have.
        """
        trace, attention, pulled_back = self.traces[layer], self.attentions[layer], []
        for which, by_input in enumerate(slopes):
            n_heads = (trace.query, trace.key, trace.value)[which].shape[0]
            weights, biases = projection(self.family, attention, which, n_heads)
            with torch.enable_grad():
                states = self.states(layer).detach().clone().requires_grad_()
                norm = submodule(self.layers[layer], self.family.reads)
                projected = (states if norm is None else norm(states)) @ weights + biases[:, None]
                if which < 2:
                    norm = submodule(attention, ("q_norm", "k_norm")[which])
                    projected = projected if norm is None else norm(projected)
                    projected = self._rotated(attention, projected, slice(None))
                group = trace.n_heads // n_heads
                by_head = [
                    torch.autograd.grad(projected[head // group], states, slope, retain_graph=True)[0]
                    for head, slope in enumerate(by_input)
                ]
            pulled_back.append(torch.stack(by_head))
        return torch.stack(pulled_back)

    def _output(self, layer: int) -> tuple[Tensor, Tensor]:
        return matrix(submodule(self.layers[layer], self.family.output))

    def _written(self, layer: int, vectors: Tensor, positions: Tensor) -> Tensor:
        norm = self.writes[layer]
        return vectors if norm is None else norm(vectors, positions)

    def _heads(self, layer: int, output: Tensor, positions: Tensor) -> Iterator[Source]:
        """Yield what each head adds to the stream through W_O; its parts are the tokens that it looked at."""
        trace = self.traces[layer]
        for head, slice_of_head in enumerate(output.unflatten(0, (trace.n_heads, -1))):  # (d_v, d_model)
            context = trace.weights(head, positions).to(self.dtype) @ trace.value_of(head).to(self.dtype)
            vectors = self._written(layer, context @ slice_of_head, positions)
            yield Source(f"{layer}.{head}", vectors, partial(self._terms_by_token, layer, head, positions))

    def _terms_by_token(self, layer: int, head: int, positions: Tensor) -> Iterator[Source]:
        trace = self.traces[layer]
        output = self._output(layer)[0].unflatten(0, (trace.n_heads, -1))[head].to(self.dtype)
        weights = trace.weights(head, positions).to(self.dtype)
        values = trace.value_of(head).to(self.dtype)
        for key in range(trace.n_keys):

            def weigh(value: Tensor, key: int = key) -> Tensor:  # values, each weighed at each position
                return self._written(layer, (weights[:, key, None] * value) @ output, positions)

            name = f" of {key} {self.tokens[key].strip()}"
            yield Source(name, weigh(values[key]), partial(self._value, layer, head, key, weigh))

    def _value(self, layer: int, head: int, key: int, read: Callable[[Tensor], Tensor]) -> Iterator[Source]:
        position = torch.tensor([key], device=self.traces[layer].value.device)
        values = all_through(self.read(layer, head, 2, position), read)
        return (replace(source, name=f": {source.name}") for source in values)

    def read(self, layer: int, head: int, which: int, positions: Tensor) -> Iterator[Source]:
        """Yield what adds up to a head's query, key or value (which = 0, 1, 2), (n_positions, d) each, biases last.

        Query and key are as they meet: normed and rotated where the architecture does so.
        """
        trace, attention = self.traces[layer], self.attentions[layer]
        n_heads = (trace.query, trace.key, trace.value)[which].shape[0]
        key_head = head // (trace.n_heads // n_heads)
        weights, biases = projection(self.family, attention, which, n_heads)
        weight, norm = weights[key_head].to(self.dtype), self.reads[layer]
        finish = self._finish(attention, which, key_head, n_heads, weights, biases) if which < 2 else None

        def project(vectors: Tensor) -> Tensor:
            projected = (vectors if norm is None else norm(vectors, positions)) @ weight
            return projected if finish is None else finish(projected, positions)

        for source in all_through(self.sources(layer, positions), project):
            if source.name == BIAS:
                bias = biases[key_head].to(self.dtype) + (0 if norm is None else norm.bias @ weight)
                bias = bias.expand_as(source.vectors)
                source = Source(BIAS, source.vectors + (bias if finish is None else finish(bias, positions)))
            yield source

    def _finish(
        self, attention: Any, which: int, key_head: int, n_heads: int, weights: Tensor, biases: Tensor
    ) -> Callable[[Tensor, Tensor], Tensor]:
        """Return what is done to projected queries or keys of a head: a frozen norm, a rotation."""
        norm = submodule(attention, ("q_norm", "k_norm")[which])
        frozen, columns = None, slice(None)
        if norm is not None:
            all_heads = torch.einsum("nd,hde->nhe", self.input_of(attention), weights) + biases  # (n, n_heads, d)
            is_joint = norm.weight.shape[-1] > all_heads.shape[-1]
            if is_joint:
                columns = slice(key_head * all_heads.shape[-1], (key_head + 1) * all_heads.shape[-1])
            frozen = FrozenNorm(norm, all_heads.flatten(1) if is_joint else all_heads[:, key_head], self.dtype)

        def finish(vectors: Tensor, positions: Tensor) -> Tensor:
            vectors = vectors if frozen is None else frozen(vectors, positions, columns)
            return self._rotated(attention, vectors, positions)

        return finish

    def _rotated(self, attention: Any, vectors: Tensor, positions: Any) -> Tensor:
        """Return vectors (..., n_positions, d) turned by their positions, where the architecture does so."""
        rotary: Any = self.calls[attention].settings.get("position_embeddings")
        if rotary is None:
            return vectors
        turns = [tensor[0].to(vectors)[positions][None] for tensor in rotary]
        as_heads = vectors.reshape(1, -1, *vectors.shape[-2:])
        rotate = sys.modules[type(attention).__module__].apply_rotary_pos_emb
        return rotate(as_heads, as_heads, *turns)[0].reshape(vectors.shape)


class ModuleCall(NamedTuple):
    """The input and output of a module for the first item, (n, d), and what else it was called with."""

    input: Tensor  # empty of modules whose input nobody reads, as is the output
    output: Tensor
    settings: Mapping[str, Any]


@contextmanager
def watching_calls(
    read_inputs: Set[nn.Module], read_outputs: Set[nn.Module], read_settings: Set[nn.Module]
) -> Iterator[dict[nn.Module, ModuleCall]]:
    """Keep the last call of each of these modules inside the block, with what is read of it."""
    calls: dict[nn.Module, ModuleCall] = {}

    def keep(module: nn.Module, args: Any, settings: Any, output: Any) -> None:
        inputs = args[0] if args else settings["hidden_states"]
        input_states, output_states = (
            torch.atleast_2d(states.detach()[0]) if module in readers else states.new_empty(0)
            for states, readers in ((inputs, read_inputs), (states_of(output), read_outputs))
        )
        others = {name: value for name, value in settings.items() if value is not inputs}
        calls[module] = ModuleCall(input_states, output_states, others)

    with hooked(read_inputs | read_outputs | read_settings, keep, with_kwargs=True):
        yield calls
