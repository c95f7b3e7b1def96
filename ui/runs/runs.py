"""Loaded models and what they did, shared by all visitors; which of them this visitor looked at last."""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection
from dataclasses import astuple, dataclass
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
from ui.computed import computing

MOST_LOADED = 3
MOST_RUNS = 4
LATEST = "model_latest"
ALSO_FORGOTTEN: list[Callable[[], None]] = []
"""By make_room: what else holds on to models."""


@dataclass(frozen=True)
class TextInput:
    """A text as a visitor gave it; see text_inputs."""

    text: str
    pair: str = ""
    target: str = ""
    most_tokens: int = MOST_TOKENS


@dataclass(frozen=True)
class PictureInput:
    """A picture file as a visitor gave it, of a kind that Pillow reads, its bounds checked."""

    png: bytes


ModelInput = TextInput | PictureInput


class Latest(NamedTuple):
    """What a visitor looked at last, to be handed to run_of."""

    key: str
    given: ModelInput


@st.cache_resource(max_entries=MOST_LOADED, show_spinner="Loading the model")
def pretrained_of(key: str) -> Pretrained:
    """Return a model by a key from choose_model, loaded once for everybody.

    Raises:
        ModelError: it is not there any more, or its files do not fit.
    """
    from transformers.utils import logging

    found = find_local(key)
    if found is not None and found.source == "own":
        return own_language_model()
    folder, name = (found.folder, key) if found is not None else (Path(key), Path(key).name)
    if found is None and not (folder.is_absolute() and folder.is_dir()):
        raise ModelError(f"{key} is not on this machine.")
    logging.set_verbosity_error()  # what the library remarks on other people's models fills no server's log
    try:
        return load_pretrained(folder, name=name)
    except NoMemory:
        make_room()
        return load_pretrained(folder, name=name)


def make_room() -> None:
    """Forget every loaded model and every run; who looks at one gets it loaded again."""
    for forget in (run_of.clear, prepared_of.clear, pretrained_of.clear, *ALSO_FORGOTTEN):
        forget()
    gc.collect()


@st.cache_resource(max_entries=MOST_RUNS, show_spinner="Running the model")
def run_of(key: str, given: ModelInput, ablated: Collection[tuple[int, int]] = ()) -> ModelRun:
    """Return what a model (see pretrained_of) did with an input, computed once for everybody.

    Not to be called while computing: two visitors could wait for each other, one for the run and one for the turn.

    Raises:
        ModelError: the model or the input cannot be used.
    """
    pretrained, prepared = pretrained_of(key), prepared_of(key, given)
    with computing():
        return run(pretrained, prepared, ablated=tuple(ablated))


@st.cache_resource(max_entries=MOST_RUNS, show_spinner=False)
def prepared_of(key: str, given: ModelInput) -> Prepared:
    """Return what a model is called with for an input; as run_of."""
    pretrained = pretrained_of(key)
    with computing():
        if isinstance(given, PictureInput):
            return picture_inputs(pretrained, np.asarray(Image.open(BytesIO(given.png)).convert("RGBA")))
        return text_inputs(pretrained, given.text, pair=given.pair, target=given.target, most_tokens=given.most_tokens)


def remember(key: str, given: ModelInput) -> None:
    """Keep what this visitor looks at, for the other page and for coming back; plain values only."""
    plain = {"png": given.png} if isinstance(given, PictureInput) else {"text": astuple(given)}
    st.session_state[LATEST] = {"key": key, **plain}


def latest() -> Latest | None:
    """Return what this visitor looked at last on the page of models, or None."""
    kept = st.session_state.get(LATEST)
    if kept is None:
        return None
    return Latest(kept["key"], PictureInput(kept["png"]) if "png" in kept else TextInput(*kept["text"]))
