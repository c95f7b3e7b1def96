"""A matrix of any size as a map: the browser asks for the tiles that it lacks; what moves it, what surveys it."""

import json
import math
import re
import struct
from collections.abc import Callable
from typing import Any

import streamlit as st

from attention_core.atlas import TILE, Atlas
from attention_core.attention.types import Axis, Role
from attention_core.attention.view.colours import PINK
from attention_core.charts import matrix_chart
from attention_core.charts.chart import Drawn
from pages.atlas.shared_atlas import NAME, Place, SharedAtlas, axis_of
from ui.chart import note_picture
from ui.component import component
from ui.hosting.bounds import SEARCH_LETTERS
from ui.job_queue import heavy_run
from ui.labels import literal
from ui.state import Field, component_message, plain_text, whole_number
from ui.try_this import ASKED, TRIED

MAP = "atlas_map"
MAX_BLOCKS = 512  # along a side of the map when it is saved as a picture
MAX_TILES, MAX_LABELS, LABELS_AT_ONCE, LONGEST_LABEL = 12, 8, 512, 40
TILE_NAME = re.compile(r"(\d{1,2})/(\d{1,7})/(\d{1,7})")

_component = component(MAP, folder="pages/atlas")


def _rest_of(text: str) -> tuple[float, ...]:
    row, column, across = (round(float(number), 1) for number in text.split(","))
    if not (row >= 0 and column >= 0 and across > 0):
        raise ValueError(f"text must be a cell and a number of cells, got {text!r}")
    return row, column, across


VIEW: Field[dict[str, Any]] = Field(NAME, "view", {"row": 0, "column": 0, "across": None})
"""What the map shows: the cell in its middle, the cells along its shorter side (None = the whole)."""
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


def atlas_map(shared: SharedAtlas, title: str, is_surveyed_now: bool) -> None:
    """Draw the map, which runs again whenever tiles are asked for: while a survey goes on, those that are not whole."""
    atlas = shared.atlas
    follow_address(atlas)
    view = VIEW.value
    note_picture(lambda: _picture(shared, view), f"{title}: what is in view")
    places, labels, answered = _question(shared)
    tiles, contents, later = shared.answer(places)
    header = {
        "atlas": shared.key,
        "title": title,
        "rows": _axis_entry(atlas.trace.story.query_axis),
        "columns": _axis_entry(atlas.trace.story.key_axis),
        "levels": atlas.n_levels,
        "tile": TILE,
        "masks": atlas.has_mask,
        "surveyed": atlas.surveyed,
        "running": is_surveyed_now,
        "guessing": TRIED[NAME].value == ASKED,
        "uniform": 1 / (atlas.trace.window or atlas.n_keys),
        "colour": PINK,
        "view": view,
        "go": GO.value,
        "answered": answered,
        "tiles": tiles,
        "later": later,
        "labels": [_label_entry(atlas, axis, start) for axis, start in labels],
    }
    head = json.dumps(header).encode()
    _component(
        key=MAP,
        data=b"".join((struct.pack("<I", len(head)), head, *contents)),
        default={"asked": None},
        on_asked_change=lambda: _take_view(shared.key),
    )
    ANSWERED.value = answered


def _picture(shared: SharedAtlas, view: dict[str, Any]) -> Drawn:
    """Return what is in view as a chart, in blocks of cells where there are too many."""
    atlas, sides, axes = shared.atlas, [], []
    across = view["across"] or max(atlas.n_queries, atlas.n_keys)
    level = max(math.ceil(math.log2(across / MAX_BLOCKS)), 0)
    for name, middle, n in (("rows", view["row"], atlas.n_queries), ("columns", view["column"], atlas.n_keys)):
        first = min(max((middle if view["across"] else n / 2) - across / 2, 0), max(n - across, 0))
        part = slice(int(first) >> level, math.ceil(min(first + across, n) / 2**level))
        axis = axis_of(atlas, name)
        cells = f"{axis.name} from {(part.start << level) + 1:,}" + f", {2**level} a cell" * bool(level)
        labels = [f"{(cell << level) + 1:,}" for cell in range(part.start, part.stop)] if level else axis.labels[part]
        sides.append(part)
        axes.append(Axis(cells, labels))
    (rows, columns), title = axes, "largest weight" if level else "weight"
    return matrix_chart(shared.part(level, *sides), rows, columns, Role.WEIGHTS, title=title)


def shows(row: float, column: float, across: float | None, cell: tuple[int, int] | None) -> bool:
    """Return whether the map shows a place about as large as go_to shows it; of a cell, at least so large."""
    view, (row, column) = VIEW.value, (row, column) if cell is None else (cell[0] + 0.5, cell[1] + 0.5)
    seen, wanted = (one or max(FOLLOWED.value[0]) for one in (view["across"], across))
    far = 0 if view["across"] is None else max(abs(view["row"] - row), abs(view["column"] - column))
    return far <= seen / 2 <= wanted and (cell is not None or wanted <= 2 * seen)


def go_to(row: float, column: float, across: float | None, cell: tuple[int, int] | None, slowly: bool = False) -> None:
    """Move the map and frame a cell of it; across: see VIEW; slowly = as a flight that the eye can follow."""
    where = {"row": row, "column": column, "across": across}
    _fly(where, cell, slowly)
    _come_to_rest(where)


def arrive_at(row: float, column: float, across: float, cell: tuple[int, int] | None) -> None:
    """Let the map fly to a place as it opens, which the address leaves out."""
    REST.preset(rest_of({"row": row, "column": column, "across": across}))
    go_to(row, column, across, cell, slowly=True)


