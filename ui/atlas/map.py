"""A matrix of any size as a map: the browser asks for the tiles that it lacks and gets these, and only these."""

import hashlib
import json
import math
import re
import struct
from typing import Any

from attention_core.atlas import TILE, Atlas
from attention_core.attention.types import Axis
from attention_core.charts.design import Chart
from attention_core.charts.heatmap import part_chart
from attention_core.charts.palette import VIRIDIS
from ui.atlas import NAME
from ui.atlas.shelf import OpenAtlas, Place, axis_of
from ui.chart import note_picture
from ui.component import component, script_of
from ui.state import Field, as_text, component_message

MAP = "atlas_map"

SCRIPT = script_of("atlas_tiles", "atlas_paint", "atlas_view", "atlas_drawing", "atlas_map").encode()
START = script_of("atlas_start").replace("{version}", hashlib.sha256(SCRIPT).hexdigest()[:16])
OPTIONS = {
    "scale": ("log", "linear"),
    "domain": ("view", "all"),
    "kind": ("mean", "largest"),
    "diagonal": (False, True),
}
MOST_BLOCKS = 512
"""Along a side of the map when it is saved as a picture."""
MOST_TILES, MOST_LABELS, LABELS_AT_ONCE, LONGEST_LABEL = 12, 8, 512, 40
TILE_NAME = re.compile(r"(mean|largest)/(\d{1,2})/(\d{1,7})/(\d{1,7})")

_component = component(MAP, START)


def _rest_of(text: str) -> tuple[float, ...]:
    row, column, across = (round(float(number), 1) for number in text.split(","))
    if not (row >= 0 and column >= 0 and across > 0):
        raise ValueError(f"text must be a cell and a number of cells, got {text!r}")
    return row, column, across


VIEW: Field[dict[str, Any]] = Field(NAME, "view", {"row": 0, "column": 0, "across": None})
"""What the map shows: the cell in its middle, the cells along its shorter side (None = the whole)."""
LOOK: Field[dict[str, Any]] = Field(
    NAME,
    "look",
    {name: known[0] for name, known in OPTIONS.items()},
    address="look",
    parse=lambda text: {
        name: known[int(place)] for (name, known), place in zip(OPTIONS.items(), text.split("."), strict=True)
    },
    text=lambda look: as_text([known.index(look[name]) for name, known in OPTIONS.items()]),
)
"""How the cells look."""
REST: Field[tuple[float, ...] | None] = Field(
    NAME, "rest", None, address="map", parse=_rest_of, text=lambda rest: ",".join(f"{number:.1f}" for number in rest)
)
"""Row, column and cells across where the map has come to rest, None = the whole; set when it asks for no tiles any
more: the browser takes as long for a new address as for a tile."""
FOLLOWED: Field[tuple[Any, Any]] = Field(NAME, "followed", (None, None))
"""The shape of the matrix, and the rest at which the map is: another one comes from the address."""
GO: Field[dict[str, Any] | None] = Field(NAME, "go", None)
"""Where Python has sent the map last, and the number of that journey."""
ANSWERED: Field[list[Any]] = Field(NAME, "answered", ["", 0])
OVERVIEW_OF = Field(NAME, "overview_of", "")


def atlas_map(shelf: OpenAtlas, title: str, is_surveyed_now: bool) -> None:
    """Draw the map, which runs again whenever tiles are asked for: while a survey goes on, those that are not whole."""
    atlas = shelf.atlas
    _follow(atlas)
    view, look = VIEW.value, LOOK.value
    note_picture(lambda: _picture(shelf, view, look), f"{title}: the part of the map that is in view")
    script = SCRIPT if _lacks_script() else b""
    places, labels, answered = _question(shelf)
    tiles, contents, later = shelf.answer(places)
    header = {
        "atlas": shelf.key,
        "title": title,
        "rows": _axis_entry(atlas.trace.story.query_axis),
        "columns": _axis_entry(atlas.trace.story.key_axis),
        "levels": atlas.n_levels,
        "tile": TILE,
        "masks": atlas.has_mask,
        "surveyed": atlas.surveyed,
        "running": is_surveyed_now,
        "largest": None if atlas.row_largest is None else float(atlas.row_largest.max()),
        "colours": VIRIDIS,
        "view": VIEW.value | {"options": LOOK.value},
        "go": GO.value,
        "answered": answered,
        "tiles": tiles,
        "later": later,
        "labels": [_label_entry(atlas, axis, start) for axis, start in labels],
    }
    head = json.dumps(header).encode()
    _component(
        key=MAP,
        data=b"".join((struct.pack("<I", len(script)), script, struct.pack("<I", len(head)), head, *contents)),
        default={"asked": None},
        on_asked_change=lambda: _take_view(shelf.key),
    )
    ANSWERED.value = answered


