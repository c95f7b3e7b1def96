"""Trained parameters on disk: NAME.safetensors with a model card NAME.json that carries its checksum."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from attention_core.files import IS_INSTALLED, atomic_write, find_file, note_missing, read_json

FOLDER = find_file("weights")


class WeightsError(RuntimeError):
    """A weights file is missing or damaged; the message says what to do."""


def weights_folder() -> Path:
    """Return the folder of the committed weights, or the one named by the variable ATTENTION_WEIGHTS."""
    return Path(os.environ.get("ATTENTION_WEIGHTS") or FOLDER)


def read_card(name: str, folder: Path | None = None) -> dict[str, Any]:
    """Return the model card of a model: data, parameters, figures, the command that made them."""
    path = (folder or weights_folder()) / f"{name}.json"
    try:
        card = read_json(path)
    except OSError as error:
        raise WeightsError(f"No model card {path}{_reason(error)}. {_recovery(name)}") from None
    except ValueError as error:
        raise WeightsError(f"The model card {path} is damaged ({error}). {_recovery(name)}") from None
    if not isinstance(card, dict):
        raise WeightsError(f"The model card {path} is damaged (it is no JSON object). {_recovery(name)}")
    return card


def read_weights(name: str, folder: Path | None = None) -> dict[str, Tensor]:
    """Return a model's parameters; WeightsError where file or card is missing, or the card's checksum is of another."""
    with note_missing(name):
        card, path = read_card(name, folder), (folder or weights_folder()) / f"{name}.safetensors"
        try:
            content = path.read_bytes()
        except OSError as error:
            raise WeightsError(f"No weights {path}{_reason(error)}. {_recovery(name)}") from None
        if hashlib.sha256(content).hexdigest() != card.get("sha256"):
            raise WeightsError(f"{path} is damaged: its SHA-256 is not the one on its card. {_recovery(name)}")
        try:
            return load(content)
        except SafetensorError as error:
            raise WeightsError(f"{path} is not a safetensors file ({error}). {_recovery(name)}") from None


def fill(model: nn.Module, name: str, state: dict[str, Tensor]) -> nn.Module:
    """Put parameters into a model and return it; WeightsError where they belong to a model of another form."""
    with note_missing(name):
        try:
            model.load_state_dict(state)
        except RuntimeError:
            message = f"The weights of {name} do not fit the model as it is now. {_recovery(name)}"
            raise WeightsError(message) from None
    return model


def write_weights(name: str, state: dict[str, Tensor], card: dict[str, Any], folder: Path | None = None) -> Path:
    """Write parameters and card, which gets checksum and size; return the path of the safetensors file."""
    folder = folder or weights_folder()
    folder.mkdir(parents=True, exist_ok=True)
    content = save({key: tensor.detach().cpu().contiguous() for key, tensor in state.items()})
    path = folder / f"{name}.safetensors"
    with atomic_write(path) as unfinished:
        unfinished.write_bytes(content)
    card = {"name": name, **card, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (folder / f"{name}.json").write_text(json.dumps(card, indent=2) + "\n")
    return path


def read_beside(noun: str, name: str) -> str:
    """Return the text of a file beside the weights, a vocabulary for instance; WeightsError where it is missing."""
    path = weights_folder() / name
    with note_missing(name):
        try:
            return path.read_text(encoding="utf-8")
        except OSError as error:
            raise WeightsError(f"No {noun} {path}{_reason(error)}. {recovery_hint()}") from None
        except UnicodeDecodeError:
            raise WeightsError(f"The {noun} {path} is damaged: it is not UTF-8. {recovery_hint()}") from None


def _reason(error: OSError) -> str:
    """Return why a file that may be there cannot be read."""
    return "" if isinstance(error, FileNotFoundError) else f": {error.strerror}"


def recovery_hint(command: str = "") -> str:
    """Return what helps where a file of the weights is missing; a command may make it anew in the repository."""
    if IS_INSTALLED:
        return "Install attention-explorer again, or let ATTENTION_WEIGHTS name a folder that has it."
    return "Fetch it with `git checkout -- weights`" + (f", or make it: `python -m {command}`." if command else ".")


def _recovery(name: str) -> str:
    return recovery_hint(f"attention_core.train {name}")