def _fly(where: dict[str, Any], mark: tuple[int, int] | None = None, slowly: bool = False) -> None:
    number = GO.value["number"] + 1 if GO.value else 1
    across = where["across"] or max(FOLLOWED.value[0])
    GO.value = where | {"across": across, "number": number, "mark": mark, "slowly": slowly}
    VIEW.value = VIEW.value | where


def rest_of(where: dict[str, Any]) -> tuple[float, ...] | None:
    return None if where["across"] is None else tuple(round(number, 1) for number in where.values())


def _come_to_rest(where: dict[str, Any]) -> None:
    REST.value = rest_of(where)
    FOLLOWED.value = FOLLOWED.value[0], REST.value


def follow_address(atlas: Atlas) -> None:
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
    VIEW.value = where
    if not message.get("tiles"):
        _come_to_rest(where)


def _question(shared: SharedAtlas) -> tuple[list[Place], list[tuple[str, int]], list[Any]]:
    """Return the tiles that the browser asks for, the axes and first positions of labels, and which question it was."""
    message, before = _message(), ANSWERED.value
    if not message or OVERVIEW_OF.value != shared.key:  # the overview comes unasked
        OVERVIEW_OF.value = shared.key
        return [(shared.atlas.n_levels - 1, 0, 0)], [], before
    answered = [str(message.get("who"))[:20], message.get("sequence")]
    if answered == before or not isinstance(answered[1], int):
        return [], [], before
    if message.get("atlas") != shared.key:
        return [], [], answered
    found = [TILE_NAME.fullmatch(str(name)) for name in _list(message, "tiles", MAX_TILES)]
    tiles = [(int(match[1]), int(match[2]), int(match[3])) for match in found if match]
    labels = []
    for piece in _list(message, "labels", MAX_LABELS):
        match piece:
            case ["rows" | "columns" as axis, int(start)] if start >= 0:
                labels.append((axis, start))
    return tiles, labels, answered


def _list(message: dict[str, Any], name: str, most: int) -> list[Any]:
    found = message.get(name)
    return found[:most] if isinstance(found, list) else []


def _axis_entry(axis: Axis) -> dict[str, Any]:
    numbered = (axis.labels[0], axis.labels[-1]) == ("0", str(len(axis) - 1))
    return {"n": len(axis), "name": axis.name, "kind": "numbers" if numbered else "text"}


def _label_entry(atlas: Atlas, name: str, start: int) -> dict[str, Any]:
    labels = axis_of(atlas, name).labels[start : start + LABELS_AT_ONCE]
    return {"axis": name, "start": start, "texts": [str(label).strip()[:LONGEST_LABEL] for label in labels]}


CLOSE = 30  # cells along the map's shorter side where a token was found
TICK = 0.5  # seconds between two looks at how far the survey is: every look of every visitor is a run on the server

WANTED = Field(NAME, "find", "", address="find", parse=lambda text: plain_text(text)[: SEARCH_LETTERS.most])
HIT = Field(NAME, "hit", 0, address="hit", parse=whole_number)


def search_part(shared: SharedAtlas, looks: Callable[[int], int] | None) -> None:
    """Draw the search, which moves the map: to where a word that is found looks most, if `looks` tells that."""
    WANTED.widget(
        st.text_input,
        "Jump to a word",
        placeholder="Jump to a word",
        label_visibility="collapsed",
        max_chars=SEARCH_LETTERS.most,
        on_change=_go_to_hit,
        args=(shared, 0, looks),
        width=250,
    )
    if not WANTED.value.strip():
        return
    wanted, (hits, n_whole) = literal(WANTED.value.strip()), _hits(shared)
    if not hits:
        st.caption(f"No word here is {wanted} or begins with it.", width="content")
        return
    at = HIT.clamp(0, len(hits) - 1)
    for name, icon, by in (("Previous", "chevron_left", -1), ("Next", "chevron_right", 1)):
        key = f"atlas_hit_{name.lower()}"
        st.button(name, key=key, icon=f":material/{icon}:", on_click=_go_to_hit, args=(shared, at + by, looks))
    longer = ", where a longer word begins" * (at >= n_whole)
    st.caption(f"{wanted}: {at + 1:,} of {len(hits):,}, at {hits[at] + 1:,}{longer}", width="content")


def _hits(shared: SharedAtlas) -> tuple[list[int], int]:
    """Return where the wanted words are, those behind that only begin with them, and how many are whole."""
    whole, begun = (shared.find("columns", WANTED.value.strip(), is_whole) for is_whole in (True, False))
    return [*whole, *sorted({*begun} - {*whole})], len(whole)


def _go_to_hit(shared: SharedAtlas, number: int, looks: Callable[[int], int] | None) -> None:
    hits, _ = _hits(shared)
    if hits:
        HIT.value = number % len(hits)
        found = hits[HIT.value]
        row, column = min(found, shared.atlas.n_queries - 1), looks(found) if looks else found
        go_to(row + 0.5, column + 0.5, CLOSE, (row, column))


def survey_part(shared: SharedAtlas) -> None:
    """Go on with the survey and draw how far it is, until it is complete."""
    if shared.atlas.is_surveyed:
        st.rerun()  # the whole page, without this clock
    with heavy_run():
        shared.survey()
    share = shared.atlas.surveyed
    words = f"Surveyed: {share:.0%}"
    if shared.seconds and share:
        words += f", about {shared.seconds * (1 - share) / share:,.0f} s to go"
    st.progress(share, text=words)
