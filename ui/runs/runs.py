"""Loaded models and what they did, shared by all visitors; which of them this visitor looked at last."""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
import streamlit as st
from PIL import Image

from attention_core.hub.catalogue import find_local
from attention_core.hub.inputs import MOST_TOKENS, Prepared, text_inputs
from attention_core.hub.load import load_pretrained
from attention_core.hub.model import ModelError, Pretrained
from attention_core.hub.own import own_language_model
from attention_core.hub.pictures import picture_inputs
from attention_core.hub.room import NoMemory
from attention_core.hub.run import ModelRun, run
from ui.models import COMPUTE

MOST_LOADED = 3
MOST_RUNS = 4
LATEST = "model_latest"
ALSO_FORGOTTEN: list[Callable[[], None]] = []
"""Called by make_room: whatever else holds on to models."""


@dataclass(frozen=True)
class TextInput:
    """A text as a visitor gave it; see text_inputs."""

    text: str
    pair: str = ""
    target: str = ""
    most_tokens: int = MOST_TOKENS


@dataclass(frozen=True)
class PictureInput:
    """A picture as a visitor gave it.

    Attributes:
        png: a picture file of a kind that Pillow reads, bounds checked.
    """

    png: bytes


ModelInput = TextInput | PictureInput


class Latest(NamedTuple):
    """What a visitor looked at last, to be handed to run_of."""

    key: str
    given: ModelInput


@st.cache_resource(max_entries=MOST_LOADED, show_spinner="Loading the model")
def pretrained_of(key: str) -> Pretrained:
    """Return a model that is on this machine, loaded once for everybody.

    Args:
        key: a name from local_models(), or the path of a folder that choose_model has let through.

    Raises:
        ModelError: it is not there any more, or its files do not fit.
    """
    from transformers.utils import logging

    found = find_local(key)
    if found is not None and found.source == "own":
        return own_language_model()
    folder = found.folder if found is not None else Path(key)
    if found is None and not (folder.is_absolute() and folder.is_dir()):
        raise ModelError(f"{key} is not on this machine.")
    name = key if found is not None else folder.name
    logging.set_verbosity_error()  # what the library remarks on other people's models fills no server's log
    try:
        return load_pretrained(folder, name=name)
    except NoMemory:
        make_room()
        return load_pretrained(folder, name=name)


def make_room() -> None:
    """Forget every loaded model and every run; who looks at one gets it loaded again."""
    for kept in (run_of, prepared_of, pretrained_of):
        kept.clear()
    for forget in ALSO_FORGOTTEN:
        forget()
    gc.collect()


@st.cache_resource(max_entries=MOST_RUNS, show_spinner="Running the model")
def run_of(key: str, given: ModelInput, ablated: Collection[tuple[int, int]] = ()) -> ModelRun:
    """Return what a model did with an input, computed once for everybody; the caller must not hold COMPUTE.

    Args:
        key: see pretrained_of.
        given: from choose_input.
        ablated: see run.

    Raises:
        ModelError: the model or the input cannot be used.
    """
    pretrained, prepared = pretrained_of(key), prepared_of(key, given)
    with COMPUTE:
        return run(pretrained, prepared, ablated=tuple(ablated))


@st.cache_resource(max_entries=MOST_RUNS, show_spinner=False)
def prepared_of(key: str, given: ModelInput) -> Prepared:
    """Return what a model is called with for an input; as run_of."""
    pretrained = pretrained_of(key)
    with COMPUTE:
        if isinstance(given, PictureInput):
            return picture_inputs(pretrained, np.asarray(Image.open(BytesIO(given.png)).convert("RGBA")))
        return text_inputs(pretrained, given.text, pair=given.pair, target=given.target, most_tokens=given.most_tokens)


def remember(key: str, given: ModelInput) -> None:
    """Keep what this visitor looks at, for the other page and for coming back; plain values only."""
    if isinstance(given, PictureInput):
        st.session_state[LATEST] = {"key": key, "png": given.png}
    else:
        st.session_state[LATEST] = {"key": key, "text": (given.text, given.pair, given.target, given.most_tokens)}


def latest() -> Latest | None:
    """Return what this visitor looked at last on the page of models, or None."""
    kept = st.session_state.get(LATEST)
    if kept is None:
        return None
    return Latest(kept["key"], PictureInput(kept["png"]) if "png" in kept else TextInput(*kept["text"]))