def _picture(shelf: OpenAtlas, view: dict[str, Any], look: dict[str, Any]) -> Chart:
    """Return what is in view as a chart, in blocks of cells where there are too many."""
    atlas, sides = shelf.atlas, []
    across = view["across"] or max(atlas.n_queries, atlas.n_keys)
    is_guessed = view["across"] is None and not atlas.is_surveyed  # of what is not surveyed the overview has a glimpse
    level = atlas.n_levels - 1 if is_guessed else max(math.ceil(math.log2(across / MOST_BLOCKS)), 0)
    for middle, n in ((view["row"], atlas.n_queries), (view["column"], atlas.n_keys)):
        first = min(max((middle if view["across"] else n / 2) - across / 2, 0), max(n - across, 0))
        sides.append(slice(int(first) >> level, math.ceil(min(first + across, n) / 2**level)))
    kind = look["kind"] if level else "mean"
    axes = tuple(axis_of(atlas, axis).name for axis in ("rows", "columns"))
    return part_chart(
        shelf.part(kind, level, *sides),
        (sides[0].start << level, sides[1].start << level),
        2**level,
        axes,
        title=f"{kind} of {2**level} × {2**level} weights" if level else "weight",
        log=look["scale"] == "log",
    )


def go_to(row: int | None, column: int | None, across: float) -> None:
    """Move the map to a cell and frame it, or a row or a column alone where the other is None; across: see VIEW."""
    where = {
        "row": VIEW.value["row"] if row is None else row + 0.5,
        "column": VIEW.value["column"] if column is None else column + 0.5,
        "across": across,
    }
    _fly(where, [row, column])
    _come_to_rest(where)


def _fly(where: dict[str, Any], mark: list[int | None] | None = None) -> None:
    number = GO.value["number"] + 1 if GO.value else 1
    GO.value = where | {"across": where["across"] or max(FOLLOWED.value[0]), "number": number, "mark": mark}
    VIEW.value = VIEW.value | where


def _come_to_rest(where: dict[str, Any]) -> None:
    REST.value = None if where["across"] is None else tuple(round(number, 1) for number in where.values())
    FOLLOWED.value = FOLLOWED.value[0], REST.value


def _follow(atlas: Atlas) -> None:
    """Go where the address says, on arrival and after Back, and to the whole of a matrix of another shape."""
    shape, (shape_before, rest_before) = (atlas.n_queries, atlas.n_keys), FOLLOWED.value
    bounds = (*shape, max(shape))
    is_other = shape_before not in (None, shape) and REST.value == rest_before
    if is_other or (REST.value and any(number > most for number, most in zip(REST.value, bounds, strict=True))):
        REST.value = None
    if FOLLOWED.value == (shape, REST.value):
        return
    FOLLOWED.value = shape, REST.value
    row, column, across = REST.value or (shape[0] / 2, shape[1] / 2, None)
    _fly({"row": row, "column": column, "across": across})
    if shape != shape_before:  # the map opens there
        GO.value = None


def _message() -> dict[str, Any]:
    asked = component_message(MAP, "asked")
    return asked if isinstance(asked, dict) else {}


def _take_view(key: str) -> None:
    """Keep the view that came with the browser's message, if it was about the matrix of this key."""
    message = _message()
    view = message.get("view")
    if message.get("atlas") != key or not isinstance(view, dict):
        return
    where = {name: view.get(name) for name in ("row", "column", "across")}
    numbers = [number for name, number in where.items() if name != "across" or number is not None]
    if not all(isinstance(number, int | float) for number in numbers):
        return
    given = view["options"] if isinstance(view.get("options"), dict) else {}
    LOOK.value = LOOK.value | {name: given[name] for name, known in OPTIONS.items() if given.get(name) in known}
    VIEW.value = where
    if not message.get("tiles"):
        _come_to_rest(where)


def _question(shelf: OpenAtlas) -> tuple[list[Place], list[tuple[str, int]], list[Any]]:
    """Return the tiles that the browser asks for, the axes and first positions of labels, and which question it was."""
    message, before = _message(), ANSWERED.value
    if _lacks_script() or OVERVIEW_OF.value != shelf.key:  # the overview comes unasked
        OVERVIEW_OF.value = shelf.key
        return [("mean", shelf.atlas.n_levels - 1, 0, 0)], [], before
    answered = [str(message.get("who"))[:20], message.get("sequence")]
    if answered == before or not isinstance(answered[1], int):
        return [], [], before
    if message.get("atlas") != shelf.key:
        return [], [], answered
    found = [TILE_NAME.fullmatch(str(name)) for name in _list(message, "tiles", MOST_TILES)]
    tiles = [(match[1], int(match[2]), int(match[3]), int(match[4])) for match in found if match]
    labels = []
    for piece in _list(message, "labels", MOST_LABELS):
        match piece:
            case ["rows" | "columns" as axis, int(start)] if start >= 0:
                labels.append((axis, start))
    return tiles, labels, answered


def _lacks_script() -> bool:
    return not _message() or "script" in _message()


def _list(message: dict[str, Any], name: str, most: int) -> list[Any]:
    found = message.get(name)
    return found[:most] if isinstance(found, list) else []


def _axis_entry(axis: Axis) -> dict[str, Any]:
    numbered = (axis.labels[0], axis.labels[-1]) == ("0", str(len(axis) - 1))
    kind = "grid" if axis.grid else "numbers" if numbered else "text"
    return {"n": len(axis), "name": axis.name, "kind": kind, "grid": axis.grid}


def _label_entry(atlas: Atlas, name: str, start: int) -> dict[str, Any]:
    labels = axis_of(atlas, name).labels[start : start + LABELS_AT_ONCE]
    return {"axis": name, "start": start, "texts": [str(label)[:LONGEST_LABEL] for label in labels]}
