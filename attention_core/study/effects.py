"""Ablation and patching: what a model's output becomes when a part of its run is exchanged, for many parts in a batch.

Sources: ablation by zeros, Michel et al. 2019, "Are Sixteen Heads Really Better than One?"; by means and by other
inputs, Chan et al. 2022, "Causal Scrubbing"; of edges, Geva et al. 2023, "Dissecting Recall of Factual Associations",
section 5; patching, Meng et al. 2022, "Locating and Editing Factual Associations in GPT", section 2; by gradients,
Nanda 2023, "Attribution Patching".
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attention_core.attention.edits import BlockEdge, DropHead, Edit, Edits, HeadEdit, OutputFrom, PatternFrom, RunHead
from attention_core.attention.trace import AttentionTrace, spans
from attention_core.hub.outputs import MAX_ITEMS, repeated
from attention_core.hub.tracing import run_items
from attention_core.study.output import Metric, ModelOutput, Table, number
from attention_core.study.sites import MODULES, Activations, Projection, Site, Writes, changing, evaluated, parts_of

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
    """One change of a run: edits of its attentions, and what becomes of the outputs (n, d) of modules."""

    edits: Mapping[int, Edits] = MappingProxyType({})
    writes: Writes = MappingProxyType({})


Changes = dict[tuple[int, ...], Callable[[], Change]]
"""What makes each change when its turn comes, by its place in a map."""


@dataclass(eq=False)
class Runner:
    """A model and the inputs of one item, to be run with many changes at a time."""

    model: Any
    inputs: Mapping[str, Any]
    tokenizer: Any = None
    # of a model whose code no edit reaches, where each attention's heads are put together
    projections: Sequence[Projection] = ()
    n_at_once: int = MAX_ITEMS
    # is given the share of a map that is done
    progress: Callable[[float], Any] | None = None

    def outputs(self, changes: Sequence[Change], *, gradients: bool = False) -> list[ModelOutput]:
        """Return what the model puts out in one batch, in every item after its own change."""
        inputs = repeated(self.inputs, len(changes))
        edits = [change.edits for change in changes]
        by_hooks = self.projections and all(e.target == "context" for own in edits for its in own.values() for e in its)
        with torch.set_grad_enabled(gradients), changing([change.writes for change in changes]):
            if by_hooks:
                given = [_given(own, self.projections) for own in edits]
                with changing(given, before=True):
                    output = evaluated(self.model, inputs)
            elif any(edits):
                output = run_items(self.model, inputs, edits, gradients=gradients)
            else:
                output = evaluated(self.model, inputs)
        return ModelOutput.of_batch(output, self.tokenizer)

    def measured(self, changes: Changes, metric: Metric, only: Collection[tuple[int, ...]] | None = None) -> Tensor:
        """Return a metric after each change, or only those at some places, as a map; nan where there is none."""
        places, values = [*changes] if only is None else [*only], dict.fromkeys(changes, float("nan"))
        if wrong := [place for place in places if place not in changes]:
            raise IndexError(f"there is no part {wrong[0]}")
        for span in spans(0, len(places), self.n_at_once):
            outputs = self.outputs([changes[place]() for place in places[span]])
            values |= {place: number(metric(one)) for place, one in zip(places[span], outputs, strict=True)}
            if self.progress:
                self.progress(span.stop / len(places))
        return as_map(values)


def _given(edits: Mapping[int, Edits], projections: Sequence[Projection]) -> Writes:
    """Return what edits of contexts make of the heads side by side, (n, n_heads * d), which projections are given."""

    def change(side_by_side: Tensor, n_heads: int, own: Edits) -> Tensor:
        heads = [*side_by_side.unflatten(-1, (n_heads, -1)).unbind(-2)]
        for edit in own:
            heads = [edit.context(head, one) if edit.applies_to(head) else one for head, one in enumerate(heads)]
        return torch.cat(heads, -1)

    places = [(*projections[layer], own) for layer, own in edits.items()]
    return {module: partial(change, n_heads=n_heads, own=own) for module, n_heads, own in places}


def from_start(what: str, place: int, n: int) -> int:
    """Return a place counted from 0, which may be counted from the end, below 0; an IndexError says that it is none."""
    if not -n <= place < n:
        raise IndexError(f"{what} must be from 0 to {n - 1}, got {place}")
    return place % n


def parts_at(
    site: Site, own: Activations, positions: Sequence[int] | None
) -> Iterator[tuple[tuple[int, ...], list[int], list[int]]]:
    """Yield the parts of a run at a site: place in a map, heads, positions (None = all); or an IndexError for these."""
    for layer, mine in enumerate(own):
        heads, n = [*range(len(mine))], mine.shape[1]
        rows = [*range(n)] if positions is None else [from_start("positions", row, n) for row in positions]
        if site == "layer":
            yield (layer,), heads, rows
        elif site in ("head_out", "pattern"):
            yield from (((layer, head), [head], rows) for head in heads)
        else:
            yield from (((layer, row), heads, [row]) for row in rows)


def changes_at(
    site: Site, own: Activations, other: Activations, model: Any, positions: Sequence[int] | None = None
) -> Changes:
    """Return the changes that put another run's activations into a run at a site.

    Only rows of these positions are exchanged; None = all of them.
    """
    modules = parts_of(model, site) if site in MODULES else []
    changes: Changes = {}
    for place, heads, rows in parts_at(site, own, positions):
        layer, theirs = place[0], other[place[0]]
        if modules:
            write = partial(_write, row=rows[0], new=theirs[0, rows[0]])
            changes[place] = partial(Change, writes={modules[layer]: write})
        else:
            changes[place] = partial(_exchanged, site, layer, heads, own[layer], theirs, rows)
    return changes


def _write(states: Tensor, row: int, new: Tensor) -> Tensor:
    return torch.cat([states[:row], new.to(states)[None], states[row + 1 :]])


def carried(model: Any, other: Activations, states: Sequence[tuple[int, int, int]]) -> Change:
    """Return the change that puts states (layer, position of another run, position) into residual streams."""
    modules, writes = parts_of(model, "residual"), dict[Any, Callable[[Tensor], Tensor]]()
    for layer in {layer for layer, _, _ in states}:
        number = from_start("layers", layer, len(modules))
        rows = {
            to: other[number][0, from_start("positions", place, other[number].shape[1])]
            for one, place, to in states
            if one == layer
        }

        def write(own: Tensor, rows: Mapping[int, Tensor] = rows) -> Tensor:
            for to, new in rows.items():
                own = _write(own, from_start("positions", to, len(own)), new)
            return own

        writes[modules[number]] = write
    return Change(writes=writes)


def _exchanged(
    site: Site, layer: int, heads: Sequence[int], mine: Tensor, theirs: Tensor, rows: Sequence[int]
) -> Change:
    """Return the change that gives heads of a layer what another run has in some rows."""
    mixed = mine[heads].clone()
    mixed[:, list(rows)] = theirs[heads][:, list(rows)].to(mixed)
    kind: Any = PatternFrom if site == "pattern" else OutputFrom
    pairs = zip(heads, mixed, strict=True)
    return Change({layer: [kind(head, RunHead("", "another run", layer, head), its) for head, its in pairs]})


def cut_edges(
    traces: Sequence[AttentionTrace], query: int, window: int, heads: Sequence[tuple[int, int]] | None
) -> Changes:
    """Return the changes that hide each key from a query, in so many layers around each; in some heads or in all."""
    changes: Changes = {}
    for layer, trace in enumerate(traces):
        first = max(0, min(layer - window // 2, len(traces) - window))
        for key in range(trace.n_keys):
            edits: dict[int, list[Edit]] = {}
            for near in range(first, min(first + window, len(traces))):
                of_layer: list[int | None] = [None] if heads is None else [h for number, h in heads if number == near]
                edits[near] = [BlockEdge(query % trace.n_queries, key, head) for head in of_layer]
            changes[layer, key] = partial(Change, edits)
    return changes


def dropped(traces: Sequence[AttentionTrace], site: Site) -> Changes:
    """Return the changes that drop each head, or all heads of each layer."""
    own = [trace.query for trace in traces]
    return {place: partial(Change, {place[0]: [*map(DropHead, heads)]}) for place, heads, _ in parts_at(site, own, [])}


@dataclass(frozen=True)
class _Nudge(HeadEdit):
    """Adds to a head's output what is 0, of which a gradient tells how much more of it would matter."""

    name = "nudge"
    target = "context"

    head: int
    by: Tensor = field(compare=False)

    def context(self, head: int, context: Tensor) -> Tensor:
        return context + self.by


