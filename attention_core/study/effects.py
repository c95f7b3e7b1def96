"""Ablation and patching: what a model's output becomes when a part of its run is exchanged, for many parts in a batch.

Sources: ablation by zeros, Michel et al. 2019, "Are Sixteen Heads Really Better than One?"; by means and by other
inputs, Chan et al. 2022, "Causal Scrubbing"; of edges, Geva et al. 2023, "Dissecting Recall of Factual Associations",
section 5; patching, Meng et al. 2022, "Locating and Editing Factual Associations in GPT", section 2; by gradients,
Nanda 2023, "Attribution Patching".
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attention_core.attention.edits import BlockEdge, DropHead, Edit, Edits, OutputFrom, PatternFrom, RunHead
from attention_core.attention.trace import AttentionTrace, spans
from attention_core.hub.ablation import MAX_ITEMS, MAX_NUMBERS
from attention_core.hub.tracing import run_items, run_model
from attention_core.study.output import Metric, ModelOutput, number
from attention_core.study.sites import MODULES, Activations, Site, evaluated, hooked, parts_of, states_of, with_states
from attention_core.study.table import Table

ACROSS = {"head_out": "head", "pattern": "head", "layer": "", "edge": "key"}
"""What stands beside the layers in a map of a site; of others it is the position."""


@dataclass(eq=False)
class Effects(Table):
    """A metric after each of many changes of a run.

    Attributes:
        values: (n_layers, n_heads), (n_layers, n_positions) or (n_layers,); nan where there is no such part.
        before: the metric of the run without any change.
        goal: of patching, the metric of the run from which the parts were taken; else nan.
        site: what was changed.
        tokens: of the positions.
        estimate: what one gradient foretells, as values; None where it was not asked for or there is none.
    """

    values: Tensor
    before: float
    goal: float = float("nan")
    site: Site = "head_out"
    tokens: Sequence[str] = ()
    estimate: Tensor | None = None

    @property
    def change(self) -> Tensor:
        return self.values - self.before

    @property
    def correlation(self) -> float:
        """Pearson's, between the changes and what the gradient foretells; nan without an estimate."""
        if self.estimate is None:
            return float("nan")
        known = ~self.values.isnan()
        return float(torch.corrcoef(torch.stack([self.change[known], self.estimate[known] - self.before]))[0, 1])

    def columns(self) -> Mapping[str, Sequence[Any]]:
        across = ACROSS.get(self.site, "position")
        places = (~self.values.isnan()).nonzero()
        columns: dict[str, Any] = {"layer": places[:, 0].tolist()}
        if across:
            columns[across] = places[:, 1].tolist()
        if across in ("position", "key") and self.tokens:
            columns["token"] = [self.tokens[place] for place in columns[across]]
        where = tuple(places.T)
        columns |= {"value": self.values[where].tolist(), "change": self.change[where].tolist()}
        return columns if self.estimate is None else columns | {"estimate": self.estimate[where].tolist()}


class Change(NamedTuple):
    """One change of a run: edits of its attentions, and numbers written over the outputs of modules at positions."""

    edits: Mapping[int, Edits] = {}
    writes: Mapping[nn.Module, tuple[Any, Tensor]] = {}


@dataclass(eq=False)
class Runner:
    """A model and the inputs of one item, to be run with many changes at a time."""

    model: Any
    inputs: Mapping[str, Any]
    tokenizer: Any = None
    n_at_once: int = field(default=MAX_ITEMS)

    def outputs(self, changes: Sequence[Change]) -> Iterator[ModelOutput]:
        for span in spans(0, len(changes), self.n_at_once):
            some = changes[span]
            inputs = {name: _repeated(value, len(some)) for name, value in self.inputs.items()}
            with torch.no_grad(), _writing(some):
                if any(change.edits for change in some):
                    output = run_items(self.model, inputs, [change.edits for change in some])
                else:
                    output = evaluated(self.model, inputs)
            yield from ModelOutput.of_batch(output, self.tokenizer)

    def measured(self, changes: Sequence[Change], metric: Metric) -> list[float]:
        return [number(metric(output)) for output in self.outputs(changes)]


def changes_at(
    site: Site, own: Activations, other: Activations, model: Any, positions: Sequence[int] | None = None
) -> dict[tuple[int, ...], Change]:
    """Return the changes that put another run's activations into a run at a site, by their places in a map.

    Only rows of these positions are exchanged; None = all of them.
    """
    changes: dict[tuple[int, ...], Change] = {}
    modules = parts_of(model, site) if site in MODULES else []
    for layer, (mine, theirs) in enumerate(zip(own, other, strict=True)):
        rows = range(mine.shape[1]) if positions is None else positions
        if modules:
            changes |= {(layer, row): Change(writes={modules[layer]: (row, theirs[0, row])}) for row in rows}
            continue
        n_heads = range(len(mine))
        if site == "position":
            changes |= {
                (layer, row): Change({layer: _exchanged(site, layer, n_heads, mine, theirs, [row])}) for row in rows
            }
        elif site == "layer":
            changes[layer,] = Change({layer: _exchanged(site, layer, n_heads, mine, theirs, rows)})
        else:
            changes |= {
                (layer, head): Change({layer: _exchanged(site, layer, [head], mine, theirs, rows)}) for head in n_heads
            }
    return changes


def _exchanged(
    site: Site, layer: int, heads: Sequence[int], mine: Tensor, theirs: Tensor, rows: Sequence[int]
) -> Edits:
    """Return the edits that give heads of a layer what another run has in some rows."""
    mixed = mine[heads].clone()
    mixed[:, list(rows)] = theirs[heads][:, list(rows)].to(mixed)
    kind: Any = PatternFrom if site == "pattern" else OutputFrom
    return [kind(head, RunHead("", "another run", layer, head), its) for head, its in zip(heads, mixed, strict=True)]


