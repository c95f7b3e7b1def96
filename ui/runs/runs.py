"""Loaded models, what they did, and what is being downloaded, shared by all visitors; what this one looked at last."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Collection
from contextlib import nullcontext
from dataclasses import astuple, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import streamlit as st
from PIL import Image

from attention_core.attention.edits import dropped
from attention_core.bounds import DOWNLOADS, MODELS, RUNS, TOKENS
from attention_core.bounds.cache import BoundedCache
from attention_core.hub.catalogue import find_local
from attention_core.hub.fetch import fetch
from attention_core.hub.inputs import ModelInputs, text_inputs
from attention_core.hub.load import load_pretrained
from attention_core.hub.look_up import ModelCandidate
from attention_core.hub.model import ModelError, Pretrained
from attention_core.hub.pictures import picture_inputs
from attention_core.hub.room import NoMemory
from attention_core.hub.run import ModelRun, run
from attention_core.locks import Lock
from attention_core.models.own import own_model
from ui.computed import cluster, computed_there, computing
from ui.job_queue import heavy
from ui.state import APP, Field

LATEST = Field[dict[str, Any] | None](APP, "model_latest", None)
ALSO_FORGOTTEN: list[Callable[[], None]] = []
"""By make_room: what else holds on to models."""
_STARTING = Lock("start a download")
_DOWNLOADS: dict[str, Download] = {}
"""By the model's name: those in progress, and some that have ended, so that who waits for one is told."""
MOST_ENDED = 32


@dataclass(frozen=True)
class TextInput:
    """A text as a visitor gave it; see text_inputs."""

    text: str
    pair: str = ""
    target: str = ""
    most_tokens: int = TOKENS.most


@dataclass(frozen=True)
class PictureInput:
    """A picture file as a visitor gave it, of a kind that Pillow reads, its bounds checked."""

    png: bytes


ModelInput = TextInput | PictureInput


class LatestRun(NamedTuple):
    """What a visitor looked at last, to be handed to run_of."""

    key: str
    given: ModelInput


@st.cache_resource(max_entries=MODELS.most, show_spinner="Loading the model")
def pretrained_of(key: str) -> Pretrained:
    """Return a model by a key from choose_model, loaded once for everybody; ModelError = it is not there any more."""
    from transformers.utils import logging

    found = find_local(key)
    if found is not None and found.source == "own":
        return own_model(key)
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
    for forget in (_runs().clear, prepared_of.clear, pretrained_of.clear, *ALSO_FORGOTTEN):
        forget()
    gc.collect()


@st.cache_resource(show_spinner=False)
def _runs() -> BoundedCache:
    return BoundedCache(most=RUNS.most)


def run_of(key: str, given: ModelInput, off: Collection[tuple[int, int]] = ()) -> ModelRun:
    """Return what a model (see pretrained_of) did with an input, computed once for everybody; not while computing."""
    asked = key, given, tuple(off)
    found = _runs().find(asked)
    if found is None:
        with st.spinner("Running the model") if cluster() else nullcontext():
            found = computed_there(run_of, *asked)
        if found is None:
            pretrained, prepared = pretrained_of(key), prepared_of(key, given)
            with heavy("Running the model"):  # who was before may have asked the same
                found = _runs().find(asked) or (run(pretrained, prepared, edits=dropped(asked[-1])),)
        _runs().keep(asked, found)
    return found[0]


@st.cache_resource(max_entries=RUNS.most, show_spinner=False)
def prepared_of(key: str, given: ModelInput) -> ModelInputs:
    """Return what a model is called with for an input; as run_of."""
    pretrained = pretrained_of(key)
    with computing():
        if isinstance(given, PictureInput):
            return picture_inputs(pretrained, np.asarray(Image.open(BytesIO(given.png)).convert("RGBA")))
        return text_inputs(pretrained, given.text, pair=given.pair, target=given.target, most_tokens=given.most_tokens)


def remember(key: str, given: ModelInput) -> None:
    """Keep what this visitor looks at, for the other page and for coming back; plain values only."""
    plain = {"png": given.png} if isinstance(given, PictureInput) else {"text": astuple(given)}
    LATEST.value = {"key": key, **plain}


def latest() -> LatestRun | None:
    """Return what this visitor looked at last on the page of models, or None."""
    kept = LATEST.value
    if kept is None:
        return None
    return LatestRun(kept["key"], PictureInput(kept["png"]) if "png" in kept else TextInput(*kept["text"]))


class _Stopped(Exception):
    pass


class Download:
    """One download, in a thread of its own: `done` bytes of `total` are there.

    The outcome is None until it has ended; then "error" or "info" and why the model is not there, or "" and "".
    """

    def __init__(self, candidate: ModelCandidate) -> None:
        self.name, self.done, self.total = candidate.name, 0, sum(file.size for file in candidate.files)
        self.outcome: tuple[str, str] | None = None
        self._stop = threading.Event()
        threading.Thread(target=self._run, args=(candidate,), daemon=True).start()

    @property
    def share(self) -> float:
        return min(self.done / max(self.total, 1), 1.0)

    def stop(self) -> None:
        self._stop.set()

    def _run(self, candidate: ModelCandidate) -> None:
        try:
            fetch(candidate, self._progress)
            self.outcome = "", ""
        except ModelError as error:
            self.outcome = "error", str(error)
        except _Stopped:
            stopped = f"The download of {self.name} was stopped. What has arrived stays: Load goes on from there."
            self.outcome = "info", stopped
        except Exception as error:
            self.outcome = "error", f"{self.name} cannot be fetched: {error}"
            raise

    def _progress(self, done: int, total: int) -> None:
        self.done, self.total = done, total
        if self._stop.is_set():
            raise _Stopped


def start_download(candidate: ModelCandidate) -> None:
    """Begin a download, or join the one for the same model; ModelError = as many others are on their way as may be."""
    with _STARTING:
        ended = [name for name, one in _DOWNLOADS.items() if one.outcome is not None]
        if candidate.name in _DOWNLOADS and candidate.name not in ended:
            return
        if len(_DOWNLOADS) - len(ended) >= DOWNLOADS.most:
            raise ModelError(
                f"{DOWNLOADS} models are on their way for other visitors already. Press Load again when one of them "
                "has arrived."
            )
        for name in {candidate.name, *ended[:-MOST_ENDED]}:
            _DOWNLOADS.pop(name, None)
        _DOWNLOADS[candidate.name] = Download(candidate)


def download_of(name: str) -> Download | None:
    return _DOWNLOADS.get(name)
