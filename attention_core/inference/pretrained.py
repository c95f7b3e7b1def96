"""Any model by its key, and what it does with a visitor's input: what a cluster runs of the page of models."""

import gc
from functools import lru_cache
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image

from attention_core.attention.edits import Edits
from attention_core.bounds.limits import MODELS
from attention_core.data.language_pieces import NAME, WINDOW, tokenizer
from attention_core.hub.catalogue import bundle, find_local
from attention_core.hub.load import load_pretrained
from attention_core.hub.model import ModelError, ModelKind, NoMemory, Pretrained
from attention_core.hub.pictures import picture_inputs, picture_text_inputs
from attention_core.hub.run import ModelInput, ModelInputs, ModelRun, PictureInput, run, text_inputs
from attention_core.models import load
from attention_core.weights import WeightsError

bundle(NAME, "A small Llama, which writes English")
bundle("digit-vit", "A small ViT, which reads digits")


def load_bundled(name: str, device: str = "auto") -> Pretrained:
    """Return a model that comes with the app; a ModelError where its files are missing or damaged."""
    try:
        model = load(name, device)
        vocabulary = tokenizer() if name == NAME else None
    except WeightsError as error:
        raise ModelError(str(error)) from None
    if vocabulary is None:
        model.vit.config.id2label = {digit: str(digit) for digit in range(10)}
        return Pretrained(name, ModelKind.VISION, model.vit)
    return Pretrained(name, ModelKind.DECODER, model, vocabulary, max_tokens=WINDOW)


def load_model(key: str) -> Pretrained:
    """Return a model of this machine by its name, or that of an absolute folder.

    Raises:
        NoMemory: there is no room for it now.
        ModelError: it is not there, or cannot be loaded.
    """
    from transformers.utils import logging

    local = find_local(key)
    if local is not None and local.source == "own":
        return load_bundled(key)
    folder, name = (local.folder, key) if local is not None else (Path(key), Path(key).name)
    if local is None and not (folder.is_absolute() and folder.is_dir()):
        raise ModelError(f"{key} is not on this machine.")
    logging.set_verbosity_error()  # what the library remarks on other people's models fills no server's log
    return load_pretrained(folder, name=name)


def prepare(pretrained: Pretrained, model_input: ModelInput) -> ModelInputs:
    """Return what a model is called with for a visitor's input; ModelError = the model does not take it."""
    if isinstance(model_input, PictureInput):
        return picture_inputs(pretrained, _pixels(model_input.png))
    if model_input.png is not None:
        return picture_text_inputs(pretrained, _pixels(model_input.png), model_input.text)
    return text_inputs(pretrained, model_input.text, pair=model_input.pair, target=model_input.target)


def _pixels(png: bytes) -> np.ndarray:
    return np.asarray(Image.open(BytesIO(png)).convert("RGBA"))


@lru_cache(MODELS.maximum)
def _loaded(key: str) -> Pretrained:
    return load_model(key)


def run_input(key: str, model_input: ModelInput, edits: tuple[tuple[int, Edits], ...] = ()) -> ModelRun:
    """Return what a model did with an input while traces, by their numbers, were edited; it stays loaded.

    Raises:
        NoMemory: there is no room for the model, or for the run.
        ModelError: the model is not there, or cannot be run with this input.
    """
    try:
        pretrained = _loaded(key)
    except NoMemory:
        _loaded.cache_clear()
        gc.collect()
        pretrained = _loaded(key)
    return run(pretrained, prepare(pretrained, model_input), edits=dict(edits))
