"""The sources of the atlas: a phrase book, the visitor's text, a test chart, tensors, a recorded run."""

import hashlib
import itertools
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from weakref import WeakKeyDictionary

import streamlit as st
from streamlit.typing import UploadedFile
from torch import Tensor

from attention_core.atlas import read_tensors, trace_of_tensors
from attention_core.atlas.synthetic import passage, synthetic_trace
from attention_core.attention.recording import Recording, tensors_of
from attention_core.attention.scores import ScaledDot
from attention_core.attention.trace import AttentionTrace
from attention_core.bounds.limits import TENSOR_BYTES, WINDOWED_PIECES
from attention_core.concurrency import BoundedCache
from attention_core.data.phrase_book import phrase_book
from attention_core.data.sentence_presets import THE_LIGHTHOUSE
from attention_core.hub.model import ModelError
from attention_core.hub.run import ModelRun
from attention_core.inference.long_text import ECHO, N_LAYERS, LongText, in_pieces, read_in_windows
from pages.atlas.shared_atlas import NAME, MatrixSource
from ui.hosting.bounds import LONG_TEXT_LETTERS
from ui.hosting.uploads import max_megabytes, show_lost_file
from ui.job_queue import run_once
from ui.labels import error_markdown, literal
from ui.model_runs import latest_request, opened_run, run_of, uploaded_run
from ui.navigation import opened_file, opened_recording
from ui.opened_files import OPENED_FILES, label_bytes, weak_trace
from ui.state import Field, between, slugs, whole_number

LATEST, FROM_FILE = "What the model page shows", "A recording from a file"
FILES: WeakKeyDictionary[ModelRun | AttentionTrace, str] = WeakKeyDictionary()
"""A key for each opened file, which is one object for all visitors for as long as it is open."""
NUMBERS = itertools.count()
_TRACES = BoundedCache(max_items=4)
SENTENCE_BREAK = re.compile(r"(?<=[.!?…])\s+|\s*\n\s*")

VISITOR_TEXT = Field(NAME, "text", THE_LIGHTHOUSE, address="text")
WHICH_RUN = Field(NAME, "run", LATEST, address="run", **slugs(latest=LATEST, file=FROM_FILE))
ATTENTION = Field(NAME, "attention", 0, address="attention", parse=whole_number)
LAYER = Field(NAME, "layer", ECHO[0], address="layer", parse=whole_number)


def text_source() -> MatrixSource | None:
    """Draw the box for a text; return the language model's attention in it, None where it is empty."""
    VISITOR_TEXT.widget(st.text_area, "Text", height=150)
    text = VISITOR_TEXT.value[: LONG_TEXT_LETTERS.maximum]
    if len(text) < len(VISITOR_TEXT.value):
        st.caption(f"The first {LONG_TEXT_LETTERS} of {len(VISITOR_TEXT.value):,} characters are read.")
    cut = in_pieces(filter(None, map(str.strip, SENTENCE_BREAK.split(text))))
    if cut.is_cut:
        st.caption(f"The first {WINDOWED_PIECES} pieces of words are read.")
    if len(cut.ids) == 1:
        st.info("The text is empty. Write or paste one.")
        return None
    return _read_source(f"text/{hashlib.sha256(text.encode(errors='replace')).hexdigest()[:16]}", cut)


def _read_source(key: str, text: LongText) -> MatrixSource:
    LAYER.clamp(0, N_LAYERS - 1)
    LAYER.widget(st.selectbox, "Layer", range(N_LAYERS), format_func=lambda layer: f"{layer + 1}")
    layer = LAYER.value
    trace = run_once(_TRACES, (key, layer), lambda: read_in_windows(text, layer), "Reading the text")
    title = f"{SOURCES[key.split('/')[0]][0]}, layer {layer + 1}"
    return MatrixSource(f"{key}/{layer}", title, trace.n_heads, lambda: trace, text, ECHO[1])


@st.cache_resource(max_entries=1, show_spinner=False)
def _book() -> LongText:
    return in_pieces(phrase_book())


