"""The project's models by name: each model's file registers it here, and no other file lists it."""

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from attention_core.device import choose_device
from attention_core.weights import fill, read_weights

MODELS: dict[str, Callable[[], nn.Module]] = {}
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


def build(name: str) -> nn.Module:
    if name not in MODELS:
        raise ValueError(f"There is no model {name!r}. There are: {', '.join(MODELS)}.")
    return MODELS[name]()


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
        for path, part in (*model.named_modules(), *model.named_parameters(), *model.named_buffers()):
            part.origin = name, path  # attention_core.serve sends it instead of the numbers
    return model
