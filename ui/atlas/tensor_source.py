"""Queries and keys from a file that a visitor brings."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from attention_core.atlas.made_up import NEAR, made_up
from attention_core.atlas.tensors import (
    MOST_BYTES,
    Contents,
    Names,
    Tensors,
    contents_of,
    read_tensors,
    trace_of_tensors,
)
from attention_core.device import to_array
from ui.atlas.sources import MADE, TENSORS, Source, complain, shown
from ui.opened import opened_file, opened_recording

TYPES = ("npz", "safetensors")
EXAMPLE = 16_384
KEPT = 2
"""Files whose tensors the server keeps for all visitors together."""
HOW = (
    "In a notebook: `np.savez('mine.npz', query=q, key=k, value=v)`, each (heads, n, d) or (n, d); `value`, `mask` and "
    "`labels` may be left out. Up to {most} MiB of float16, bfloat16, float32 or float64 numbers. Nothing is unpickled."
)


def tensor_source(name: str) -> Source | None:
    """Take a file, let the visitor say which arrays are meant and how they are used; say what is wrong with it.

    Args:
        name: prefix of its state.
    """
    state, key = st.session_state, f"{name}_tensors_kept"
    upload = st.file_uploader("A .npz or .safetensors file", TYPES, key=f"{name}_tensors")
    st.caption(HOW.format(most=f"{MOST_BYTES / 2**20:,.0f}"))
    if upload is not None:
        content = upload.getvalue()
        digest = hashlib.sha256(content).hexdigest()[:16]
        brought = {"name": upload.name, "digest": digest, "content": content}
        source = _source_or_complaint(name, brought)
        if source is not None:
            state[key] = brought
            return source
    kept = state.get(key) or _named_on_the_command_line()
    if kept is None:
        return _example(name)
    # An upload widget forgets its file when the page is left, and a file that cannot be used changes nothing.
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"Shown: {shown(kept['name'])}")
        if "content" in kept:
            st.button("Forget", key=f"{name}_forget", on_click=lambda: state.pop(key, None))
    return _source_or_complaint(name, kept)


def _source_or_complaint(name: str, kept: dict[str, Any]) -> Source | None:
    try:
        return _source(name, kept)
    except (ValueError, OSError) as error:
        complain("The file cannot be used.", error)
        return None


def _example(name: str) -> Source:
    """Show, and offer as a file, what somebody without a file of their own can try."""
    st.caption(f"Until then, an example: {EXAMPLE:,} made-up queries and keys, waves that agree where they are near.")
    st.download_button(
        "The example as .npz", _example_file, "example.npz", on_click="ignore", key=f"{name}_example", type="tertiary"
    )
    return Source(f"{MADE}/{NEAR}/{EXAMPLE}", "An example", 1, lambda: made_up(NEAR, EXAMPLE))


def _example_file() -> bytes:
    trace, file = made_up(NEAR, EXAMPLE), io.BytesIO()
    np.savez(file, query=to_array(trace.query), key=to_array(trace.key), labels=np.array(trace.story.key_axis.labels))
    return file.getvalue()


def _named_on_the_command_line() -> dict[str, Any] | None:
    file = opened_file()
    if file is None or opened_recording():
        return None
    changed = file.stat().st_mtime if file.exists() else 0
    return {"name": file.name, "digest": f"{file}/{changed}", "path": str(file)}


def _source(name: str, kept: dict[str, Any]) -> Source:
    names = _choose_arrays(name, _contents(kept["digest"], kept["name"], kept))
    tensors = _tensors(kept["digest"], names, kept["name"], kept)
    causal = st.toggle(
        "Causal",
        key=f"{name}_causal",
        persist_state="session",
        help="Query i may attend to keys 0 to i only, besides a mask that the file may hold.",
    )
    scale = st.number_input(
        "Scale",
        value=None,
        format="%.6g",
        placeholder=f"1/√{tensors.query.shape[-1]} = {tensors.query.shape[-1] ** -0.5:.4g}",
        key=f"{name}_scale",
        persist_state="session",
        help="The factor on the dot products before the softmax.",
    )
    if scale == 0:
        raise ValueError("The scale is 0: every weight would be alike. Leave the field empty for 1/√d.")
    title = f"{kept['name']}, {names.query}"
    n_heads = tensors.query.shape[0]

    def trace():
        parts = {"scale": scale, "is_causal": causal, "mask": tensors.mask, "labels": tensors.labels, "name": title}
        return trace_of_tensors(tensors.query, tensors.key, tensors.value, **parts)

    return Source(f"{TENSORS}/{kept['digest']}/{'+'.join(map(str, names))}/{causal}/{scale}", title, n_heads, trace)


def _choose_arrays(name: str, contents: Contents) -> Names:
    """Return which arrays are meant: those that are so by their names, if they are one set; else let people say."""
    own = "I say which"
    sets = {one.query: one for one in contents.sets}
    chosen = own
    if len(sets) == 1:
        return next(iter(sets.values()))
    if sets:
        chosen = st.selectbox("Queries", [*sets, own], key=f"{name}_set", persist_state="session")
    if chosen != own:
        return sets[chosen]
    arrays = [one.name for one in contents.entries]
    if len(arrays) < 2:
        held = ", ".join(arrays) or "nothing"
        raise ValueError(f"It must hold queries and keys, two arrays at least; it holds {held}.")
    st.caption("No array is called query or key. Say which are which.")
    query = st.selectbox("Queries", arrays, index=0, key=f"{name}_query_array")
    key = st.selectbox("Keys", arrays, index=1, key=f"{name}_key_array")
    return Names(query, key)


@st.cache_data(max_entries=8, show_spinner=False)
def _contents(digest: str, name: str, _kept: dict[str, Any]) -> Contents:
    return contents_of(_bytes_or_path(_kept), name)


@st.cache_resource(max_entries=KEPT, show_spinner="Reading the tensors")
def _tensors(digest: str, names: Names, name: str, _kept: dict[str, Any]) -> Tensors:
    return read_tensors(_bytes_or_path(_kept), name, names=names)


def _bytes_or_path(kept: dict[str, Any]) -> bytes | Path:
    return kept["content"] if "content" in kept else Path(kept["path"])
