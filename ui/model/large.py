"""One head's matrix, large."""

from __future__ import annotations

import numpy as np
import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.charts.heatmap import MAX_RECT_SIDE, matrix_chart
from attention_core.charts.palette import VIRIDIS, Ramp, weights_ramp
from attention_core.device import to_array
from attention_core.explain.heads import Look, matrix_for
from ui.model.handed_over import what_is_shown
from ui.model.state import choose

MATRIX_SIZE = 430
MOST_DRAWN = 2048
"""Queries or keys up to which a matrix is drawn whole; beyond, the atlas serves better."""


def large_matrix(
    trace: AttentionTrace,
    head: int,
    look: Look,
    name: str,
    *,
    query: int | None = None,
    size: int = MATRIX_SIZE,
    side: str = "",
) -> None:
    """Draw a head's matrix as it is looked at; a click on a cell of a small one makes its row the query.

    Args:
        trace: of the layer.
        head: of the layer, from 0.
        look: what is shown in place of the plain weights.
        name: prefix of the page's state, in which a click chooses the query.
        query: row to mark, or None.
        size: screen pixels of the longer side.
        side: tells matrices apart that are on the page together.
    """
    if max(trace.n_queries, trace.n_keys) > MOST_DRAWN:
        st.info(f"{trace.n_queries:,} × {trace.n_keys:,} weights: the atlas shows all of them, like a map.")
        return
    values = to_array(matrix_for(trace, head, look).float())
    allowed = trace.allowed(head)
    if allowed is not None:
        values = np.where(to_array(allowed), values, np.nan)
    small = max(values.shape) <= MAX_RECT_SIDE
    largest = float(np.nanmax(values, initial=0))
    ramp = weights_ramp(trace.n_keys, largest) if look.is_plain else Ramp(VIRIDIS, 0, max(largest, 1e-12))
    key = f"{name}_matrix{side}_{trace.story.name}_{trace.n_queries}_{trace.n_keys}"
    pick = {"on_select": lambda: _take_cell(key, name), "selection_mode": "cell"} if small else {}
    st.altair_chart(
        matrix_chart(
            values,
            trace.story.query_axis,
            trace.story.key_axis,
            Role.WEIGHTS,
            title=what_is_shown(look),
            size=size,
            marked_row=query,
            ramp=ramp,
            select="cell" if small else None,
        ),
        key=key,
        width="content",
        alt=f"Attention of head {head + 1}: queries are rows, keys are columns",
        **pick,
    )


def _take_cell(key: str, name: str) -> None:
    cell = st.session_state[key]["selection"].get("cell")
    if cell:
        choose(name, query=int(cell[0]["row"]))
