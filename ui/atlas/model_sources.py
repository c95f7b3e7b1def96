"""Attention of models: a text of any length through a loaded one, what the page of models shows, a recorded run."""

import hashlib
import itertools
from weakref import WeakKeyDictionary

import streamlit as st

from attention_core.bounds import LONG_TEXT_BYTES, LONG_TEXT_LETTERS, LONG_TOKENS
from attention_core.data.long_text import THE_LIGHTHOUSE
from attention_core.hub.model import ModelError, ModelKind
from attention_core.hub.run import ModelRun, TextInput, affordable_tokens
from ui.atlas import NAME
from ui.atlas.shelf import MatrixSource
from ui.labels import said
from ui.runs import choose_model, latest, opened_run, prepared_of, pretrained_of, run_of, uploaded_run
from ui.state import Field, named, whole_number, widget_value

LATEST, FILE = "What the model page shows", "A recording from a file"
RECORDINGS: WeakKeyDictionary[ModelRun, str] = WeakKeyDictionary()
"""What tells an opened recording from every other; it is one object for all visitors."""
NUMBERS = itertools.count()

TEXT, TEXT_FAULT = Field(NAME, "text", THE_LIGHTHOUSE, address="text"), Field(NAME, "text_note", "")
RUN = Field(NAME, "run", LATEST, address="run", **named(latest=LATEST, file=FILE))
ATTENTION = Field(NAME, "attention", 0, address="attention", parse=whole_number)


def text_source() -> MatrixSource | None:
    with st.popover("Another model", icon=":material/swap_horiz:"):
        key = choose_model(f"{NAME}_text")
    if key is None:
        st.info("No model is on this machine yet. “Another model” fetches one.")
    else:
        st.caption(f"Read by {said(key)}.")
    text = _long_text()
    if key is None:
        return None
    try:
        if pretrained_of(key).kind is ModelKind.VISION:
            st.info(f"{key} looks at pictures. Choose a model that reads, or see the page “Your own model”.")
            return None
        run = _long_run(key, text)
    except ModelError as error:
        st.error(f"**The text cannot be read.** {said(error)}", icon=":material/error:")
        return None
    return _attention_of(run, f"text/{key}/{hashlib.sha256(text.encode(errors='replace')).hexdigest()[:16]}")


def run_source() -> MatrixSource | None:
    shown = latest()
    if shown is not None:
        RUN.among([LATEST, FILE])
        RUN.widget(st.radio, "Run", [LATEST, FILE], label_visibility="collapsed")
    if shown is None or RUN.value == FILE:
        run = uploaded_run(NAME) or opened_run()
        return None if run is None else _attention_of(run, f"run/{RECORDINGS.setdefault(run, f'file-{next(NUMBERS)}')}")
    try:
        run = run_of(*shown)
    except ModelError as error:
        st.error(f"**The run cannot be shown.** {said(error)}", icon=":material/error:")
        return None
    return _attention_of(run, f"run/{hashlib.sha256(repr(shown).encode()).hexdigest()[:16]}")


def _long_text() -> str:
    TEXT.widget(st.text_area, "Text", height=150, help="Ctrl + Enter takes what you typed.")
    st.popover("From a .txt file", icon=":material/upload_file:").file_uploader(
        "A .txt file, UTF-8", "txt", key="atlas_text_file", max_upload_size=LONG_TEXT_BYTES.millions, on_change=_fill
    )
    if TEXT_FAULT.value:
        st.warning(said(TEXT_FAULT.value))
    text = TEXT.value
    if len(text) > LONG_TEXT_LETTERS.most:
        st.caption(f"The first {LONG_TEXT_LETTERS} of {len(text):,} characters are read.")
    return text[: LONG_TEXT_LETTERS.most]


def _fill() -> None:
    """Put an uploaded text into the box; where it is no text, say so and keep the box as it is."""
    file = widget_value("atlas_text_file")
    TEXT_FAULT.value = ""
    if file is None:
        return
    if file.size > LONG_TEXT_BYTES.most:
        TEXT_FAULT.value = f"A text has at most {LONG_TEXT_BYTES.millions} MB; the text above is as it was."
        return
    try:
        text = file.getvalue().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        TEXT_FAULT.value = (
            f"{file.name} is not UTF-8 text: byte {error.start:,} fits no character. Save it as UTF-8; "
            "the text above is as it was."
        )
        return
    if not text.strip():
        TEXT_FAULT.value = f"{file.name} is empty; the text above is as it was."
    else:
        TEXT.value = text.replace("\r\n", "\n").replace("\0", "")


def _long_run(key: str, text: str) -> ModelRun:
    """Run the model on as much of the text as it knows positions for and its traces leave memory for."""
    run = run_of(key, TextInput(text))
    n_wanted = len(prepared_of(key, TextInput(text, most_tokens=LONG_TOKENS.most)).tokens)
    if n_wanted <= len(run.tokens):
        return run
    return run_of(key, TextInput(text, most_tokens=min(n_wanted, affordable_tokens(run))))


def _attention_of(run: ModelRun, key: str) -> MatrixSource:
    for note in (*run.notes, run.recording.note):
        if note:
            st.caption(said(note))
    traces = run.recording.traces
    places = range(len(traces))
    ATTENTION.among(places)
    ATTENTION.widget(
        st.selectbox, "Attention", places, format_func=lambda place: traces[place].story.name or f"number {place}"
    )
    trace = traces[ATTENTION.value]
    if trace.story.note:
        st.caption(said(trace.story.note))
    title = f"{run.model}, {trace.story.name or ATTENTION.value}"
    return MatrixSource(f"{key}/{ATTENTION.value}", title, trace.n_heads, lambda: trace)
