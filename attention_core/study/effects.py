"""Ablation and patching: a model's output after heads, layers or states of its run are exchanged, many runs in a batch.

Sources: ablation by zeros, Michel et al. 2019, "Are Sixteen Heads Really Better than One?"; by means and by other
inputs, Chan et al. 2022, "Causal Scrubbing"; of edges, Geva et al. 2023, "Dissecting Recall of Factual Associations",
section 5; patching, Meng et al. 2022, "Locating and Editing Factual Associations in GPT", section 2; by gradients,
Nanda 2023, "Attribution Patching".
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, wraps
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor

from attention_core.attention.edits import BlockEdge, DropHead, Edit, Edits, HeadRef, OutputFrom, PatternFrom
from attention_core.attention.trace import AttentionTrace, spans
from attention_core.hub.model import supported
from attention_core.hub.outputs import MAX_ITEMS, repeated
from attention_core.hub.tracing import hooked, run_items, saving_inputs_alone, stream_context
from attention_core.study.output import Metric, ModelOutput, Table, number, slopes_of
from attention_core.study.sites import (
    MODULE_SITES,
    ActivationPatches,
    Activations,
    Projection,
    Site,
    activations,
    changing,
    evaluated,
    layers_of,
    modules_at,
    run_through,
)

T = TypeVar("T", bound=Callable[..., Any])
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
        is_measured: whether the values were measured; else they are the estimate.
        margins: of means over several inputs, half the 95 % interval of the values; None of one input.
        change_margins: half the 95 % interval of the mean change.
    """

    values: Tensor
    before: float
    goal: float = float("nan")
    site: Site = "head_out"
    tokens: Sequence[str] = ()
    estimate: Tensor | None = None
    is_measured: bool = True
    margins: Tensor | None = None
    change_margins: Tensor | None = None

    @property
    def change(self) -> Tensor:
        return self.values - self.before

    @property
    def correlation(self) -> float:
        """Pearson's correlation of measured values with what the gradient predicts; nan where one is missing."""
        if self.estimate is None or not self.is_measured:
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
        further = {"estimate": self.estimate, "margin": self.margins, "change_margin": self.change_margins}
        return columns | {name: map_[indices].tolist() for name, map_ in further.items() if map_ is not None}


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

    def outputs(self, changes: Sequence[Change]) -> list[ModelOutput]:
        """Return the model's output of every change, all run in one batch."""
        inputs = repeated(self.inputs, len(changes))
        edits = [change.edits for change in changes]
        all_edits = chain.from_iterable(chain.from_iterable(item_edits.values() for item_edits in edits))
        only_contexts = all(edit.target == "context" for edit in all_edits)
        with torch.no_grad(), changing([change.patches for change in changes]):
            if self.projections and only_contexts:
                patches = [_context_patches(item_edits, self.projections) for item_edits in edits]
                with changing(patches, before=True):
                    output = evaluated(self.model, inputs)
            elif not any(edits):
                output = evaluated(self.model, inputs)
            elif only_contexts and "image_grid_thw" not in inputs:
                output = stream_context(self.model, inputs, partial(_edit_contexts, edits))
            else:
                output = run_items(self.model, inputs, edits)
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


def _edited(contexts: Tensor, edits: Edits) -> Tensor:
    """Return what heads hand over, (n, n_heads, d), after edits."""
    heads = [*contexts.unbind(-2)]
    for edit in edits:
        for head in filter(edit.applies_to, range(len(heads))):
            heads[head] = edit.context(head, heads[head])
    return torch.stack(heads, -2)


def _edit_contexts(edits: Sequence[Mapping[int, Edits]], layer: int, contexts: Tensor) -> Tensor | None:
    """Return contexts (n_items * n_windows, n, n_heads, d) after the edits of each item; None = there are none."""
    by_item = contexts.unflatten(0, (len(edits), -1))
    pairs = [(item, item_edits[layer]) for item, item_edits in enumerate(edits) if item_edits.get(layer)]
    if not pairs:
        return None
    by_item = by_item.clone()
    for item, layer_edits in pairs:
        by_item[item] = torch.stack([_edited(window, layer_edits) for window in by_item[item]])
    return by_item.flatten(0, 1)


def _context_patches(edits: Mapping[int, Edits], projections: Sequence[Projection]) -> ActivationPatches:
    """Return patches that make the edits in the input of each projection, all heads' contexts (n, n_heads * d)."""

    def change(side_by_side: Tensor, n_heads: int, layer_edits: Edits) -> Tensor:
        return _edited(side_by_side.unflatten(-1, (n_heads, -1)), layer_edits).flatten(-2)

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


def states_at(runner: Runner, site: Site, metric: Metric) -> tuple[ModelOutput, Activations, None]:
    """Run the inputs as they are; return the output and each layer's states at a site."""
    (states,), output = activations(runner.model, runner.inputs, site, runner.projections)
    return ModelOutput.of_batch(output, runner.tokenizer)[0], states, None


