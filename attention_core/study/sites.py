"""Where a run can be read and written: heads' outputs and weights, the residual stream, MLPs, of any model."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import torch
from torch import Tensor, nn

from attention_core.attention.capture.recorder import is_attention
from attention_core.hub.tracing import UnsupportedError, evaluating, stream_attention

Site = Literal["head_out", "layer", "position", "pattern", "edge", "residual", "mlp"]
MODULES = ("residual", "mlp")
"""Sites that are outputs of modules; the others lie inside the attention."""
MLP = ("mlp", "ffn", "feed_forward", "block_sparse_moe", "DenseReluDense")
"""What layers call their feed-forward part, where it is one module."""
Activations = list[Tensor]
"""Of each layer, (n_units, n_positions, d): a unit is a head, or the one state of a residual stream or MLP."""


def activations(model: Any, inputs: Mapping[str, Any], site: Site) -> tuple[list[Activations], Any]:
    """Return what every item of a batch has at a site, and the model's output.

    Raises:
        UnsupportedError: the model works in windows, shares one module among its layers, or has no such part.
    """
    n_items = len(next(value for value in inputs.values() if isinstance(value, Tensor)))
    if site in MODULES:
        modules = parts_of(model, site)
        with recorded_outputs(modules) as seen, torch.no_grad():
            output = evaluated(model, inputs)
        if any(len(seen[module]) != 1 for module in modules):
            raise UnsupportedError(f"layers of {type(model).__name__} share a module, or do not all run")
        return [[_item(seen[module][0], item, n_items) for module in modules] for item in range(n_items)], output
    found: Activations = []

    def take(_: int, weights: Tensor, context: Tensor) -> None:
        found.append(weights if site == "pattern" else context.transpose(1, 2))

    output = stream_attention(model, inputs, take)
    if any(len(one) != n_items for one in found):
        raise UnsupportedError(f"{type(model).__name__} attends in windows: only how='zero' is known there")
    return [[one[item] for one in found] for item in range(n_items)], output


def _item(states: Tensor, item: int, n_items: int) -> Tensor:
    return states.reshape(n_items, -1, states.shape[-1])[item][None]  # some layers have all items in one row


def evaluated(model: nn.Module, inputs: Mapping[str, Any]) -> Any:
    """Return the output of a model in evaluation mode; it is left as it was."""
    with evaluating(model):
        return model(**inputs)


def reference(
    model: Any, many: Iterator[Mapping[str, Any]], own: Activations, site: Site, how: str, seed: int
) -> Activations:
    """Return what takes the place of activations: the mean over a corpus, or what another text of it has there.

    A mean is over all positions of all texts; a shorter text is gone through again from its beginning.
    """
    if how == "resample":
        texts = list(many)
        chosen = texts[int(torch.randint(len(texts), (), generator=torch.Generator().manual_seed(seed)))]
        other = activations(model, chosen, site)[0][0]
        return [
            theirs[:, torch.arange(mine.shape[1], device=mine.device) % theirs.shape[1]]
            for mine, theirs in zip(own, other, strict=True)
        ]
    sums, n = [one.new_zeros(len(one), 1, one.shape[-1]) for one in own], 0
    for inputs in many:
        found = activations(model, inputs, site)[0][0]
        n += found[0].shape[1]
        sums = [total + one.sum(1, keepdim=True) for total, one in zip(sums, found, strict=True)]
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
def hooked(hooks: Mapping[nn.Module, Callable[..., Any]]) -> Iterator[None]:
    """Call these functions after the forward of their modules inside the block."""
    handles = [module.register_forward_hook(hook) for module, hook in hooks.items()]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def recorded_outputs(modules: Sequence[nn.Module]) -> Iterator[dict[nn.Module, list[Tensor]]]:
    """Keep what each module puts out in each of its runs inside the block."""
    seen: dict[nn.Module, list[Tensor]] = {module: [] for module in modules}

    def keep(module: nn.Module, _: Any, output: Any) -> None:
        seen[module].append(states_of(output).detach())

    with hooked(dict.fromkeys(seen, keep)):
        yield seen


def states_of(output: Any) -> Tensor:
    """Return the states among what a module put out."""
    return output if isinstance(output, Tensor) else output[0]


def with_states(output: Any, states: Tensor) -> Any:
    """Return what a module put out with other states."""
    return states if isinstance(output, Tensor) else (states, *output[1:])
