"""The list of the project's models: each registers itself, and is built and loaded by its name."""

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from attention_core.attention.trace import AttentionTrace
from attention_core.device import choose_device, device_of
from attention_core.weights import fill, read_weights

MODELS: dict[str, partial[nn.Module]] = {}
EVALUATORS: dict[str, str] = {}
"""For each model, "file:function" of attention_core/evaluate; imported only when it is used."""


def register(name: str, evaluator: str, make: Callable[..., nn.Module], *config: Any) -> None:
    """Make a model known under the name that its weights, its recipe and the commands use.

    Its evaluator is "file:function" of attention_core/evaluate: (model, path of a person's data) -> figures, and
    DataError where the file is missing, damaged or of another form. `make` is given the config and returns an untrained
    model.
    """
    MODELS[name], EVALUATORS[name] = partial(make, *config), evaluator


def import_modules(package: str, folders: Iterable[str]) -> None:
    """Import every module of a package but its command, so that each registers what it has."""
    for module in pkgutil.iter_modules(folders):
        if module.name != "__main__":
            importlib.import_module(f"{package}.{module.name}")


def build(name: str, changes: Mapping[str, Any] | None = None) -> nn.Module:
    """Return a model with random weights; `changes` of fields of its config make it another form of that model.

    ValueError where no model has the name, or its config no such field.
    """
    if name not in MODELS:
        raise ValueError(f"There is no model {name!r}. There are: {', '.join(MODELS)}.")
    make = MODELS[name]
    if not changes:
        return make()
    try:
        (config,) = make.args
        changed = replace(config, **changes)
    except (TypeError, ValueError):
        raise ValueError(f"The config of {name} has not all of these fields: {', '.join(changes)}.") from None
    return make.func(changed)


def load(name: str, device: str = "auto", folder: Path | None = None) -> Any:
    """Return a trained model, ready to predict, its parameters frozen; the committed weights if folder is None.

    It is an nn.Module of a class of its own, which documents its methods, such as trace.

    Raises:
        ValueError: no such model, or no such device on this machine.
        WeightsError: its file is missing or damaged.
    """
    with torch.inference_mode(False):  # gradients may be asked for later
        model = fill(build(name), name, read_weights(name, folder))
        model.to(choose_device(device)).eval().requires_grad_(False)
    if folder is None:
        for path, member in (*model.named_modules(), *model.named_parameters(), *model.named_buffers()):
            member.origin = name, path  # attention_core.serve sends it instead of the numbers
    return model


def attention_at_snapshot(
    model: nn.Module, snapshots: dict[str, Tensor], number: int, image: Tensor
) -> tuple[AttentionTrace, ...]:
    """Return the traces of a picture, (28, 28) in [0, 1], as the model's attention was at one moment of its training.

    The snapshots are named "NUMBER.parameter", from 0, as the training command keeps them. The model is not changed.
    """
    prefix = f"{number}."
    device = device_of(model)
    updates = {
        name.removeprefix(prefix): tensor.to(device, torch.float32)
        for name, tensor in snapshots.items()
        if name.startswith(prefix) and name != f"{prefix}step"
    }
    with torch.inference_mode():
        return torch.func.functional_call(model, updates, (image[None].to(device),), {"trace": True}).traces
