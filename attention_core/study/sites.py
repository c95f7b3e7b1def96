"""Where a run can be read and written: heads' outputs and weights, the residual stream, MLPs, of any model."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from attention_core.attention.capture import capture
from attention_core.attention.capture.recorder import is_attention
from attention_core.hub.tracing import UnsupportedError, evaluating, hooked, run_model, stream_attention, stream_context

Site = Literal["head_out", "layer", "position", "pattern", "edge", "residual", "mlp"]
MODULE_SITES: tuple[Site, ...] = ("residual", "mlp")
"""Sites that are outputs of modules; the others lie inside the attention."""
MLP = ("mlp", "ffn", "feed_forward", "block_sparse_moe", "DenseReluDense")
"""What layers call their feed-forward part, where it is one module."""
Activations = list[Tensor]
"""Of each layer, (n_units, n_positions, d): a unit is a head, or the one state of a residual stream or MLP."""


class Projection(NamedTuple):
    """The module in which an attention's heads are put together; its input is all of them, side by side."""

    module: nn.Module
    n_heads: int


class WindowedError(UnsupportedError):
    """A model that attends in windows, so that its heads have no states of an item as a whole."""


def run_through(
    model: Any,
    inputs: Mapping[str, Any],
    site: Site,
    projections: Sequence[Projection],
    on_states: Callable[[int, Tensor], Tensor | None],
    gradients: bool = False,
) -> Any:
    """Run a model and hand over what each layer has at a site; return the output.

    `on_states` is given the layer and its states (n_items, n_units, n_positions, d), and may return others. Projections
    are those of a model that hands over no attention as it runs. UnsupportedError where the model works in windows,
    shares one module among its layers, or has no such part.
    """
    n_items = len(next(value for value in inputs.values() if isinstance(value, Tensor)))

    def of_attention(layer: int, by_unit: Tensor) -> Tensor | None:
        if len(by_unit) != n_items:
            raise WindowedError(f"{type(model).__name__} attends in windows: only method='zero' is known there")
        return on_states(layer, by_unit)

    if site == "pattern":
        return stream_attention(model, inputs, lambda layer, weights, _: of_attention(layer, weights), gradients)
    if site not in MODULE_SITES and not projections:

        def on_context(layer: int, context: Tensor) -> Tensor | None:
            new = of_attention(layer, context.transpose(1, 2))
            return None if new is None else new.transpose(1, 2)

        return stream_context(model, inputs, on_context, gradients)
    is_of_heads = site not in MODULE_SITES
    modules = [p.module for p in projections] if is_of_heads else modules_at(model, site)
    n_units = [p.n_heads for p in projections] if is_of_heads else [1] * len(modules)
    seen: list[nn.Module] = []

    def on_module(module: nn.Module, *values: Any) -> Any:
        seen.append(module)
        layer, states = modules.index(module), states_of(values[-1])  # some layers have all items in one row
        by_unit = states.reshape(n_items, -1, n_units[layer], states.shape[-1] // n_units[layer]).transpose(1, 2)
        new = on_states(layer, by_unit)
        return None if new is None else with_states(values[-1], new.transpose(1, 2).reshape(states.shape))

    with hooked(modules, on_module, is_of_heads), torch.set_grad_enabled(gradients):
        output = evaluated(model, inputs)
    if sorted(map(id, seen)) != sorted(map(id, modules)):
        raise UnsupportedError(f"layers of {type(model).__name__} share a module, or do not all run")
    return output


def activations(
    model: Any, inputs: Mapping[str, Any], site: Site, projections: Sequence[Projection] = ()
) -> tuple[list[Activations], Any]:
    """Return what every item of a batch has at a site, see run_through, and the model's output."""
    by_layer: dict[int, Tensor] = {}
    output = run_through(
        model, inputs, site, projections, lambda layer, states: by_layer.update({layer: states.detach()})
    )
    n_items = len(next(iter(by_layer.values())))
    return [[by_layer[layer][item] for layer in sorted(by_layer)] for item in range(n_items)], output


def projections_of(model: Any, inputs: Mapping[str, Any]) -> list[Projection]:
    """Find where a model that cannot stream its attention puts the heads of each together.

    Such a module's input is the outputs of all heads side by side. UnsupportedError where there is no
    such module, or what its heads hand over is not known.
    """
    with capture() as recording, torch.no_grad():
        evaluated(model, inputs)
    linear = [module for module in model.modules() if _is_linear(module) and not isinstance(module, nn.Embedding)]
    with recorded(linear, before=True) as records, torch.no_grad():
        evaluated(model, inputs)
    projections = []
    for trace in recording.traces:
        heads = torch.cat([*map(trace.context, range(trace.n_heads))], -1)
        if heads.numel():
            matching = (module for module, tensors in records.items() if any(_is_same(x, heads) for x in tensors))
            projections += [Projection(module, trace.n_heads) for module in matching]
    if len(projections) != len(run_model(model, inputs)[0].traces):
        name = type(model).__name__
        raise UnsupportedError(f"{name} bypasses the library's attention interface, and hides where its heads meet")
    return projections


def _is_same(inputs: Tensor, heads: Tensor) -> bool:
    fits = inputs.numel() == heads.numel() and inputs.shape[-1] == heads.shape[-1]
    return fits and torch.allclose(inputs.reshape(heads.shape).to(heads), heads, rtol=1e-3, atol=1e-4)


def can_stream(model: Any, inputs: Mapping[str, Any]) -> bool:
    """Return whether a model hands over all its attention as it runs."""
    try:
        stream_attention(model, inputs, lambda *_: None)
    except UnsupportedError:
        return False
    return True


def evaluated(model: nn.Module, inputs: Mapping[str, Any]) -> Any:
    """Return the output of a model in evaluation mode; it is left as it was."""
    with evaluating(model):
        return model(**inputs)


def replacement(
    read: Callable[[Any], Activations], corpus: Iterable[Any], current: Activations, method: str, seed: int
) -> Activations:
    """Return replacements of activations: the mean over a corpus, or those of another text of it.

    `read` gives the activations of one text. A mean is over all positions of all texts; a shorter text is gone through
    again from its beginning.
    """
    if method == "resample":
        texts = list(corpus)
        if not texts:
            raise ValueError("the corpus is empty")
        text = texts[int(torch.randint(len(texts), (), generator=torch.Generator().manual_seed(seed)))]
        sampled = read(text)
        return [
            new[:, torch.arange(states.shape[1], device=states.device) % new.shape[1]]
            for states, new in zip(current, sampled, strict=True)
        ]
    sums, n = [states.new_zeros(len(states), 1, states.shape[-1]) for states in current], 0
    for inputs in corpus:
        read_states = read(inputs)
        n += read_states[0].shape[1]
        sums = [total + states.sum(1, keepdim=True) for total, states in zip(sums, read_states, strict=True)]
    if not n:
        raise ValueError("the corpus is empty")
    return [(total / n).expand_as(states) for total, states in zip(sums, current, strict=True)]


def layers_of(model: nn.Module) -> list[nn.Module]:
    """Return the layers of a model with attention in them, in the order in which it lists them."""
    lists = [module for module in model.modules() if isinstance(module, nn.ModuleList)]
    layers = [layer for layer in chain.from_iterable(lists) if any(map(is_attention, layer.modules()))]
    layers = [layer for layer in layers if not is_attention(layer)]
    return [layer for layer in layers if not any(inner is not layer and inner in layers for inner in layer.modules())]


def modules_at(model: nn.Module, site: Site) -> list[nn.Module]:
    """Return the modules whose outputs are the residual stream after each layer, or what its MLP adds to it.

    Where the MLP is no module of its own, it is the layer's last linear map outside its attention.
    """
    layers = layers_of(model)
    modules = layers if site == "residual" else [mlp for layer in layers if (mlp := _mlp_of(layer)) is not None]
    if not layers or len(modules) < len(layers):
        raise UnsupportedError(f"{type(model).__name__} has no layers in which the {site} could be found")
    return modules


def _mlp_of(layer: nn.Module) -> nn.Module | None:
    named = [child for name, child in layer.named_children() if name in MLP]
    in_attention = {inner for module in layer.modules() if is_attention(module) for inner in module.modules()}
    outside = [module for module in layer.modules() if module not in in_attention]
    return named[0] if named else next(filter(_is_linear, reversed(outside)), None)


def _is_linear(module: nn.Module) -> bool:
    return getattr(getattr(module, "weight", None), "ndim", 0) == 2


@contextmanager
def recorded(modules: Sequence[nn.Module], before: bool = False) -> Iterator[dict[nn.Module, list[Tensor]]]:
    """Keep what each module puts out, or is given, in each of its runs inside the block."""
    records: dict[nn.Module, list[Tensor]] = {module: [] for module in modules}
    with hooked(records, lambda module, *values: records[module].append(states_of(values[-1]).detach()), before):
        yield records


ActivationPatches = Mapping[nn.Module, Callable[[Tensor], Tensor]]
"""By module, what becomes of the states (n, d) that it puts out, or is given."""


@contextmanager
def changing(changes: Sequence[ActivationPatches], before: bool = False) -> Iterator[None]:
    """Change the outputs, or inputs, of modules inside the block; each item of the batch has its own patches."""

    def change(module: nn.Module, *values: Any) -> Any:
        states = states_of(values[-1])
        items = states.reshape(len(changes), -1, states.shape[-1])
        pairs = zip(items, changes, strict=True)
        new = [patches[module](item) if module in patches else item for item, patches in pairs]
        return with_states(values[-1], torch.stack(new).reshape(states.shape))

    with hooked({module for patches in changes for module in patches}, change, before):
        yield


def states_of(values: Any) -> Tensor:
    """Return the states among what a module put out or was given."""
    return values if isinstance(values, Tensor) else values[0]


def with_states(values: Any, states: Tensor) -> Any:
    """Return what a module put out or was given with other states."""
    return states if isinstance(values, Tensor) else (states, *values[1:])
