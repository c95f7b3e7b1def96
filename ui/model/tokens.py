"""Where tokens look: text with shading or two columns with arcs; for a picture its patches.

A component rather than a chart: tokens keep their type and wrap as text does, and hovering needs no server.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from attention_core.heads import PLAIN, Look, is_of_itself, matrix_for, patches_of, special_keys
from attention_core.pretrained.run import ModelRun
from attention_core.trace import AttentionTrace
from ui.model.kept import kept
from ui.model.patches import patch_view
from ui.model.state import choose, chosen, write_address

ASSETS = Path(__file__).parents[1] / "assets"
WINDOW = 512
"""Queries and keys that are sent to the browser; of longer inputs a window."""

_component = st.components.v2.component(
    "token_view",
    html='<div class="root"></div>',
    css=(ASSETS / "token_view.css").read_text(encoding="utf-8"),
    js=(ASSETS / "token_view.js").read_text(encoding="utf-8"),
)


class Tokens(NamedTuple):
    """What the component draws.

    Attributes:
        matrix: float (n_queries, n_keys), as it is shown.
        queries: labels of its rows.
        keys: labels of its columns; None if they are the same tokens.
        names: what the queries and the keys are.
        muted: rows and columns that are no words.
        start: position of the first row and column in the whole input.
        outside: of each row, what goes to keys beyond the columns; None if there are none.
        percent: whether the numbers are shares.
    """

    matrix: np.ndarray
    queries: Sequence[str]
    keys: Sequence[str] | None
    names: tuple[str, str]
    muted: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())
    start: tuple[int, int] = (0, 0)
    outside: np.ndarray | None = None
    percent: bool = True


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
    query = min(chosen(name, run).query, trace.n_queries - 1)
    patches = patches_of(run, trace)
    if patches is not None and run.picture is not None:
        row = kept(
            run,
            ("row", trace.name, head, look, query),
            lambda: matrix_for(trace, head, look, [query])[0].numpy(force=True),
        )
        column = kept(
            run,
            ("column", trace.name, head, look, query),
            lambda: matrix_for(trace, head, look, cols=[query])[:, 0].numpy(force=True),
        )
        patch_view(name, run, patches, query, row, column, percent=not look.times_value or look.normalised)
        return
    rows, cols = _windows(name, run, trace, head, look, query)
    shown = kept(
        run,
        ("tokens", trace.name, head, look, rows.start, cols.start),
        lambda: tokens_of(run, trace, head, look, rows, cols),
    )
    token_component(name, shown, (id(run), trace.name, head, repr(look), rows.start, cols.start), query)


def tokens_of(run: ModelRun, trace: AttentionTrace, head: int, look: Look, rows: slice, cols: slice) -> Tokens:
    """Return what a window of a head's matrix shows."""
    whole = matrix_for(trace, head, look, rows)
    matrix = whole[:, cols].numpy(force=True)
    n_keys = trace.n_keys
    beyond = (whole.sum(1).numpy(force=True) - matrix.sum(1)).clip(0) if cols != slice(0, n_keys) else None
    of_itself = is_of_itself(trace)
    special = special_keys(run, trace)
    of_keys = frozenset(one - cols.start for one in special if cols.start <= one < cols.stop)
    of_queries = frozenset(one - rows.start for one in special if rows.start <= one < rows.stop and of_itself)
    return Tokens(
        matrix=matrix,
        queries=list(trace.query_axis.labels[rows]),
        keys=None if of_itself else list(trace.key_axis.labels[cols]),
        names=(f"Queries, {trace.query_axis.name}", f"Keys, {trace.key_axis.name}"),
        muted=(of_queries, of_keys),
        start=(rows.start, cols.start),
        outside=beyond,
        percent=not look.times_value or look.normalised,
    )


