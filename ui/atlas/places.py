"""Going somewhere on the map: a text that is looked for, a cell by its numbers, places worth a look."""

from __future__ import annotations

import streamlit as st

from attention_core.atlas import search
from ui.atlas.map import go_to
from ui.atlas.shelf import Shelf
from ui.labels import literal

CLOSE = 30
"""Cells along the map's shorter side where a token was found; a landmark's surroundings are a little wider."""
AROUND = 120
MOST_SEARCHED = 100
ROWS, COLUMNS, BOTH = "Rows", "Columns", "Both"


def places_part(name: str, shelf: Shelf) -> None:
    """Draw the search, the numbers and the places; each moves the map that is drawn after it.

    Args:
        name: prefix of its state and of the map's.
        shelf: the matrix.
    """
    state = st.session_state
    st.text_input(
        "Jump to a token",
        key=f"{name}_find",
        placeholder="a word, or a few",
        max_chars=MOST_SEARCHED,
        on_change=_search,
        args=(name, shelf),
        persist_state="session",
    )
    hits = _hits(name, shelf)
    if state.get(f"{name}_find", "").strip():
        _hit_part(name, shelf, hits)
    with st.popover("More places", icon=":material/explore:"):
        _numbers(name, shelf)
        _landmarks(name, shelf)


def _hit_part(name: str, shelf: Shelf, hits: list[int]) -> None:
    """Say how often the text is there, and go from one place to the next."""
    wanted, at = literal(st.session_state[f"{name}_find"].strip()), st.session_state.get(f"{name}_hit", 0)
    if not hits:
        st.caption(f"{wanted} is nowhere in this text, whatever the case and the blanks.")
        return
    st.caption(f"{wanted}: {min(at, len(hits) - 1) + 1:,} of {len(hits):,}, at {hits[min(at, len(hits) - 1)]:,}")
    st.segmented_control(
        "Among",
        (ROWS, COLUMNS, BOTH),
        key=f"{name}_among",
        default=BOTH,
        required=True,
        label_visibility="collapsed",
        on_change=_step,
        args=(name, shelf, 0),
        persist_state="session",
    )
    with st.container(horizontal=True, gap="small"):
        for label, icon, by in (("Previous", "chevron_left", -1), ("Next", "chevron_right", 1)):
            st.button(
                label,
                icon=f":material/{icon}:",
                key=f"{name}_hit_{'next' if by > 0 else 'previous'}",
                on_click=_step,
                args=(name, shelf, by),
            )


def _hits(name: str, shelf: Shelf) -> list[int]:
    """Return the positions of the text that is looked for, on the axis that it is looked for on."""
    wanted = st.session_state.get(f"{name}_find", "").strip()
    if not wanted:
        return []
    axis = "rows" if st.session_state.get(f"{name}_among") == ROWS else "columns"
    return _search_axis(shelf.key, axis, wanted, shelf)


@st.cache_data(max_entries=64, show_spinner=False)
def _search_axis(key: str, axis: str, wanted: str, _shelf: Shelf) -> list[int]:
    trace = _shelf.atlas.trace
    return search((trace.story.query_axis if axis == "rows" else trace.story.key_axis).labels, wanted)


def _search(name: str, shelf: Shelf) -> None:
    st.session_state[f"{name}_hit"] = 0
    _step(name, shelf, 0)


def _step(name: str, shelf: Shelf, by: int) -> None:
    """Go to the next hit, round the end."""
    state, hits = st.session_state, _hits(name, shelf)
    if not hits:
        return
    at = (state.get(f"{name}_hit", 0) + by) % len(hits)
    state[f"{name}_hit"] = at
    among = state.get(f"{name}_among") or BOTH
    row = hits[at] if among in (ROWS, BOTH) and hits[at] < shelf.atlas.n_queries else None
    go_to(name, row, hits[at] if among in (COLUMNS, BOTH) else None, CLOSE)


def _numbers(name: str, shelf: Shelf) -> None:
    with st.form(f"{name}_cell", border=False):
        left, right = st.columns(2)
        with left:
            row = st.number_input("Query (row)", 0, shelf.atlas.n_queries - 1, step=1, key=f"{name}_row")
        with right:
            column = st.number_input("Key (column)", 0, shelf.atlas.n_keys - 1, step=1, key=f"{name}_column")
        if st.form_submit_button("Go to the cell"):
            go_to(name, int(row), int(column), CLOSE // 3)


def _landmarks(name: str, shelf: Shelf) -> None:
    if not shelf.atlas.is_surveyed:
        st.caption("After the survey: the strongest cell far away, the key that is looked at most, and others.")
        return
    for place, one in enumerate(shelf.landmarks()):
        st.button(one.name, key=f"{name}_landmark_{place}", on_click=go_to, args=(name, one.row, one.column, AROUND))
        st.caption(one.words)
