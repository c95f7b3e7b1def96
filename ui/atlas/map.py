"""A matrix of any size as a map: the browser asks for the tiles that it lacks and gets these, and only these."""

from __future__ import annotations

import hashlib
import json
import struct
from typing import Any, NamedTuple

import streamlit as st

from attention_core.atlas import TILE
from attention_core.atlas.packed import has_mask
from attention_core.charts.palette import VIRIDIS
from ui.atlas.messages import asked_for, axis_entry, label_entry, packed_tiles
from ui.atlas.shelf import Shelf
from ui.atlas.sources import write_address
from ui.component import component, script_of

SCRIPT = script_of("atlas_tiles", "atlas_paint", "atlas_view", "atlas_drawing", "atlas_map").encode()
START = script_of("atlas_start").replace("{version}", hashlib.sha256(SCRIPT).hexdigest()[:16])
OPTIONS = {
    "scale": ("log", "linear"),
    "domain": ("view", "all"),
    "kind": ("mean", "largest"),
    "diagonal": (False, True),
}

_component = component("atlas_map", START)


class View(NamedTuple):
    """What part of the matrix is looked at.

    Attributes:
        row: in the middle, in cells.
        column: in the middle, in cells.
        across: cells along the shorter side of the map; None = the whole matrix.
    """

    row: float
    column: float
    across: float | None


def atlas_map(name: str, shelf: Shelf, *, title: str, is_running: bool = False) -> None:
    """Draw the map. Call it last in a fragment of its own: whenever tiles are asked for, that is run again.

    The view is kept over reruns and page changes, and in the address as `?map=row,column,across`.

    Args:
        name: prefix of its state.
        shelf: the matrix.
        title: of the matrix, for screen readers.
        is_running: whether a survey goes on, so that the browser asks again for what is not whole.
    """
    state, atlas = st.session_state, shelf.atlas
    _begin(name, shelf)
    asked = asked_for(name, shelf)
    tiles, contents, later = packed_tiles(shelf, asked.tiles)
    largest = atlas.row_largest
    header = {
        "atlas": shelf.key,
        "title": title,
        "rows": axis_entry(atlas.trace.story.query_axis),
        "columns": axis_entry(atlas.trace.story.key_axis),
        "levels": atlas.n_levels,
        "tile": TILE,
        "masks": has_mask(atlas),
        "surveyed": atlas.surveyed,
        "running": is_running,
        "largest": None if largest is None else float(largest.max()),
        "colours": VIRIDIS,
        "view": state[f"{name}_view"],
        "go": state.get(f"{name}_go"),
        "answered": asked.answered,
        "tiles": tiles,
        "later": later,
        "labels": [label_entry(shelf, axis, start) for axis, start in asked.labels],
    }
    head = json.dumps(header).encode()
    script = SCRIPT if asked.script else b""
    _component(
        key=f"{name}_map",
        data=b"".join((struct.pack("<I", len(script)), script, struct.pack("<I", len(head)), head, *contents)),
        default={"asked": None},
        on_asked_change=lambda: _remember(name, shelf.key),
    )
    state[f"{name}_answered"] = asked.answered


def go_to(name: str, row: float | None, column: float | None, across: float | None, *, mark: bool = True) -> None:
    """Move the map; of a row or a column alone the other coordinate stays as it is.

    Args:
        name: prefix of the map's state.
        row: the query, or None.
        column: the key, or None.
        across: cells along the shorter side of the map; None = as they are.
        mark: frame the cell, the row or the column.
    """
    state = st.session_state
    view = state.get(f"{name}_view") or {"row": 0, "column": 0, "across": None, "options": {}}
    where = {
        "row": view["row"] if row is None else row + 0.5,
        "column": view["column"] if column is None else column + 0.5,
        "across": across or view["across"],
    }
    number = state.get(f"{name}_go_number", 0) + 1
    state[f"{name}_go_number"] = number
    state[f"{name}_go"] = where | {"number": number, "mark": [row, column] if mark else None}
    state[f"{name}_view"] = view | where
    _write_address(where)


def _begin(name: str, shelf: Shelf) -> None:
    """Start with the view that the address tells, or the whole; begin anew with another shape of matrix."""
    state, shape = st.session_state, [shelf.atlas.n_queries, shelf.atlas.n_keys]
    if state.get(f"{name}_shape") == shape:
        return
    kept = state.get(f"{name}_view")
    first = f"{name}_shape" not in state
    view = _of_address(shape) if first else View(shape[0] / 2, shape[1] / 2, None)
    if not first:
        _write_address(view._asdict())
        state[f"{name}_go"] = None
    state[f"{name}_shape"] = shape
    state[f"{name}_view"] = view._asdict() | {"options": kept["options"] if kept else {}}


def _of_address(shape: list[int]) -> View:
    whole = View(shape[0] / 2, shape[1] / 2, None)
    try:
        row, column, across = (float(one) for one in st.query_params.get("map", "").split(","))
    except ValueError:
        return whole
    inside = 0 <= row <= shape[0] and 0 <= column <= shape[1] and 0 < across <= max(shape)
    return View(row, column, across) if inside else whole


def _write_address(where: dict[str, Any]) -> None:
    whole = where["across"] is None
    write_address("map", None if whole else f"{where['row']:.1f},{where['column']:.1f},{where['across']:.1f}")


def _remember(name: str, key: str) -> None:
    """Keep the view that came with the browser's last message.

    The address gets it from a message that asks for no tiles: to write it there takes the browser as long as a tile.
    """
    asked = (st.session_state.get(f"{name}_map") or {}).get("asked")
    view = asked.get("view") if isinstance(asked, dict) and asked.get("atlas") == key else None
    if not isinstance(view, dict):
        return
    numbers = [view.get(one) for one in ("row", "column", "across")]
    if not all(isinstance(one, int | float) for one in numbers[:2]) or not isinstance(numbers[2], int | float | None):
        return
    given = view.get("options")
    options = {
        one: given.get(one) for one, known in OPTIONS.items() if isinstance(given, dict) and given.get(one) in known
    }
    where = dict(zip(("row", "column", "across"), numbers, strict=True))
    st.session_state[f"{name}_view"] = where | {"options": options}
    if not asked.get("tiles"):
        _write_address(where)