def foretold(
    runner: Runner,
    site: Site,
    own: Activations,
    other: Activations,
    metric: Metric,
    positions: Sequence[int] | None = None,
) -> Tensor:
    """Return the changes of the metric that one gradient foretells of changes_at: slope times difference.

    The gradient is that of the metric by the activations at a site, in the run of the inputs as they are.
    """
    nudges = [torch.zeros_like(one).requires_grad_() for one in own]
    if site in MODULES:
        modules = zip(parts_of(runner.model, site), nudges, strict=True)
        change = Change(writes={module: partial(torch.add, nudge[0]) for module, nudge in modules})
    else:
        change = Change({layer: [*map(_Nudge, count(), nudge)] for layer, nudge in enumerate(nudges)})
    with torch.enable_grad():
        answer = metric(runner.outputs([change], gradients=True)[0])
        slopes = torch.autograd.grad(answer, nudges, allow_unused=True, materialize_grads=True)
    steps = [((theirs - mine) * slope).sum(-1) for mine, theirs, slope in zip(own, other, slopes, strict=True)]
    places = parts_at(site, own, positions)
    return as_map({place: float(steps[place[0]][heads][:, rows].sum()) for place, heads, rows in places})


def as_map(values: Mapping[tuple[int, ...], float]) -> Tensor:
    """Return values by place as one tensor, nan where there is none."""
    shape = [1 + max(place[axis] for place in values) for axis in range(len(next(iter(values))))]
    result = torch.full(shape, float("nan"), dtype=torch.float64)
    for place, value in values.items():
        result[place] = value
    return result


def joined(clean: Mapping[str, Any], corrupt: Mapping[str, Any]) -> dict[str, Any]:
    """Return two inputs as one batch of two; a ValueError says that their lengths differ."""
    pairs = {name: (value, corrupt[name]) for name, value in clean.items() if isinstance(value, Tensor)}
    for name, (one, other) in pairs.items():
        if one.shape != other.shape:
            raise ValueError(
                f"clean and corrupt need as many tokens, got {one.shape[1]} and {other.shape[1]} in {name}"
            )
    return dict(clean) | {name: torch.cat(pair) for name, pair in pairs.items()}
