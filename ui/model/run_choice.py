"""What the page of models shows: a model that runs on an input, or a recording from a file."""

from __future__ import annotations

import streamlit as st

from attention_core.hub.model import ModelError
from attention_core.hub.run import ModelRun
from ui.model.input import choose_input
from ui.opened import opened_recording
from ui.runs.recording import opened_run, uploaded_run
from ui.runs.runs import Latest, pretrained_of, remember, run_of
from ui.runs.source import choose_model

MODEL, RECORDING = "A model", "A recording"


def choose_source(name: str) -> str | ModelRun | None:
    """Let a person choose a model, or a recording.

    Args:
        name: prefix of the page's state.

    Returns:
        the model's key, or what the recording holds; None while there is neither.
    """
    what = st.segmented_control(
        "Look at",
        [MODEL, RECORDING],
        default=RECORDING if opened_recording() else MODEL,
        key=f"{name}_what",
        required=True,
        persist_state="session",
        label_visibility="collapsed",
    )
    return choose_model(name) if what == MODEL else _recording(name)


def choose_run(name: str, source: str | ModelRun | None) -> tuple[ModelRun | None, Latest | None]:
    """Let a person give the model its input, and run it.

    Args:
        name: prefix of the page's state.
        source: from choose_source.

    Returns:
        the run, or None while there is none to show, and the model and input that it came from; None for a recording.
    """
    if source is None or isinstance(source, ModelRun):
        return _told(source), None
    try:
        given = choose_input(name, pretrained_of(source))
        if given is None:
            return None, None
        run = run_of(source, given)
    except ModelError as error:
        st.error(str(error), icon=":material/error:")
        return None, None
    remember(source, given)
    return _told(run), Latest(source, given)


def _told(run: ModelRun | None) -> ModelRun | None:
    for note in run.notes if run is not None else ():
        st.info(note)
    return run


def _recording(name: str) -> ModelRun | None:
    run = opened_run()
    if run is None:
        run = uploaded_run(name)
    else:
        with st.popover("Another recording", icon=":material/upload_file:"):
            run = uploaded_run(name) or run
    if run is not None:
        n_heads = sum(trace.n_heads for trace in run.recording.traces)
        st.markdown(f"**{run.model}**: {len(run.recording):,} calls of attention, {n_heads:,} heads.")
    return run