def run_source() -> MatrixSource | None:
    page_run = latest_request()
    if page_run is not None:
        WHICH_RUN.clamp_to_options([LATEST, FROM_FILE])
        WHICH_RUN.widget(st.radio, "Run", [LATEST, FROM_FILE], label_visibility="collapsed")
    if page_run is None or WHICH_RUN.value == FROM_FILE:
        run = uploaded_run(NAME) or opened_run()
        if run is None:
            return None
        return _attention_of(run, f"run/{_file_key(run)}")
    try:
        run = run_of(*page_run)
    except ModelError as error:
        st.error(f"**The run cannot be shown.** {error_markdown(error)}", icon=":material/error:")
        return None
    return _attention_of(run, f"run/{hashlib.sha256(repr(page_run).encode()).hexdigest()[:16]}")


def _file_key(opened: ModelRun | AttentionTrace) -> str:
    return FILES.setdefault(opened, f"file-{next(NUMBERS)}")


def _attention_of(run: ModelRun, key: str) -> MatrixSource:
    for note in (*run.notes, run.recording.note):
        if note:
            st.caption(error_markdown(note))
    traces = run.recording.traces
    indices = range(len(traces))
    ATTENTION.clamp_to_options(indices)
    ATTENTION.widget(
        st.selectbox, "Attention", indices, format_func=lambda index: traces[index].story.name or f"number {index}"
    )
    trace = traces[ATTENTION.value]
    if trace.story.note:
        st.caption(error_markdown(trace.story.note))
    title = f"{run.model}, {trace.story.name or ATTENTION.value}"
    return MatrixSource(f"{key}/{ATTENTION.value}", title, trace.n_heads, lambda: trace)


File = tuple[str, str, UploadedFile | Path]  # its name, a digest, its content or path

FILE: Field[File | None] = Field(NAME, "tensors_file", None)
"""The last file that could be used; the upload widget forgets it on other pages."""
CAUSAL = Field(NAME, "causal", False, address="causal")
SCALE = Field(NAME, "scale", None, address="scale", parse=between(-1e6, 1e6))


def tensor_source() -> MatrixSource | None:
    """Draw the upload of tensors and their settings; return their attention, or say what is wrong with the file."""
    upload = st.file_uploader("A .npz file", "npz", key="atlas_tensors", max_upload_size=max_megabytes())
    st.caption(
        "`np.savez('mine.npz', query=q, key=k)`, each (heads, n, d); `mask` and `labels` if there are any. "
        f"Up to {TENSOR_BYTES.maximum / 2**20:,.0f} MiB."
    )
    show_lost_file("atlas_tensors", upload)
    if upload is not None:
        file = upload.name, hashlib.sha256(upload.getvalue()).hexdigest()[:16], upload
        source = _source_or_error(file)
        if source is not None:
            FILE.value = file
            return source
    usable = FILE.value or _command_line_file()
    if usable is None:
        return None
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"Shown: {literal(usable[0], 48)}")
        if isinstance(usable[2], UploadedFile):
            st.button("Forget", key="atlas_forget", on_click=FILE.reset)
    return _source_or_error(usable)


def _source_or_error(file: File) -> MatrixSource | None:
    try:
        return _source(file)
    except (ValueError, OSError) as error:
        st.error(f"**The file cannot be used.** {error_markdown(error)}", icon=":material/error:")
        return None


def _command_line_file() -> File | None:
    file = opened_file()
    if file is None or opened_recording():
        return None
    changed = file.stat().st_mtime if file.exists() else 0
    return file.name, f"{file}/{changed}", file


def _source(file: File) -> MatrixSource:
    name, digest, source = file
    trace = _trace_of(digest, name, source.getvalue() if isinstance(source, UploadedFile) else source)
    d_k = trace.query.shape[-1]
    causal = CAUSAL.widget(st.toggle, "Causal", help="Query i sees keys 0 to i only.")
    scale = SCALE.widget(
        st.number_input,
        "Scale",
        value=None,
        format="%.6g",
        placeholder=f"1/√{d_k} = {d_k**-0.5:.4g}",
        help="The factor on the dot products before the softmax.",
    )
    if scale == 0:
        raise ValueError("The scale is 0: every weight would be alike. Leave the field empty for 1/√d.")
    key = f"tensors/{_file_key(trace)}/{causal}/{scale}"
    trace = replace(trace, score=ScaledDot(scale), is_causal=causal)
    return MatrixSource(key, name, trace.n_heads, lambda: trace)


