"""Where a run can be read and written: heads' outputs and weights, the residual stream, MLPs, of any model."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from attention_core.attention.capture import capture
from attention_core.attention.capture.recorder import is_attention
from attention_core.hub.tracing import UnsupportedError, evaluating, run_model, stream_attention

Site = Literal["head_out", "layer", "position", "pattern", "edge", "residual", "mlp"]
MODULES = ("residual", "mlp")
"""Sites that are outputs of modules; the others lie inside the attention."""
MLP = ("mlp", "ffn", "feed_forward", "block_sparse_moe", "DenseReluDense")
"""What layers call their feed-forward part, where it is one module."""
Activations = list[Tensor]
"""Of each layer, (n_units, n_positions, d): a unit is a head, or the one state of a residual stream or MLP."""


class Projection(NamedTuple):
    """The module in which an attention's heads are put together, of which it is given all side by side."""

    module: nn.Module
    n_heads: int


def activations(
    model: Any, inputs: Mapping[str, Any], site: Site, projections: Sequence[Projection] = ()
) -> tuple[list[Activations], Any]:
    """Return what every item of a batch has at a site, and the model's output.

    Projections are those of a model that hands over no attention as it runs. UnsupportedError where the model works in
    windows, shares one module among its layers, or has no such part.
    """
    n_items = len(next(value for value in inputs.values() if isinstance(value, Tensor)))
    if site in MODULES or (projections and site != "pattern"):
        modules = parts_of(model, site) if site in MODULES else [one.module for one in projections]
        with recorded(modules, before=site not in MODULES) as seen, torch.no_grad():
            output = evaluated(model, inputs)
        if any(len(seen[module]) != 1 for module in modules):
            raise UnsupportedError(f"layers of {type(model).__name__} share a module, or do not all run")
        found = []
        for module, n_units in zip(modules, [one.n_heads for one in projections] or [1] * len(modules), strict=True):
            states = seen[module][0]  # some layers have all items in one row
            found.append(states.reshape(n_items, -1, n_units, states.shape[-1] // n_units).transpose(1, 2))
    else:
        found = []

        def take(_: int, weights: Tensor, context: Tensor) -> None:
            found.append(weights if site == "pattern" else context.transpose(1, 2))

        output = stream_attention(model, inputs, take)
    if any(len(one) != n_items for one in found):
        raise UnsupportedError(f"{type(model).__name__} attends in windows: only how='zero' is known there")
    return [[one[item] for one in found] for item in range(n_items)], output


def projections_of(model: Any, inputs: Mapping[str, Any]) -> list[Projection]:
    """Return where each attention's heads are put together, of a model that hands over no attention as it runs.

    They are found by what they are given: the outputs of all heads side by side. UnsupportedError where there is no
    such module, or what its heads hand over is not known.
    """
    with capture() as recording, torch.no_grad():
        evaluated(model, inputs)
    linear = [part for part in model.modules() if getattr(getattr(part, "weight", None), "ndim", 0) == 2]
    linear = [part for part in linear if not isinstance(part, nn.Embedding)]
    with recorded(linear, before=True) as seen, torch.no_grad():
        evaluated(model, inputs)
    found = []
    for trace in recording.traces:
        heads = torch.cat([*map(trace.context, range(trace.n_heads))], -1)
        same = (part for part, given in seen.items() if heads.numel() and any(_is_same(one, heads) for one in given))
        found += [Projection(module, trace.n_heads) for module in same]
    if len(found) != len(run_model(model, inputs)[0].traces):
        name = type(model).__name__
        raise UnsupportedError(f"{name} bypasses the library's attention interface, and hides where its heads meet")
    return found


def _is_same(given: Tensor, heads: Tensor) -> bool:
    fits = given.numel() == heads.numel() and given.shape[-1] == heads.shape[-1]
    return fits and torch.allclose(given.reshape(heads.shape).to(heads), heads, rtol=1e-3, atol=1e-4)


def streams(model: Any, inputs: Mapping[str, Any]) -> bool:
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
    read: Callable[[Any], Activations], many: Iterable[Any], own: Activations, how: str, seed: int
) -> Activations:
    """Return what takes the place of activations: the mean over a corpus, or what another text of it has there.

    `read` gives the activations of one text. A mean is over all positions of all texts; a shorter text is gone through
    again from its beginning.
    """
    if how == "resample":
        texts = list(many)
        if not texts:
            raise ValueError("the corpus is empty")
        chosen = texts[int(torch.randint(len(texts), (), generator=torch.Generator().manual_seed(seed)))]
        other = read(chosen)
        return [
            theirs[:, torch.arange(mine.shape[1], device=mine.device) % theirs.shape[1]]
            for mine, theirs in zip(own, other, strict=True)
        ]
    sums, n = [one.new_zeros(len(one), 1, one.shape[-1]) for one in own], 0
    for inputs in many:
        found = read(inputs)
        n += found[0].shape[1]
        sums = [total + one.sum(1, keepdim=True) for total, one in zip(sums, found, strict=True)]
    if not n:
        raise ValueError("the corpus is empty")
    return [(total / n).expand_as(one) for total, one in zip(sums, own, strict=True)]


def layers_of(model: nn.Module) -> list[nn.Module]:
    """Return the layers of a model with attention in them, in the order in which it lists them."""
    lists = [part for part in model.modules() if isinstance(part, nn.ModuleList)]
    found = [
        layer for part in lists for layer in part if not is_attention(layer) and any(map(is_attention, layer.modules()))
    ]
    return [one for one in found if not any(other is not one and other in found for other in one.modules())]


def parts_of(model: nn.Module, site: Site) -> list[nn.Module]:
    """Return the modules whose outputs are the residual stream after each layer, or what its MLP adds to it.

    Where the MLP is no module of its own, it is the layer's last linear map outside its attention.
    """
    layers = layers_of(model)
    parts = layers if site == "residual" else [part for layer in layers if (part := _mlp_of(layer)) is not None]
    if not layers or len(parts) < len(layers):
        raise UnsupportedError(f"{type(model).__name__} has no layers in which the {site} could be found")
    return parts


def _mlp_of(layer: nn.Module) -> nn.Module | None:
    named = [child for name, child in layer.named_children() if name in MLP]
    inside = {part for module in layer.modules() if is_attention(module) for part in module.modules()}
    linear = [part for part in layer.modules() if part not in inside and getattr(part, "weight", None) is not None]
    return named[0] if named else next((part for part in reversed(linear) if part.weight.ndim == 2), None)


@contextmanager
def hooked(
    modules: Iterable[nn.Module], hook: Callable[..., Any], before: bool = False, **options: Any
) -> Iterator[None]:
    """Call a function after, or before, the forward of each of these modules inside the block; options are torch's."""
    add = "register_forward_pre_hook" if before else "register_forward_hook"
    handles = [getattr(module, add)(hook, **options) for module in modules]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def recorded(modules: Sequence[nn.Module], before: bool = False) -> Iterator[dict[nn.Module, list[Tensor]]]:
    """Keep what each module puts out, or is given, in each of its runs inside the block."""
    seen: dict[nn.Module, list[Tensor]] = {module: [] for module in modules}
    with hooked(seen, lambda module, *values: seen[module].append(states_of(values[-1]).detach()), before):
        yield seen


Writes = Mapping[nn.Module, Callable[[Tensor], Tensor]]
"""What becomes of the states (n, d) that a module puts out, or is given."""


@contextmanager
def changing(changes: Sequence[Writes], before: bool = False) -> Iterator[None]:
    """Change what modules put out, or are given, inside the block: in each item of the batch as its own change says."""

    def change(module: nn.Module, *values: Any) -> Any:
        states = states_of(values[-1])
        items = states.reshape(len(changes), -1, states.shape[-1])
        new = [own[module](item) if module in own else item for item, own in zip(items, changes, strict=True)]
        changed = torch.stack(new).reshape(states.shape)
        return changed if isinstance(values[-1], Tensor) else (changed, *values[-1][1:])

    with hooked({module for own in changes for module in own}, change, before):
        yield


def states_of(values: Any) -> Tensor:
    """Return the states among what a module put out or was given."""
    return values if isinstance(values, Tensor) else values[0]
