"""Attention of models: a text of any length through a loaded one, what the page of models shows, a recorded run."""

from __future__ import annotations

import hashlib
import itertools
from typing import Any
from weakref import WeakKeyDictionary

import streamlit as st

from attention_core.data.long_text import THE_LIGHTHOUSE
from attention_core.hub.length import MOST_TOKENS, affordable_tokens
from attention_core.hub.model import Kind, ModelError
from attention_core.hub.run import ModelRun
from ui.atlas.sources import RUN, TEXT, Source, complain
from ui.runs.recording import opened_run, uploaded_run
from ui.runs.runs import TextInput, latest, prepared_of, pretrained_of, run_of
from ui.runs.source import choose_model

MOST_CHARACTERS = 1_000_000
MOST_FILE_MEGABYTES = 4
NUMBERS: WeakKeyDictionary[ModelRun, str] = WeakKeyDictionary()
NEXT = itertools.count()
LATEST, FILE = "What the model page shows", "A recording from a file"


def text_source(name: str) -> Source | None:
    """Let a visitor choose a model and give it a long text, typed, pasted or from a file; say what was cut.

    Args:
        name: prefix of its state.
    """
    key = _choose_model(name)
    text = _text(name)
    if key is None:
        return None
    try:
        run = _long_run(key, text)
    except ModelError as error:
        complain("The text cannot be read.", error)
        return None
    _remarks(run)
    return _attention_of(name, run, f"{TEXT}/{key}/{hashlib.sha256(text.encode(errors='replace')).hexdigest()[:16]}")


def run_source(name: str) -> Source | None:
    """Show what the page of models shows, or a recording from a file.

    Args:
        name: prefix of its state.
    """
    shown = latest()
    choices = [*([LATEST] if shown is not None else []), FILE]
    which = choices[0]
    if len(choices) > 1:
        which = st.radio("Run", choices, key=f"{name}_run", label_visibility="collapsed", persist_state="session")
    if which == LATEST and shown is not None:
        try:
            run = run_of(*shown)
        except ModelError as error:
            complain("The run cannot be shown.", error)
            return None
        digest = hashlib.sha256(repr(shown).encode()).hexdigest()[:16]
    else:
        run = uploaded_run(name) or opened_run()
        if run is None:
            return None
        digest = _number(run)
    _remarks(run)
    return _attention_of(name, run, f"{RUN}/{digest}")


def _long_run(key: str, text: str) -> ModelRun:
    """Run the model on as much of the text as it knows positions for and its traces leave memory for."""
    short, wanted = TextInput(text), TextInput(text, most_tokens=MOST_TOKENS)
    run = run_of(key, short)
    n_wanted = len(prepared_of(key, wanted).tokens)
    if n_wanted <= len(run.tokens):
        return run
    return run_of(key, TextInput(text, most_tokens=min(n_wanted, affordable_tokens(run))))


def _choose_model(name: str) -> str | None:
    with st.popover("Another model", icon=":material/swap_horiz:"):
        key = choose_model(f"{name}_text")
    if key is None:
        st.info("No model is on this machine yet. “Another model” fetches one.")
        return None
    st.caption(f"Read by {key}.")
    try:
        pretrained = pretrained_of(key)
    except ModelError as error:
        complain("The model cannot be loaded.", error)
        return None
    if pretrained.kind is Kind.VISION:
        st.info(f"{key} looks at pictures. Choose a model that reads, or see the page “Your own model”.")
        return None
    return key


def _text(name: str) -> str:
    """Return the text in the box; a file fills the box."""
    state, key = st.session_state, f"{name}_text"
    if not isinstance(state.get(key), str):
        state[key] = THE_LIGHTHOUSE
    st.text_area("Text", key=key, height=150, persist_state="session", help="Ctrl + Enter takes what you typed.")
    upload = f"{name}_text_file"
    st.popover("From a .txt file", icon=":material/upload_file:").file_uploader(
        "A .txt file, UTF-8",
        "txt",
        key=upload,
        max_upload_size=MOST_FILE_MEGABYTES,
        on_change=_fill,
        args=(name, upload),
    )
    if state.get(f"{name}_text_note"):
        st.warning(state[f"{name}_text_note"])
    text = state[key]
    if len(text) > MOST_CHARACTERS:
        st.caption(f"The first {MOST_CHARACTERS:,} of {len(text):,} characters are read.")
    return text[:MOST_CHARACTERS]


def _fill(name: str, upload: str) -> None:
    """Put an uploaded text into the box; where it is no text, say so and keep the box as it is."""
    state = st.session_state
    file: Any = state.get(upload)
    state[f"{name}_text_note"] = ""
    if file is None:
        return
    try:
        text = file.getvalue().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        state[f"{name}_text_note"] = (
            f"{file.name} is not UTF-8 text: byte {error.start:,} fits no character. Save it as UTF-8; "
            "the text above is as it was."
        )
        return
    if not text.strip():
        state[f"{name}_text_note"] = f"{file.name} is empty; the text above is as it was."
        return
    state[f"{name}_text"] = text.replace("\r\n", "\n").replace("\0", "")


def _number(run: ModelRun) -> str:
    """Return what tells an opened recording from every other; it is one object for all visitors."""
    return NUMBERS.setdefault(run, f"file-{next(NEXT)}")


def _remarks(run: ModelRun) -> None:
    for note in (*run.notes, run.recording.note):
        if note:
            st.caption(note)


def _attention_of(name: str, run: ModelRun, key: str) -> Source:
    """Let people choose one of the run's attentions."""
    traces = run.recording.traces
    state, widget = st.session_state, f"{name}_attention"
    if state.get(widget) not in range(len(traces)):
        state[widget] = 0
    place = st.selectbox(
        "Attention",
        range(len(traces)),
        format_func=lambda one: traces[one].story.name or f"number {one}",
        key=widget,
        persist_state="session",
    )
    trace = traces[place]
    if trace.story.note:
        st.caption(trace.story.note)
    return Source(f"{key}/{place}", f"{run.model}, {trace.story.name or place}", trace.n_heads, lambda: trace)
