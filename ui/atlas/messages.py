"""What the map in the browser asks for, checked, and what it is answered."""

from __future__ import annotations

import re
import time
from typing import Any, NamedTuple

import streamlit as st

from attention_core.attention.types import Axis
from ui.atlas.shelf import Shelf

MOST_TILES, MOST_LABELS, LABELS_AT_ONCE, LONGEST_LABEL = 12, 8, 512, 40
TILE_NAME = re.compile(r"(mean|largest)/(\d{1,2})/(\d{1,7})/(\d{1,7})")
AXES = ("rows", "columns")
PATIENCE = 0.3
"""Seconds after which an answer goes out without the tiles that are not there yet; the browser asks for them again."""

Place = tuple[str, int, int, int]


class Asked(NamedTuple):
    """What the browser wants.

    Attributes:
        tiles: key and place of each.
        labels: axis and first position of each piece.
        answered: who asks and the number of the question, to be told with the answer.
        script: whether it has nothing of the map yet.
    """

    tiles: list[tuple[str, Place]]
    labels: list[tuple[str, int]]
    answered: list[Any]
    script: bool = False


def packed_tiles(shelf: Shelf, asked: list[tuple[str, Place]]) -> tuple[list[dict[str, Any]], list[bytes], list[str]]:
    """Return what is told about each tile, the tiles, and the keys of those for which the time was too short.

    Args:
        shelf: of the matrix.
        asked: key and place of each.
    """
    told, contents, later = [], [], []
    until = time.monotonic() + PATIENCE
    for key, place in asked:
        if (told and time.monotonic() > until) or not shelf.prepare(place[1], place[2], until):
            later.append(key)
            continue
        surveyed = shelf.atlas.surveyed  # before the tile is made: it may show more, never less
        try:
            packed, n_seen = shelf.packed(*place)
        except IndexError:
            continue
        about = {"key": key, "height": packed.height, "width": packed.width, "low": packed.low, "step": packed.step}
        about |= {"bytes": packed.n_bytes, "length": len(packed.content)}
        told.append(about | {"whole": n_seen is None, "seen": n_seen, "surveyed": surveyed})
        contents.append(packed.content)
    return told, contents, later


def asked_for(name: str, shelf: Shelf) -> Asked:
    """Return what the browser asked for since the last answer, checked: anything may come from a browser."""
    state = st.session_state
    asked = (state.get(f"{name}_map") or {}).get("asked")
    before = state.get(f"{name}_answered", ["", 0])
    is_new = not isinstance(asked, dict) or "script" in asked
    if is_new or state.get(f"{name}_pushed") != shelf.key:  # the overview comes unasked
        state[f"{name}_pushed"] = shelf.key
        top = shelf.atlas.n_levels - 1
        return Asked([(f"mean/{top}/0/0", ("mean", top, 0, 0))], [], before, is_new)
    answered = [str(asked.get("who"))[:20], asked.get("sequence")]
    if answered == before or not isinstance(answered[1], int):
        return Asked([], [], before)
    if asked.get("atlas") != shelf.key:
        return Asked([], [], answered)
    found = [(one, TILE_NAME.fullmatch(str(one))) for one in _list(asked, "tiles", MOST_TILES)]
    tiles = [(key, (match[1], int(match[2]), int(match[3]), int(match[4]))) for key, match in found if match]
    return Asked(tiles, [tuple(one) for one in _list(asked, "labels", MOST_LABELS) if _is_labels(one)], answered)


def _list(asked: dict[str, Any], name: str, most: int) -> list[Any]:
    found = asked.get(name)
    return found[:most] if isinstance(found, list) else []


def _is_labels(one: Any) -> bool:
    return isinstance(one, list) and len(one) == 2 and one[0] in AXES and isinstance(one[1], int) and one[1] >= 0


def axis_entry(axis: Axis) -> dict[str, Any]:
    """Return what the browser is told about an axis; texts are sent when they are asked for."""
    numbered = (axis.labels[0], axis.labels[-1]) == ("0", str(len(axis) - 1))
    kind = "grid" if axis.grid else "numbers" if numbered else "text"
    return {"n": len(axis), "name": axis.name, "kind": kind, "grid": axis.grid}


def label_entry(shelf: Shelf, axis: str, start: int) -> dict[str, Any]:
    """Return some of the texts of an axis, "rows" or "columns", from a position on."""
    labels = (shelf.atlas.trace.story.query_axis if axis == "rows" else shelf.atlas.trace.story.key_axis).labels
    texts = [str(one)[:LONGEST_LABEL] for one in labels[start : start + LABELS_AT_ONCE]]
    return {"axis": axis, "start": start, "texts": texts}