N_SAVED = 128
"""Tokens up to which a gradient saves all that a run computes; of more, each layer's input, and it runs once more."""


def gradients_at(runner: Runner, site: Site, metric: Metric) -> tuple[ModelOutput, Activations, Activations]:
    """Run the inputs as they are, forward and back; return what states_at does, and the slopes of a metric there."""
    states: dict[int, Tensor] = {}
    nudges: dict[int, Tensor] = {}
    results: list[tuple[ModelOutput, Sequence[Tensor]]] = []

    def nudge(layer: int, by_unit: Tensor) -> Tensor:
        if layer not in nudges:
            states[layer] = by_unit.detach()[0]
            nudges[layer] = by_unit.new_zeros(()).expand_as(by_unit).requires_grad_()
        return by_unit + nudges[layer]

    def go_back(_: Any, __: Any, batch: Any) -> None:
        output = ModelOutput.of_batch(batch, runner.tokenizer)[0]
        slopes, leaves = slopes_of(metric, output), [nudges[layer] for layer in sorted(nudges)]
        pairs = [("logits", slopes.by_logits), ("last_hidden_state", slopes.by_hidden)]
        by_ends = {name: slope for name, slope in pairs if slope is not None}
        # in one selection: each goes back through a tensor as large as all logits
        at = (torch.zeros_like(slopes.positions), slopes.positions) if len(slopes.positions) else 0
        ends = [batch[name][at if name == "logits" else 0].float() for name in by_ends]
        gradients = torch.autograd.grad(ends, leaves, [*by_ends.values()], allow_unused=True, materialize_grads=True)
        results.append((output.detached(), gradients))

    n_tokens = getattr(runner.inputs.get("input_ids"), "shape", (0, 0))[1]
    is_in_attention = site not in MODULE_SITES and not runner.projections
    again = layers_of(runner.model) if n_tokens > N_SAVED and is_in_attention else []
    with hooked([runner.model], go_back), torch.enable_grad(), saving_inputs_alone(again):
        inputs = dict(runner.inputs) | supported(runner.model, use_cache=False) if again else runner.inputs
        run_through(runner.model, inputs, site, runner.projections, nudge, gradients=True)
    ((output, slopes),) = results
    return output, [states[layer] for layer in sorted(states)], [slope[0] for slope in slopes]


def estimate_changes(
    site: Site,
    current: Activations,
    replacements: Activations,
    slopes: Activations,
    positions: Sequence[int] | None = None,
) -> Tensor:
    """Estimate by slopes of gradients_at how changes_at would change the metric: slope times difference."""
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


def check_lengths(clean: Mapping[str, Any], corrupt: Mapping[str, Any]) -> None:
    """Raise a ValueError where two inputs have other lengths."""
    for name, first in clean.items():
        if isinstance(first, Tensor) and first.shape != corrupt[name].shape:
            lengths = f"{first.shape[1]} and {corrupt[name].shape[1]}"
            raise ValueError(f"clean and corrupt need as many tokens, got {lengths} in {name}")


def average(results: Sequence[Effects]) -> Effects:
    """Return the mean of effects over several inputs, with the margins of their values and of their changes."""
    if len({tuple(result.values.shape) for result in results}) != 1:
        raise ValueError("inputs of other lengths have no positions in common: study them one by one")
    estimates = [result.estimate for result in results if result.estimate is not None]
    means = {name: sum(getattr(result, name) for result in results) / len(results) for name in ("before", "goal")}
    return replace(
        results[0],
        values=torch.stack([result.values for result in results]).mean(0),
        margins=margin([result.values for result in results]),
        change_margins=margin([result.change for result in results]),
        estimate=torch.stack(estimates).mean(0) if estimates else None,
        tokens=(),
        **means,
    )


def over_many(average: Callable[[Sequence[Any]], Any]) -> Callable[[T], T]:
    """Let a method of one input, or pair of inputs, and a metric take a list of them, and return the average."""

    def decorate(method: T) -> T:
        @wraps(method)
        def of_each(self: Any, clean: Any, *args: Any, metric: Any, **options: Any) -> Any:
            if not isinstance(clean, list):
                return method(self, clean, *args, metric=metric, **options)
            progress, results = options.pop("progress", None), []
            metrics = [metric] * len(clean) if callable(metric) else metric
            for index, (item, metric_of_item) in enumerate(zip(clean, metrics, strict=True)):
                if progress is not None:
                    options["progress"] = lambda share, index=index: progress((index + share) / len(clean))
                pair = item if isinstance(item, tuple) else (item,)
                results.append(method(self, *pair, metric=metric_of_item, **options))
            return average(results)

        return of_each  # type: ignore[return-value]

    return decorate


def margin(values: Sequence[Tensor]) -> Tensor:
    """Return half the 95 % interval of a mean: 1.96 standard errors; nan of one value."""
    return 1.96 * torch.stack([*values]).std(0) / len(values) ** 0.5
