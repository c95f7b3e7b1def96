"""Which parts of a run make a logit: direct logit attribution, and what a model would say after each layer.

Sources: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"; Wang et al. 2022, "Interpretability in
the Wild", section 3.1; the lens, nostalgebraist 2020, "interpreting GPT: the logit lens".
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from attention_core.hub.outputs import token_text
from attention_core.hub.tracing import UnsupportedError
from attention_core.study.effects import margin
from attention_core.study.families import FrozenNorm, matrix
from attention_core.study.output import Metric, ModelOutput, Table, linear_slopes_of
from attention_core.study.sources import BIAS, Source, Stream, all_through

Stage = tuple[Callable[[Tensor], Tensor], Tensor]
"""What a linear map makes of slopes by its output, those by its input; and the bias (d,) that it adds."""


@dataclass(eq=False)
class Attribution(Table):
    """A metric that is linear in the logits as a sum over the parts of a run.

    Attributes:
        value: the metric, before a softcap of the logits.
        sources: the parts, whose vectors are numbers here.
        shape: (n_layers, n_heads).
        residue: what the parts leave, by rounding.
        note: what else was frozen or left out; empty = nothing.
        margins: of means over several inputs, half the 95 % interval of each part, by name.
    """

    value: float
    sources: Sequence[Source]
    shape: tuple[int, int]
    residue: float
    note: str = ""
    margins: Mapping[str, float] = field(default_factory=dict)

    def __getitem__(self, name: str) -> float:
        """Return what a part adds: "embedding", "2.0", "mlp 2", "biases"."""
        return next(float(source.vectors) for source in self.sources if source.name == name)

    @property
    def heads(self) -> Tensor:
        """(n_layers, n_heads)."""
        n_layers, n_heads = self.shape
        return torch.tensor([[self[f"{layer}.{head}"] for head in range(n_heads)] for layer in range(n_layers)])

    def columns(self) -> Mapping[str, Sequence[Any]]:
        parts = [*(source.name for source in self.sources), "residue"]
        columns: dict[str, Any] = {"part": parts}
        columns["value"] = [*(float(source.vectors) for source in self.sources), self.residue]
        return columns | ({"margin": [self.margins.get(part, 0.0) for part in parts]} if self.margins else {})


def average_attributions(results: Sequence[Attribution]) -> Attribution:
    """Return the mean of attributions over several inputs, with margins."""
    values = torch.stack([torch.stack([source.vectors for source in result.sources]) for result in results])
    names = [source.name for source in results[0].sources]
    value, residue = (
        sum(numbers) / len(results) for numbers in zip(*((r.value, r.residue) for r in results), strict=True)
    )
    margins = dict(zip(names, margin([*values]).tolist(), strict=True))
    sources = [*map(Source, names, values.mean(0))]
    return replace(results[0], value=value, sources=sources, residue=residue, margins=margins)


def attribute(stream: Stream, metric: Metric, tokenizer: Any = None) -> Attribution:
    """Return which parts add how much to a metric.

    Raises:
        UnsupportedError: the logits are not read off the last layer by a described head.
        ValueError: the metric is not linear in the logits, or in the last layer of a model without them.
    """
    output, note, row = ModelOutput.of_batch(stream.output, tokenizer)[0], "", 0
    logits = output.logits
    if logits is not None:
        if any(module is None or module not in stream.calls for module in stream.head):
            raise UnsupportedError("its logits are not read off the last layer by a head that is described")
        before_cap = stream.calls[stream.head[-1]].output.float()
        row = len(before_cap) - 1  # of a classifier's only logits: a decoder reads its last token
        output = replace(output, logits=before_cap[row] if logits.ndim == 1 else before_cap)
    value, positions, by_logits, slope = linear_slopes_of(metric, output)
    if by_logits is not None:
        is_alike = torch.allclose(output.logits_at(positions), ModelOutput(logits).logits_at(positions), atol=1e-4)
        note = "The logits are taken before the softcap." * (not is_alike)
        positions = positions if len(positions) else torch.tensor([row], device=by_logits.device)
        slope = torch.atleast_2d(by_logits)
    else:
        assert slope is not None
        positions = slope.any(-1).nonzero()[:, 0]
        slope = slope[positions]
    slope = slope.to(stream.dtype)
    columns = slope.any(0).nonzero()[:, 0]  # of the logits that the metric reads
    slope = slope[:, columns] if by_logits is not None else slope
    if len(stream.head) > 1 and by_logits is not None:
        note = f"{note} The function between the last layer and the logits is frozen at its own ratio.".strip()
    biases = slope.new_zeros(())
    for pull_back, bias in reversed([*_stages(stream, positions, () if by_logits is None else stream.head, columns)]):
        biases, slope = biases + (bias * slope).sum(), pull_back(slope)

    def to_value(vectors: Tensor) -> Tensor:
        return (vectors * slope).sum((-2, -1))

    sources = [*all_through(stream.sources(len(stream.layers), positions), to_value)]
    sources[-1] = Source(BIAS, sources[-1].vectors + biases)
    residue = value - float(sum(source.vectors for source in sources))
    return Attribution(value, sources, (len(stream.layers), stream.traces[0].n_heads), residue, note)


def _stages(stream: Stream, positions: Tensor, head: Sequence[Any], columns: Tensor) -> Iterator[Stage]:
    """Yield what lies between the stream after the last layer and these columns of the logits."""
    before = None
    for module in filter(None, (stream.final, *head)):
        if before is not None and before is not stream.final:
            before_function = stream.output_of(before)
            gate = torch.where(before_function == 0, 0, stream.input_of(module) / before_function)[positions]
            yield partial(torch.mul, gate), torch.zeros_like(gate[0])
        if hasattr(module, "weight") and module.weight.ndim == 2:
            weight, bias = matrix(module)
            if module is head[-1]:
                weight, bias = weight[:, columns], bias[columns]
            yield partial(torch.matmul, other=weight.T.to(stream.dtype)), bias.to(stream.dtype)
        else:
            norm = FrozenNorm(module, stream.input_of(module), stream.dtype)
            yield partial(norm.pull_back, positions=positions), norm.bias
        before = module


@dataclass(eq=False)
class Lens(Table):
    """What a model would say after each layer.

    Attributes:
        logits: (n_layers + 1, n_tokens), of the embedding and then after each layer, at the last of the positions.
        likeliest: of each of them, the (text, probability) of those that are likeliest, best first.
        positions: at which it was computed.
        by_position: for each of them, what `likeliest` is at the last.
    """

    logits: Tensor
    likeliest: Sequence[Sequence[tuple[str, float]]]
    positions: Sequence[int]
    by_position: Sequence[Sequence[Sequence[tuple[str, float]]]]

    def columns(self) -> Mapping[str, Sequence[Any]]:
        rows = [
            (position, layer, rank, *token)
            for position, layers in zip(self.positions, self.by_position, strict=True)
            for layer, tokens in enumerate(layers)
            for rank, token in enumerate(tokens)
        ]
        return dict(zip(("position", "layer", "rank", "token", "probability"), zip(*rows, strict=True), strict=True))


def lens(stream: Stream, namer: Any, position: int | None, n: int) -> Lens:
    """Return what the model's last norm and head read from the stream at a position, or at each, after each layer.

    UnsupportedError where the model has no head that is described.
    """
    model = stream.precise
    if any(module is None for module in stream.head):
        raise UnsupportedError(f"{type(model).__name__} has no head that says a word or a class")
    n_positions = len(stream.states(0))
    positions = range(n_positions) if position is None else [range(n_positions)[position]]
    by_position, logits = [], torch.empty(0)
    for row in positions:
        states = torch.stack([stream.states(layer)[row] for layer in range(len(stream.layers) + 1)])
        with torch.no_grad():
            logits = stream.read_head(states if stream.final is None else stream.final(states)).float()
        if cap := getattr(model.config, "final_logit_softcapping", None):
            logits = cap * (logits / cap).tanh()
        top = logits.softmax(-1).topk(min(n, logits.shape[-1]))
        pairs = zip(top.indices.tolist(), top.values.tolist(), strict=True)
        by_position.append([[*zip([_name(namer, i) for i in ids], shares, strict=True)] for ids, shares in pairs])
    return Lens(logits.cpu(), by_position[-1], positions, by_position)


def _name(namer: Any, number: int) -> str:
    if isinstance(namer, dict):
        return next((name for name, index in namer.items() if index == number), str(number))
    return token_text(namer, number) if hasattr(namer, "convert_ids_to_tokens") else str(number)
