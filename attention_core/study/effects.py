"""Ablation and patching: a model's output after heads, layers or states of its run are exchanged, many runs in a batch.

Sources: ablation by zeros, Michel et al. 2019, "Are Sixteen Heads Really Better than One?"; by means and by other
inputs, Chan et al. 2022, "Causal Scrubbing"; of edges, Geva et al. 2023, "Dissecting Recall of Factual Associations",
section 5; patching, Meng et al. 2022, "Locating and Editing Factual Associations in GPT", section 2; by gradients,
Nanda 2023, "Attribution Patching".
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, count
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attention_core.attention.edits import BlockEdge, DropHead, Edit, Edits, HeadEdit, HeadRef, OutputFrom, PatternFrom
from attention_core.attention.trace import AttentionTrace, spans
from attention_core.hub.outputs import MAX_ITEMS, repeated
from attention_core.hub.tracing import run_items
from attention_core.study.output import Metric, ModelOutput, Table, number
from attention_core.study.sites import (
    MODULE_SITES,
    ActivationPatches,
    Activations,
    Projection,
    Site,
    changing,
    evaluated,
    modules_at,
)

MAP_COLUMNS = {"head_out": "head", "pattern": "head", "layer": "", "edge": "key"}
"""What the columns of a site's map are, beside its rows, the layers; of sites that are not here they are positions."""


@dataclass(eq=False)
class Effects(Table):
    """A metric after each of many changes of a run.

    Attributes:
        values: (n_layers, n_heads), (n_layers, n_positions) or (n_layers,); nan where a layer has no such cell.
        before: the metric of the run without any change.
        goal: of patching, the metric of the run from which activations were taken; nan of ablation.
        site: what was changed.
        tokens: of the positions.
        estimate: the values that one gradient predicts; None where they were not computed.
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
        """Pearson's correlation of the values with what the gradient predicts; nan without an estimate."""
        if self.estimate is None:
            return float("nan")
        has_value = ~self.values.isnan()
        return float(torch.corrcoef(torch.stack([self.values[has_value], self.estimate[has_value]]))[0, 1])

    def columns(self) -> Mapping[str, Sequence[Any]]:
        column = MAP_COLUMNS.get(self.site, "position")
        cells = (~self.values.isnan()).nonzero()
        columns: dict[str, Any] = {"layer": cells[:, 0].tolist()}
        if column:
            columns[column] = cells[:, 1].tolist()
        if column in ("position", "key") and self.tokens:
            columns["token"] = [self.tokens[position] for position in columns[column]]
        indices = tuple(cells.T)
        columns |= {"value": self.values[indices].tolist(), "change": self.change[indices].tolist()}
        return columns if self.estimate is None else columns | {"estimate": self.estimate[indices].tolist()}


class Change(NamedTuple):
    """One change of a run: edits of its attentions, and what becomes of the outputs (n, d) of modules."""

    edits: Mapping[int, Edits] = MappingProxyType({})
    patches: ActivationPatches = MappingProxyType({})


Changes = dict[tuple[int, ...], Callable[[], Change]]
"""By cell of a map, (layer,) or (layer, column), what builds its change; it is called only when that run comes."""


@dataclass(eq=False)
class Runner:
    """A model and the inputs of one item, which it runs with many changes at a time."""

    model: Any
    inputs: Mapping[str, Any]
    tokenizer: Any = None
    # the output projection of each attention, of a model whose attention cannot be edited
    projections: Sequence[Projection] = ()
    n_at_once: int = MAX_ITEMS
    # called with the share of a map that is done
    progress: Callable[[float], Any] | None = None

    def outputs(self, changes: Sequence[Change], *, gradients: bool = False) -> list[ModelOutput]:
        """Return the model's output of every change, all run in one batch."""
        inputs = repeated(self.inputs, len(changes))
        edits = [change.edits for change in changes]
        all_edits = chain.from_iterable(chain.from_iterable(item_edits.values() for item_edits in edits))
        by_hooks = self.projections and all(edit.target == "context" for edit in all_edits)
        with torch.set_grad_enabled(gradients), changing([change.patches for change in changes]):
            if by_hooks:
                patches = [_context_patches(item_edits, self.projections) for item_edits in edits]
                with changing(patches, before=True):
                    output = evaluated(self.model, inputs)
            elif any(edits):
                output = run_items(self.model, inputs, edits, gradients=gradients)
            else:
                output = evaluated(self.model, inputs)
        return ModelOutput.of_batch(output, self.tokenizer)

    def measure(self, changes: Changes, metric: Metric, only: Collection[tuple[int, ...]] | None = None) -> Tensor:
        """Return a metric after each change, or after those of the cells `only`, as a map; nan elsewhere."""
        cells, values = [*changes] if only is None else [*only], dict.fromkeys(changes, float("nan"))
        if missing := [cell for cell in cells if cell not in changes]:
            raise IndexError(f"there is no part {missing[0]}")
        for span in spans(0, len(cells), self.n_at_once):
            outputs = self.outputs([changes[cell]() for cell in cells[span]])
            values |= {cell: number(metric(output)) for cell, output in zip(cells[span], outputs, strict=True)}
            if self.progress:
                self.progress(span.stop / len(cells))
        return as_map(values)


