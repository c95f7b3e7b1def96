"""What a visitor arranged on the page of scoring functions: vectors and parameters, kept over page changes.

Everything is plain numbers in st.session_state; widgets are drawn from it and write to it in callbacks.
"""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st
import torch
from torch import Tensor

from attention_core.topics.scoring.presets import VECTOR_PRESETS, VectorPreset, random_vectors
from ui.scoring.number_table import Rows
from ui.scoring.vector_plane import take_move

NAME = "scoring"
DIMENSIONS = (2, 3, 4, 8)
MIN_KEYS, MAX_KEYS = 2, 6
LIMIT = 4.0
"""Largest absolute value of a number in a vector: the plane ends there."""


def begin() -> None:
    """Fill in what a visitor finds on arrival."""
    state = st.session_state
    if f"{NAME}_vectors" in state:
        return
    state[f"{NAME}_vectors"] = {}
    state[f"{NAME}_parameters"] = {}
    state[f"{NAME}_revision"] = state[f"{NAME}_version"] = state[f"{NAME}_answered"] = state[f"{NAME}_active"] = 0
    state[f"{NAME}_moving"] = False
    state[f"{NAME}_d"] = 2
    state[f"{NAME}_seed"] = 0
    state[f"{NAME}_notes"] = {}
    for d in DIMENSIONS:
        query, keys = random_vectors(d, 4, seed=d)
        state[f"{NAME}_vectors"][d] = {"query": list(query), "keys": [list(key) for key in keys]}
        state[f"{NAME}_notes"][d] = "Random vectors, drawn as in the training of the parameters."
    put_preset(VECTOR_PRESETS[0])
    linked = read_link(st.query_params.get("vectors", ""))
    if linked is not None:
        d, query, keys = linked
        state[f"{NAME}_d"] = d
        put_vectors(d, query, keys)
        state[f"{NAME}_notes"][d] = ""


def read_link(text: str) -> tuple[int, list[float], Rows] | None:
    """Return d, query and keys from a link such as "2,1.5;1.75,2.25;3.5,2"; None when it is not one."""
    try:
        rows = [[float(number) for number in row.split(",")] for row in text[:1000].split(";")]
    except ValueError:
        return None
    d = len(rows[0])
    sound = d in DIMENSIONS and MIN_KEYS + 1 <= len(rows) <= MAX_KEYS + 1
    if not sound or not all(len(row) == d and all(abs(number) <= LIMIT for number in row) for row in rows):
        return None
    return d, rows[0], rows[1:]


def write_link(d: int) -> None:
    """Put query and keys into the address, so that a link reopens what somebody saw."""
    query, keys = vectors(d)
    text = ";".join(",".join(f"{number:g}" for number in row) for row in [query, *keys])
    if st.query_params.get("vectors") != text:
        st.query_params["vectors"] = text


def vectors(d: int) -> tuple[list[float], Rows]:
    """Return the query and the keys of d numbers."""
    both = st.session_state[f"{NAME}_vectors"][d]
    return both["query"], both["keys"]


def put_vectors(d: int, query: list[float], keys: Rows, *, typed: bool = False) -> None:
    """Replace query and keys from outside the plane; a table that was typed into stays as it is."""
    state = st.session_state
    state[f"{NAME}_vectors"][d] = {"query": list(query), "keys": [list(key) for key in keys]}
    state[f"{NAME}_active"] = min(state[f"{NAME}_active"], len(keys) - 1)
    state[f"{NAME}_revision"] += 1
    if not typed:
        state[f"{NAME}_version"] += 1


def take_typed(d: int, rows: Rows) -> None:
    """Take over a table whose first row is the query."""
    put_vectors(d, rows[0], rows[1:], typed=True)
    st.session_state[f"{NAME}_notes"][d] = ""


def take_plane() -> None:
    """Take over what was dragged; a message from before Python's own last change comes too late and is dropped."""
    state = st.session_state
    move = take_move(NAME)
    if move is None:
        return
    state[f"{NAME}_answered"] = move["sequence"]
    if move["revision"] != state[f"{NAME}_revision"]:
        return
    state[f"{NAME}_vectors"][2] = {"query": move["query"], "keys": move["keys"]}
    state[f"{NAME}_active"] = move["active"]
    state[f"{NAME}_moving"] = move["moving"]
    if not move["moving"]:
        state[f"{NAME}_version"] += 1
    state[f"{NAME}_notes"][2] = ""


def put_preset(preset: VectorPreset) -> None:
    """Arrange query and keys as a preset has them."""
    put_vectors(2, list(preset.query), [list(key) for key in preset.keys])
    st.session_state[f"{NAME}_notes"][2] = preset.explanation


def shuffle(d: int) -> None:
    """Draw new random vectors."""
    state = st.session_state
    state[f"{NAME}_seed"] += 1
    query, keys = random_vectors(d, len(vectors(d)[1]), seed=100 * d + state[f"{NAME}_seed"])
    put_vectors(d, list(query), [list(key) for key in keys])
    state[f"{NAME}_notes"][d] = "Random vectors, drawn as in the training of the parameters."


def change_number_of_keys(d: int, by: int) -> None:
    """Add a random key at the end, or take the last one away."""
    query, keys = vectors(d)
    if by > 0:
        _, more = random_vectors(d, len(keys) + 1, seed=7 * d + len(keys))
        keys = [*keys, list(more[-1])]
    put_vectors(d, query, keys[:by] if by < 0 else keys)


def parameters(d: int, trained: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the parameters in use, float64: the trained ones, with what the visitor changed laid over them."""
    own = st.session_state[f"{NAME}_parameters"].get(d, {})
    return {
        name: torch.tensor(own[name], dtype=torch.float64) if name in own else tensor.detach().cpu().double()
        for name, tensor in trained.items()
    }


def put_parameters(d: int, changed: Mapping[str, Rows | list[float]], *, typed: bool = False) -> None:
    """Lay changed parameters over the trained ones."""
    state = st.session_state
    state[f"{NAME}_parameters"].setdefault(d, {}).update(changed)
    if not typed:
        state[f"{NAME}_version"] += 1


def back_to_trained(d: int) -> None:
    """Forget the visitor's changes to the parameters."""
    st.session_state[f"{NAME}_parameters"].pop(d, None)
    st.session_state[f"{NAME}_version"] += 1
    st.session_state[f"{NAME}_notes"][d] = ""


def changed_functions(d: int) -> list[str]:
    """Return the functions whose parameters are no longer the trained ones."""
    return sorted({name.split(".")[0] for name in st.session_state[f"{NAME}_parameters"].get(d, {})})


def put_printed_formula(d: int) -> None:
    """Put vᵀtanh([q; k]) in the place of concat: the identity for W."""
    identity = torch.eye(2 * d).tolist()
    vector = [1.0, -0.5] * d
    put_parameters(d, {"concat.W": identity, "concat.v": vector})
    st.session_state[f"{NAME}_notes"][d] = (
        "concat is now vᵀtanh([q; k]) without W, as it is often printed. Move the query: its weights do not change at "
        "all. Why is shown further down, and the trained one comes back under The parameters."
    )