def token_component(
    name: str, shown: Tokens, identity: tuple, query: int, *, on_choose: Callable[[int], None] | None = None
) -> None:
    """Draw tokens and numbers between them.

    Args:
        name: prefix of its state.
        shown: what is drawn.
        identity: equal for equal `shown`.
        query: that is chosen, as a position in the whole input.
        on_choose: called with the position that was clicked; chooses the query if None.
    """
    key = f"{name}_tokens"
    active, stamp = _seed(key, identity, query)
    high = float(shown.matrix.max(initial=0.0))
    _component(
        key=key,
        data={
            "queries": _pieces(shown.queries, shown.muted[0]),
            "keys": None if shown.keys is None else _pieces(shown.keys, shown.muted[1]),
            "names": list(shown.names),
            "packed": packed(shown.matrix, high),
            "high": high,
            "active": min(max(active - shown.start[0], 0), len(shown.queries) - 1),
            "start": list(shown.start),
            "outside": None if shown.outside is None else [round(float(one), 5) for one in shown.outside],
            "uniform": 1 / max(shown.matrix.shape[1], 1),
            "percent": shown.percent,
            "stamp": stamp,
        },
        default={"chosen": None},
        on_chosen_change=partial(_take, name, key, on_choose),
    )


def packed(matrix: np.ndarray, high: float) -> str:
    """Return a matrix as text: 16 bits a cell, the square root of its share of the largest, base64.

    A weight of a thousandth of the largest is exact to 1 in 1,000, one of a hundred-thousandth to 1 in 100.
    """
    shares = np.sqrt(np.clip(np.nan_to_num(matrix) / (high or 1.0), 0, 1))
    return base64.b64encode(np.rint(65535 * shares).astype("<u2").tobytes()).decode()


def pieces(labels: Sequence[str]) -> list[tuple[str, bool]]:
    """Return each token's text, and whether it goes on with the word before.

    A word begins with a space (or the signs Ġ and ▁ that stand for one) where any token of the text has one; else
    "##" goes on with a word; else every token stands alone.
    """
    spaced = any(label[:1] in (" ", "Ġ", "▁") and len(label) > 1 for label in labels)
    found = []
    for place, label in enumerate(labels):
        if spaced:
            begins = label[:1] in (" ", "Ġ", "▁")
            is_named = label.startswith(("<", "[")) and label.endswith((">", "]"))
            after_named = place > 0 and labels[place - 1].endswith((">", "]"))
            found.append((label[1:] if begins and len(label) > 1 else label, not (begins or is_named or after_named)))
        else:
            glued = label.startswith("##") and len(label) > 2
            found.append((label[2:] if glued else label, glued))
    return [(text or "·", glued) for text, glued in found]


def _pieces(labels: Sequence[str], muted: frozenset[int]) -> list[list]:
    return [[text, glued, place in muted] for place, (text, glued) in enumerate(pieces(labels))]


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
                run, ("best", trace.name, head, look, query), lambda: matrix_for(trace, head, look, [query])[0].argmax()
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


def _seed(key: str, identity: tuple, query: int) -> tuple[int, str]:
    """Return the query to send and a stamp: after a click in the component both stay, so that nothing is sent again."""
    clicked = (st.session_state.get(key) or {}).get("chosen") or {}
    kept_key = f"{key}_sent"
    known = hash(identity)
    sent: dict[str, Any] = st.session_state.get(kept_key) or {"identity": None, "count": 0}
    if sent["identity"] != known or (query != sent["shown"] and query != clicked.get("row")):
        sent = {"identity": known, "query": query, "count": sent["count"] + 1}
    st.session_state[kept_key] = {**sent, "shown": query}
    return sent["query"], f"{known}:{sent['count']}"


def _take(name: str, key: str, on_choose: Callable[[int], None] | None) -> None:
    row = ((st.session_state.get(key) or {}).get("chosen") or {}).get("row")
    if isinstance(row, int) and row >= 0:
        (on_choose or (lambda place: choose(name, query=place)))(row)