def _context_patches(edits: Mapping[int, Edits], projections: Sequence[Projection]) -> ActivationPatches:
    """Return patches that make the edits in the input of each projection, all heads' contexts (n, n_heads * d)."""

    def change(side_by_side: Tensor, n_heads: int, layer_edits: Edits) -> Tensor:
        heads = [*side_by_side.unflatten(-1, (n_heads, -1)).unbind(-2)]
        for edit in layer_edits:
            for head in filter(edit.applies_to, range(n_heads)):
                heads[head] = edit.context(head, heads[head])
        return torch.cat(heads, -1)

    return {
        projections[layer].module: partial(change, n_heads=projections[layer].n_heads, layer_edits=layer_edits)
        for layer, layer_edits in edits.items()
    }


def index_from_start(name: str, index: int, n: int, *, may_be_negative: bool = True) -> int:
    """Return an index from 0 for one that may be negative and count from the end; IndexError where n is too small."""
    if not (-n if may_be_negative else 0) <= index < n:
        raise IndexError(f"{name} must be from 0 to {n - 1}, got {index}")
    return index % n


def targets_at(
    site: Site, activations: Activations, positions: Sequence[int] | None
) -> Iterator[tuple[tuple[int, ...], list[int], list[int]]]:
    """Yield what each change at a site is of: its cell in the map, heads and positions; IndexError for positions."""
    for layer, units in enumerate(activations):
        heads, n = [*range(len(units))], units.shape[1]
        rows = [*range(n)] if positions is None else [index_from_start("positions", row, n) for row in positions]
        if site == "layer":
            yield (layer,), heads, rows
        elif site in ("head_out", "pattern"):
            yield from (((layer, head), [head], rows) for head in heads)
        else:
            yield from (((layer, row), heads, [row]) for row in rows)


def changes_at(
    site: Site, current: Activations, replacements: Activations, model: Any, positions: Sequence[int] | None = None
) -> Changes:
    """Return the changes that put another run's activations into a run at a site.

    Only the rows of `positions` are exchanged; None = all of them.
    """
    modules = modules_at(model, site) if site in MODULE_SITES else []
    changes: Changes = {}
    for cell, heads, rows in targets_at(site, current, positions):
        layer, new = cell[0], replacements[cell[0]]
        if modules:
            replace_row = partial(_with_row, row=rows[0], new=new[0, rows[0]])
            changes[cell] = partial(Change, patches={modules[layer]: replace_row})
        else:
            changes[cell] = partial(_exchange, site, layer, heads, current[layer], new, rows)
    return changes


def _with_row(states: Tensor, row: int, new: Tensor) -> Tensor:
    return torch.cat([states[:row], new.to(states)[None], states[row + 1 :]])


def carry_states(model: Any, source: Activations, states: Sequence[tuple[int, int, int]]) -> Change:
    """Return the change that puts states of a source run, (layer, position there, position here), into this run."""
    modules, patches = modules_at(model, "residual"), dict[Any, Callable[[Tensor], Tensor]]()
    for layer in {layer for layer, _, _ in states}:
        index = index_from_start("layers", layer, len(modules))
        rows = {
            position: source[index][0, index_from_start("positions", source_position, source[index].shape[1])]
            for state_layer, source_position, position in states
            if state_layer == layer
        }

        def replace_rows(output: Tensor, rows: Mapping[int, Tensor] = rows) -> Tensor:
            for position, new in rows.items():
                output = _with_row(output, index_from_start("positions", position, len(output)), new)
            return output

        patches[modules[index]] = replace_rows
    return Change(patches=patches)