def _trace_of(digest: str, name: str, content: bytes | Path) -> AttentionTrace:
    def read() -> tuple[AttentionTrace, list[Tensor], int]:
        trace = trace_of_tensors(**vars(read_tensors(content, name)), name=name)
        return weak_trace(trace), tensors_of(Recording([trace])), label_bytes([trace])

    with st.spinner("Reading the tensors"):
        return OPENED_FILES.open(digest, NAME, content, TENSOR_BYTES.maximum, read)


LENGTHS = (2_048, 16_384, 65_536, 131_072)  # words of the test chart; a link may name another than the first one shown
FIRST_LENGTH = 16_384
LENGTH = Field(NAME, "length", FIRST_LENGTH)


def synthetic_source() -> MatrixSource:
    n = LENGTH.value
    first, again, length = passage(n)
    st.caption(
        f"Words and vectors by a formula, to test the map: the {length:,} words from {first + 1:,} on return at "
        f"{again + 1:,} and make a line."
    )
    return MatrixSource(f"{SYNTHETIC}/{n}", f"A test chart of {n:,} words", 1, lambda: synthetic_trace(n))


BOOK, TEXT, TENSORS, RUN, SYNTHETIC = "book", "text", "tensors", "run", "made"
SOURCES: dict[str, tuple[str, Callable[[], MatrixSource | None]]] = {
    BOOK: ("A phrase book", lambda: _read_source("book", _book())),
    TEXT: ("My own text", text_source),
    TENSORS: ("My queries and keys", tensor_source),
    RUN: ("A run of a model", run_source),
    SYNTHETIC: ("A made-up test chart", synthetic_source),
}
"""What can be chosen: its name, and what draws its own input and returns its matrix, None where there is none yet."""


def _default_source() -> str:
    if opened_file() is None:
        return BOOK
    return RUN if opened_recording() else TENSORS


CHOICE = Field(
    NAME,
    "show",
    _default_source,
    address="show",
    parse=lambda text: text if text.split("-")[0] in SOURCES else BOOK,  # older links name sources that are no more
)
"""The source with what is chosen of it, as in "made-echo-16384"."""
APPLIED_CHOICE = Field(NAME, "followed_show", "")
"""What the choices below are set to; CHOICE differs when it comes from the address."""
SOURCE = Field(NAME, "source", BOOK)
HEAD = Field[int | None](NAME, "head", None, address="head", parse=whole_number)


def choose_source() -> MatrixSource | None:
    """Draw the choice and the chosen source's own input; return None where there is nothing to show yet."""
    if CHOICE.value != APPLIED_CHOICE.value:
        SOURCE.value, _, chosen = CHOICE.value.partition("-")
        length = chosen.rpartition("-")[2]  # older links name one of several heads before it
        LENGTH.value = int(length) if length in map(str, LENGTHS) else FIRST_LENGTH
    SOURCE.widget(st.selectbox, "Map", list(SOURCES), format_func=lambda key: SOURCES[key][0])
    source = SOURCES[SOURCE.value][1]()
    CHOICE.value = SOURCE.value + (f"-echo-{LENGTH.value}" if SOURCE.value == SYNTHETIC else "")
    APPLIED_CHOICE.value = CHOICE.value
    return source


def choose_head(source: MatrixSource) -> int:
    """Return which head is shown, from 0; a choice is offered where there is one."""
    heads = range(source.n_heads)
    head = HEAD.clamp_to_options(heads, source.first_head) or 0
    if len(heads) > 1:
        HEAD.widget(st.selectbox, "Head", heads, format_func=lambda head: f"{head + 1:,}")
    return head
