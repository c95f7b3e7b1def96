"""Controls of the page of scoring functions: presets, number of keys, tables of vectors and of parameters."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st
from torch import Tensor

from attention_core.attention.scores import SCORES
from attention_core.topics.scoring.presets import VECTOR_PRESETS
from ui.scoring import state as kept
from ui.scoring.number_table import Rows, number_table
from ui.scoring.parts import key_name
from ui.scoring.state import DIMENSIONS, LIMIT, MAX_KEYS, MIN_KEYS, NAME

PARAMETER_LIMIT = 100.0


def _choose_dimension() -> int:
    return st.segmented_control(
        "Numbers per vector, d",
        DIMENSIONS,
        key=f"{NAME}_d",
        required=True,
        persist_state="session",
        format_func=lambda d: f"d = {d}",
        label_visibility="collapsed",
    )


def controls() -> int:
    """Draw the vectors' width, presets, random vectors, the number of keys, a note on the preset; return the width."""
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        d = _choose_dimension()
        n_keys = len(kept.vectors(d)[1])
        for preset in VECTOR_PRESETS if d == 2 else ():
            st.button(preset.name, key=f"{NAME}_preset_{preset.name}", on_click=kept.put_preset, args=(preset,))
        st.button("Random", key=f"{NAME}_random", on_click=kept.shuffle, args=(d,))
        st.button(
            "vᵀtanh([q; k])",
            key=f"{NAME}_printed",
            on_click=kept.put_printed_formula,
            args=(d,),
            help="A formula often printed, without W, in the place of concat",
        )
        st.button(
            "+ key",
            key=f"{NAME}_more",
            on_click=kept.change_number_of_keys,
            args=(d, 1),
            disabled=n_keys >= MAX_KEYS,
            help=f"One key more, up to {MAX_KEYS}",
        )
        st.button(
            "− key",
            key=f"{NAME}_fewer",
            on_click=kept.change_number_of_keys,
            args=(d, -1),
            disabled=n_keys <= MIN_KEYS,
            help="The last key goes",
        )
    st.caption(st.session_state[f"{NAME}_notes"][d] or "Your own arrangement.")
    return d


def vector_table(d: int) -> None:
    """Draw query and keys as a table to type into."""
    query, keys = kept.vectors(d)
    number_table(
        f"{NAME}_vectors_{d}",
        [query, *keys],
        ["q", *(key_name(place) for place in range(len(keys)))],
        [f"x{place + 1}" for place in range(d)],
        limit=LIMIT,
        version=st.session_state[f"{NAME}_version"],
        on_edit=lambda rows: kept.take_typed(d, rows),
    )


def parameter_table(d: int, parameters: Mapping[str, Tensor]) -> None:
    """Draw the parameters of one function as a table to type into, and the way back to the trained ones."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        function = st.segmented_control(
            "Parameters of",
            [name for name, kind in SCORES.items() if kind.parameter_names()],
            default="general",
            key=f"{NAME}_parameters_of",
            required=True,
            persist_state="session",
        )
        st.button(
            "Back to trained",
            key=f"{NAME}_trained",
            on_click=kept.back_to_trained,
            args=(d,),
            icon=":material/undo:",
            disabled=not kept.changed_functions(d),
        )
    blocks = {name: parameters[name] for name in SCORES[function].parameter_names()}
    columns = [column for name, block in blocks.items() for column in _columns(name.split(".")[1], block)]
    rows = [
        [number for block in blocks.values() for number in block[row].reshape(-1).tolist()]
        for row in range(len(next(iter(blocks.values()))))
    ]
    number_table(
        f"{NAME}_parameters_{d}_{function}",
        rows,
        [f"{'position' if function == 'location' else 'row'} {row + 1}" for row in range(len(rows))],
        columns,
        limit=PARAMETER_LIMIT,
        version=st.session_state[f"{NAME}_version"],
        on_edit=lambda edited: kept.put_parameters(d, _split(blocks, edited), typed=True),
    )


def _columns(name: str, block: Tensor) -> list[str]:
    return [name] if block.ndim == 1 else [f"{name}[{place + 1}]" for place in range(block.shape[1])]


def _split(blocks: Mapping[str, Tensor], rows: Rows) -> dict[str, Rows | list[float]]:
    """Return the table's columns as the parameters that they came from."""
    parts: dict[str, Rows | list[float]] = {}
    start = 0
    for name, block in blocks.items():
        stop = start + (1 if block.ndim == 1 else block.shape[1])
        parts[name] = [row[start] if block.ndim == 1 else row[start:stop] for row in rows]
        start = stop
    return parts