def _exchange(
    site: Site, layer: int, heads: Sequence[int], current: Tensor, new: Tensor, rows: Sequence[int]
) -> Change:
    """Return the change that gives heads of a layer another run's activations (`new`) in some rows."""
    mixed = current[heads].clone()
    mixed[:, list(rows)] = new[heads][:, list(rows)].to(mixed)
    edit_class: Any = PatternFrom if site == "pattern" else OutputFrom
    pairs = zip(heads, mixed, strict=True)
    edits = [edit_class(head, HeadRef("", "another run", layer, head), values) for head, values in pairs]
    return Change({layer: edits})


def cut_edges(
    traces: Sequence[AttentionTrace], query: int, window: int, heads: Sequence[tuple[int, int]] | None
) -> Changes:
    """Return the changes that hide each key from a query in `window` layers around each layer; heads None = all."""
    changes: Changes = {}
    for layer, trace in enumerate(traces):
        first = max(0, min(layer - window // 2, len(traces) - window))
        for key in range(trace.n_keys):
            edits: dict[int, list[Edit]] = {}
            for cut_layer in range(first, min(first + window, len(traces))):
                cut_heads: Any = [None] if heads is None else [head for index, head in heads if index == cut_layer]
                edits[cut_layer] = [BlockEdge(query % trace.n_queries, key, head) for head in cut_heads]
            changes[layer, key] = partial(Change, edits)
    return changes


def drop_heads(traces: Sequence[AttentionTrace], site: Site) -> Changes:
    """Return the changes that drop each head, or all heads of each layer."""
    targets = targets_at(site, [trace.query for trace in traces], [])
    return {cell: partial(Change, {cell[0]: [*map(DropHead, heads)]}) for cell, heads, _ in targets}


@dataclass(frozen=True)
class _Nudge(HeadEdit):
    """Adds zeros to a head's output, whose gradient is that of the metric by this output."""

    name = "nudge"
    target = "context"

    head: int
    by: Tensor = field(compare=False)

    def context(self, head: int, context: Tensor) -> Tensor:
        return context + self.by


def estimate_changes(
    runner: Runner,
    site: Site,
    current: Activations,
    replacements: Activations,
    metric: Metric,
    positions: Sequence[int] | None = None,
) -> Tensor:
    """Estimate by one gradient how changes_at would change the metric: slope times difference.

    The gradient is that of the metric by the activations at a site, in the run of the inputs as they are.
    """
    nudges = [torch.zeros_like(states).requires_grad_() for states in current]
    if site in MODULE_SITES:
        modules = zip(modules_at(runner.model, site), nudges, strict=True)
        change = Change(patches={module: partial(torch.add, nudge[0]) for module, nudge in modules})
    else:
        change = Change({layer: [*map(_Nudge, count(), nudge)] for layer, nudge in enumerate(nudges)})
    with torch.enable_grad():
        answer = metric(runner.outputs([change], gradients=True)[0])
        slopes = torch.autograd.grad(answer, nudges, allow_unused=True, materialize_grads=True)
    steps = [((new - old) * slope).sum(-1) for old, new, slope in zip(current, replacements, slopes, strict=True)]
    targets = targets_at(site, current, positions)
    return as_map({cell: float(steps[cell[0]][heads][:, rows].sum()) for cell, heads, rows in targets})


def as_map(values: Mapping[tuple[int, ...], float]) -> Tensor:
    """Return values by cell as one tensor, nan where there is none."""
    shape = [1 + max(cell[axis] for cell in values) for axis in range(len(next(iter(values))))]
    result = torch.full(shape, float("nan"), dtype=torch.float64)
    for cell, value in values.items():
        result[cell] = value
    return result


def join_inputs(clean: Mapping[str, Any], corrupt: Mapping[str, Any]) -> dict[str, Any]:
    """Return two inputs as one batch of two; ValueError where their lengths differ."""
    pairs = {name: (value, corrupt[name]) for name, value in clean.items() if isinstance(value, Tensor)}
    for name, (first, second) in pairs.items():
        if first.shape != second.shape:
            raise ValueError(
                f"clean and corrupt need as many tokens, got {first.shape[1]} and {second.shape[1]} in {name}"
            )
    return dict(clean) | {name: torch.cat(pair) for name, pair in pairs.items()}