def cut_edges(
    traces: Sequence[AttentionTrace], query: int, window: int, heads: Sequence[tuple[int, int]] | None
) -> dict[tuple[int, ...], Change]:
    """Return the changes that hide each key from a query, in so many layers around each; in some heads or in all."""
    changes: dict[tuple[int, ...], Change] = {}
    for layer, trace in enumerate(traces):
        first = max(0, min(layer - window // 2, len(traces) - window))
        for key in range(trace.n_keys):
            edits: dict[int, list[Edit]] = {}
            for near in range(first, min(first + window, len(traces))):
                of_layer: list[int | None] = [None] if heads is None else [h for number, h in heads if number == near]
                edits[near] = [BlockEdge(query % trace.n_queries, key, head) for head in of_layer]
            changes[layer, key] = Change(edits)
    return changes


def dropped(
    traces: Sequence[AttentionTrace], heads: Sequence[tuple[int, int]] | None, site: Site
) -> dict[tuple[int, ...], Change]:
    """Return the changes that drop each head, or all heads of each layer."""
    every = [(layer, head) for layer, trace in enumerate(traces) for head in range(trace.n_heads)]
    if site == "layer":
        return {(layer,): Change({layer: [*map(DropHead, range(trace.n_heads))]}) for layer, trace in enumerate(traces)}
    return {(layer, head): Change({layer: [DropHead(head)]}) for layer, head in heads or every}


@dataclass(frozen=True)
class _Nudge(Edit):
    """Adds to a head's output what is 0, of which a gradient tells how much more of it would matter."""

    name = "nudge"
    target = "context"

    head: int
    by: Tensor = field(compare=False)

    def context(self, head: int, context: Tensor) -> Tensor:
        return context + self.by if self.applies_to(head) else context


def _add(nudge: Tensor, _module: nn.Module, _inputs: Any, output: Any) -> Any:
    states = states_of(output)
    return with_states(output, states + nudge.reshape(states.shape))


def slopes(runner: Runner, site: Site, own: Activations, metric: Metric) -> Activations:
    """Return the gradient of a metric by the activations at a site, in the run of the inputs as they are."""
    nudges = [torch.zeros_like(one).requires_grad_() for one in own]
    with torch.enable_grad():
        if site in MODULES:
            modules = parts_of(runner.model, site)
            hooks = {module: partial(_add, nudge) for module, nudge in zip(modules, nudges, strict=True)}
            with hooked(hooks):
                output = evaluated(runner.model, runner.inputs)
        else:
            edits = {layer: [_Nudge(head, by) for head, by in enumerate(nudge)] for layer, nudge in enumerate(nudges)}
            output = run_model(runner.model, runner.inputs, edits=edits, gradients=True)[1]
        value = metric(ModelOutput.of_batch(output, runner.tokenizer)[0])
        return list(torch.autograd.grad(value, nudges))


def foretold(
    site: Site, own: Activations, other: Activations, gradient: Activations, positions: Sequence[int] | None
) -> list[Tensor]:
    """Return what a gradient foretells of each change of changes_at, layer by layer: slope times difference."""
    rows = slice(None) if positions is None else list(positions)
    each = [
        ((theirs - mine) * slope).sum(-1)[:, rows] for mine, theirs, slope in zip(own, other, gradient, strict=True)
    ]
    over: Any = {"head_out": 1, "layer": (0, 1)}.get(site, 0)
    return [one.sum(over) for one in each]


def as_map(values: Mapping[tuple[int, ...], float]) -> Tensor:
    """Return values by place as one tensor, nan where there is none."""
    shape = [1 + max(place[axis] for place in values) for axis in range(len(next(iter(values))))]
    result = torch.full(shape, float("nan"), dtype=torch.float64)
    for place, value in values.items():
        result[place] = value
    return result


def n_at_once(output: ModelOutput) -> int:
    """Return how many items a batch may have so that their logits stay in bounds."""
    n_numbers = 1 if output.logits is None else output.logits.numel()
    return max(1, min(MAX_ITEMS, MAX_NUMBERS // n_numbers))


@contextmanager
def _writing(changes: Sequence[Change]) -> Iterator[None]:
    """Write over the outputs of modules, in each item what its change says."""

    def write(module: nn.Module, _: Any, output: Any) -> Any:
        states = states_of(output).clone()
        by_item = states.view(len(changes), -1, states.shape[-1])
        for item, change in enumerate(changes):
            if module in change.writes:
                position, new = change.writes[module]
                by_item[item, position] = new.to(states)
        return with_states(output, states)

    with hooked(dict.fromkeys((module for change in changes for module in change.writes), write)):
        yield


def _repeated(value: Any, n: int) -> Any:
    return value.expand(n, *value.shape[1:]) if isinstance(value, Tensor) and value.ndim else value


def joined(clean: Mapping[str, Any], corrupt: Mapping[str, Any]) -> dict[str, Any]:
    """Return two inputs as one batch of two; a ValueError says that their lengths differ."""
    for name in clean:
        if isinstance(clean[name], Tensor) and clean[name].shape != corrupt[name].shape:
            raise ValueError(
                f"clean and corrupt need as many tokens, got {clean[name].shape[1]} and {corrupt[name].shape[1]} "
                f"in {name}"
            )
    return {
        name: torch.cat([value, corrupt[name]]) if isinstance(value, Tensor) else value for name, value in clean.items()
    }
