"""Where tokens look: text with shading or two columns with arcs; for a picture its patches."""

from __future__ import annotations

from functools import partial

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.device import to_array
from attention_core.explain.heads import PLAIN, Look, is_of_itself, matrix_for
from attention_core.explain.heads.look import shown
from attention_core.explain.heads.rows import whole_rows
from attention_core.hub.run import ModelRun, patches_of, special_keys
from ui.labels import literal
from ui.model.handed_over import not_plain
from ui.model.kept import kept
from ui.model.patches import patch_view
from ui.model.state import choose, chosen, write_address
from ui.model.token_component import Tokens, token_component

WINDOW = 512
"""Queries and keys that are sent to the browser; of longer inputs a window."""


def token_view(name: str, run: ModelRun, trace: AttentionTrace, head: int, look: Look = PLAIN) -> None:
    """Draw where the tokens of a head look; a click on one makes it the query.

    Args:
        name: prefix of its state.
        run: what is on the page.
        trace: of the layer.
        head: of the layer, from 0.
        look: what is shown in place of the plain weights.
    """
    write_address(name, run)  # a click here reruns no more than this part of the page
    if not look.is_plain:
        st.caption(not_plain(look, trace))
    query = min(chosen(name, run).query, trace.n_queries - 1)
    patches = patches_of(run, trace)
    if patches is not None and run.picture is not None:
        row = kept(
            run,
            ("row", trace.story.name, head, look, query),
            lambda: to_array(matrix_for(trace, head, look, [query])[0]),
        )
        column = kept(
            run,
            ("column", trace.story.name, head, look, query),
            lambda: to_array(matrix_for(trace, head, look, cols=[query])[:, 0]),
        )
        patch_view(name, run, patches, query, row, column, percent=not look.times_value or look.normalised)
        return
    rows, cols = _windows(name, run, trace, head, look, query)
    drawn = kept(
        run,
        ("tokens", trace.story.name, head, look, rows.start, cols.start),
        lambda: tokens_of(run, trace, head, look, rows, cols),
    )
    if drawn.empty:
        names = ", ".join(literal(trace.story.query_axis.labels[one], 16) for one in drawn.empty[:6])
        st.caption(f"All that {names}{' and others' * (len(drawn.empty) > 6)} looked at is hidden: their rows are 0.")
    token_component(name, drawn, query)


def tokens_of(run: ModelRun, trace: AttentionTrace, head: int, look: Look, rows: slice, cols: slice) -> Tokens:
    """Return what a window of a head's matrix shows."""
    whole, empty = shown(trace, head, look, whole_rows(trace, head, rows).weights, rows)
    whole = whole.nan_to_num()
    matrix = to_array(whole[:, cols])
    n_keys = trace.n_keys
    beyond = (to_array(whole.sum(1)) - matrix.sum(1)).clip(0) if cols != slice(0, n_keys) else None
    of_itself = is_of_itself(trace)
    special = special_keys(run, trace)
    of_keys = frozenset(one - cols.start for one in special if cols.start <= one < cols.stop)
    of_queries = frozenset(one - rows.start for one in special if rows.start <= one < rows.stop and of_itself)
    return Tokens(
        matrix=matrix,
        queries=list(trace.story.query_axis.labels[rows]),
        keys=None if of_itself else list(trace.story.key_axis.labels[cols]),
        names=(f"Queries, {trace.story.query_axis.name}", f"Keys, {trace.story.key_axis.name}"),
        muted=(of_queries, of_keys),
        start=(rows.start, cols.start),
        outside=beyond,
        percent=not look.times_value or look.normalised,
        n_keys=n_keys,
        empty=tuple(empty),
    )


def _windows(name: str, run: ModelRun, trace: AttentionTrace, head: int, look: Look, query: int) -> tuple[slice, slice]:
    """Return the rows and columns to send; of long inputs a window that a person can move."""
    if max(trace.n_queries, trace.n_keys) <= WINDOW:
        return slice(0, trace.n_queries), slice(0, trace.n_keys)
    key = f"{name}_window"
    last = max(trace.n_queries - WINDOW, 0)
    start = min(st.session_state.get(key, query - WINDOW // 2), last)
    if not start <= query < start + WINDOW:
        start = query - WINDOW // 2
    st.session_state[key] = start = min(max(start, 0), last)
    if last:
        st.slider(
            "Window begins at token",
            0,
            last,
            key=key,
            step=1,
            on_change=partial(_moved, name, key, query, trace.n_queries),
        )
    rows = slice(start, min(start + WINDOW, trace.n_queries))
    cols = rows
    if not is_of_itself(trace):
        best = int(
            kept(
                run,
                ("best", trace.story.name, head, look, query),
                lambda: matrix_for(trace, head, look, [query])[0].argmax(),
            )
        )
        first = min(max(best - WINDOW // 2, 0), max(trace.n_keys - WINDOW, 0))
        cols = slice(first, min(first + WINDOW, trace.n_keys))
    st.caption(
        f"A window of {rows.stop - rows.start} queries and {cols.stop - cols.start} keys of {trace.n_queries:,} and "
        f"{trace.n_keys:,}; the atlas shows them all."
    )
    return rows, cols


def _moved(name: str, key: str, query: int, n_queries: int) -> None:
    """Bring the query into the window that was moved."""
    start = int(st.session_state[key])
    if not start <= query < start + WINDOW:
        choose(name, query=min(start + WINDOW // 2, n_queries - 1))
