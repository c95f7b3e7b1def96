"""A matrix of any size as a map: the tiles that the browser asks for, jumps and searches, the survey."""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import streamlit as st

from attention_core.atlas import TILE, Atlas
from attention_core.attention.types import Axis, Role
from attention_core.attention.view.colours import PINK
from attention_core.attention.wording import percent
from attention_core.charts.chart import Chart
from attention_core.charts.matrix import matrix_chart
from pages.atlas.shared_atlas import NAME, SharedAtlas, TileIndex, axis_of
from ui.chart import note_picture
from ui.component import component
from ui.hosting.bounds import SEARCH_LETTERS
from ui.job_queue import heavy_run
from ui.labels import literal
from ui.state import Field, component_message, plain_text, whole_number

MAP = "atlas_map"
MAX_BLOCKS = 512  # along a side of the map when it is saved as a picture
CLOSE_UP_CELLS = 30  # cells along the map's shorter side where a token was found
MAX_CHECKED = 2**20  # weights of a matrix of which rows are named that may look at no key
MAX_TILES, MAX_LABELS, LABELS_AT_ONCE, LONGEST_LABEL = 12, 8, 512, 40
TILE_NAME = re.compile(r"(\d{1,2})/(\d{1,7})/(\d{1,7})")

_component = component(MAP, folder="pages/atlas")


class View(NamedTuple):
    """What the map shows: the cell in its middle, the cells along its shorter side (None = all)."""

    row: float
    column: float
    across: float | None

    @property
    def in_address(self) -> View | None:
        """The view as the address has it; None = the whole matrix."""
        return None if self.across is None else View(*(round(number or 0, 1) for number in self))


def _parse_view(text: str) -> View:
    row, column, across = (round(float(number), 1) for number in text.split(","))
    if not (row >= 0 and column >= 0 and across > 0):
        raise ValueError(f"text must be a cell and a number of cells, got {text!r}")
    return View(row, column, across)


def _format_view(view: View) -> str:
    return ",".join(f"{number:.1f}" for number in view)


VIEW = Field(NAME, "view", View(0, 0, None))
RESTING_VIEW = Field[View | None](NAME, "rest", None, address="map", parse=_parse_view, text=_format_view)
"""The view of the map at rest, None = the whole; set when it asks for no tiles any more, since the browser takes as
long for a new address as for a tile."""
SHAPE_AND_VIEW: Field[tuple[Any, Any]] = Field(NAME, "followed", (None, None))
"""The shape of the matrix and the resting view of the map; RESTING_VIEW differs when it comes from the address."""
JOURNEY: Field[dict[str, Any] | None] = Field(NAME, "go", None)
"""The view to which Python has sent the map last, and the number of that journey."""
ANSWERED_REQUEST: Field[list[Any]] = Field(NAME, "answered", ["", 0])
OVERVIEW_OF = Field(NAME, "overview_of", "")


def draw_map(shared: SharedAtlas, title: str, is_surveying: bool, notes: Mapping[str, Any] | None = None) -> None:
    """Draw the map, again whenever the browser asks for tiles: during a survey also for those that are incomplete.

    `notes`: "echo", outlined cells, their "share" and how many columns are to be seen; "dots", whether full stops are
    marked.
    """
    atlas = shared.atlas
    follow_address(atlas)
    view = VIEW.value
    note_picture(lambda: _picture(shared, view), f"{title}: what is in view")
    tile_indices, labels, answered = _request(shared)
    tiles, contents, later = shared.answer(tile_indices)
    header = {
        "atlas": shared.key,
        "title": title,
        "rows": _axis_entry(atlas.trace.story.query_axis),
        "columns": _axis_entry(atlas.trace.story.key_axis),
        "levels": atlas.n_levels,
        "tile": TILE,
        "masks": atlas.has_mask,
        "blind": atlas.trace.blind_queries if atlas.n_queries * atlas.n_keys <= MAX_CHECKED else [],
        "surveyed": atlas.surveyed,
        "running": is_surveying,
        "uniform": 1 / (atlas.trace.window or atlas.n_keys),
        "colour": PINK,
        **(notes or {}),
        "view": view._asdict(),
        "go": JOURNEY.value,
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
        on_asked_change=partial(_on_view, shared.key),
    )
    ANSWERED_REQUEST.value = answered


def _picture(shared: SharedAtlas, view: View) -> Chart:
    """Return the view as a chart; where cells are too many, each block of them is one cell."""
    atlas, block_ranges, axes = shared.atlas, [], []
    across = view.across or max(atlas.n_queries, atlas.n_keys)
    level = max(math.ceil(math.log2(across / MAX_BLOCKS)), 0)
    for name, middle, n in (("rows", view.row, atlas.n_queries), ("columns", view.column, atlas.n_keys)):
        first = min(max((middle if view.across else n / 2) - across / 2, 0), max(n - across, 0))
        start, stop = int(first) >> level, math.ceil(min(first + across, n) / 2**level)
        axis = axis_of(atlas, name)
        title = f"{axis.name} from {(start << level) + 1:,}" + f", {2**level} a cell" * bool(level)
        labels = [f"{(cell << level) + 1:,}" for cell in range(start, stop)] if level else axis.labels[start:stop]
        block_ranges.append(slice(start, stop))
        axes.append(Axis(title, labels))
    (rows, columns), title = axes, "largest weight" if level else "weight"
    return matrix_chart(shared.blocks(level, *block_ranges), rows, columns, Role.WEIGHTS, title=title)


def is_map_at(view: View, cell: tuple[int, int] | None) -> bool:
    """Return whether the map shows this view at about this size; a cell, at least at this size."""
    present, middles = VIEW.value, [view[:2], (cell[0] + 0.5, cell[1] + 0.5)] if cell else [view[:2]]
    current_across, target_across = (cells or max(SHAPE_AND_VIEW.value[0]) for cells in (present.across, view.across))
    distances = [max(abs(present.row - row), abs(present.column - column)) for row, column in middles]
    far = 0 if present.across is None else min(distances)
    largest = max(2 * target_across, CLOSE_UP_CELLS)  # a narrow window shows more rows of the same columns
    return 2 * far <= current_across <= largest and (cell is not None or target_across <= 2 * current_across)


def move_map(view: View, cell: tuple[int, int] | None, slowly: bool = False) -> None:
    """Move the map and frame a cell of it; slowly = as a flight that the eye can follow."""
    _send_map(view, cell, slowly)
    _set_resting_view(view)


def open_map_at(view: View, cell: tuple[int, int] | None) -> None:
    """Let the map fly to a view as it opens; the address leaves it out."""
    RESTING_VIEW.set_default(view.in_address)
    move_map(view, cell, slowly=True)


def _send_map(view: View, mark: tuple[int, int] | None = None, slowly: bool = False) -> None:
    goal = view._replace(across=view.across or max(SHAPE_AND_VIEW.value[0]))
    number = JOURNEY.value["number"] + 1 if JOURNEY.value else 1
    JOURNEY.value = goal._asdict() | {"number": number, "mark": mark, "slowly": slowly}
    VIEW.value = view


def _set_resting_view(view: View) -> None:
    RESTING_VIEW.value = view.in_address
    SHAPE_AND_VIEW.value = SHAPE_AND_VIEW.value[0], RESTING_VIEW.value


def follow_address(atlas: Atlas) -> None:
    """Go where the address says, on arrival and after Back, and to the whole of a matrix of another shape."""
    shape, (shape_before, view_before) = (atlas.n_queries, atlas.n_keys), SHAPE_AND_VIEW.value
    bounds = (*shape, max(shape))
    is_new_shape = shape_before not in (None, shape) and RESTING_VIEW.value == view_before
    is_outside = any((number or 0) > bound for number, bound in zip(RESTING_VIEW.value or (), bounds, strict=False))
    if is_new_shape or is_outside:
        RESTING_VIEW.value = None
    if SHAPE_AND_VIEW.value == (shape, RESTING_VIEW.value):
        return
    SHAPE_AND_VIEW.value = shape, RESTING_VIEW.value
    _send_map(RESTING_VIEW.value or View(shape[0] / 2, shape[1] / 2, None))
    if shape != shape_before:  # the map opens there
        JOURNEY.value = None


def _message() -> dict[str, Any]:
    message = component_message(MAP, "asked")
    return message if isinstance(message, dict) else {}


def _on_view(key: str) -> None:
    """Keep the view of the browser's message, if it is a view of the matrix of this key."""
    message = _message()
    sent = message.get("view")
    if message.get("atlas") != key or not isinstance(sent, dict):
        return
    numbers: list[Any] = [sent.get(name) for name in ("row", "column", "across")]
    view = View(*numbers)
    if not all(isinstance(number, int | float) for number in (view.row, view.column, view.across or 0)):
        return
    VIEW.value = view
    if not message.get("tiles"):
        _set_resting_view(view)


def _request(shared: SharedAtlas) -> tuple[list[TileIndex], list[tuple[str, int]], list[Any]]:
    """Return what the browser requests: tiles, axes and first positions of labels, the request's name and number."""
    message, before = _message(), ANSWERED_REQUEST.value
    if not message or OVERVIEW_OF.value != shared.key:  # the overview comes unasked
        OVERVIEW_OF.value = shared.key
        return [(shared.atlas.n_levels - 1, 0, 0)], [], before
    answered = [str(message.get("who"))[:20], message.get("sequence")]
    if answered == before or not isinstance(answered[1], int):
        return [], [], before
    if message.get("atlas") != shared.key:
        return [], [], answered
    matches = [TILE_NAME.fullmatch(str(name)) for name in _list_in(message, "tiles", MAX_TILES)]
    tiles = [(int(match[1]), int(match[2]), int(match[3])) for match in matches if match]
    labels = []
    for piece in _list_in(message, "labels", MAX_LABELS):
        match piece:
            case ["rows" | "columns" as axis, int(start)] if start >= 0:
                labels.append((axis, start))
    return tiles, labels, answered


def _list_in(message: dict[str, Any], name: str, max_items: int) -> list[Any]:
    items = message.get(name)
    return items[:max_items] if isinstance(items, list) else []


def _axis_entry(axis: Axis) -> dict[str, Any]:
    numbered = (axis.labels[0], axis.labels[-1]) == ("0", str(len(axis) - 1))
    return {"n": len(axis), "name": axis.name, "kind": "numbers" if numbered else "text"}


def _label_entry(atlas: Atlas, name: str, start: int) -> dict[str, Any]:
    labels = axis_of(atlas, name).labels[start : start + LABELS_AT_ONCE]
    return {"axis": name, "start": start, "texts": [str(label).rstrip()[:LONGEST_LABEL] for label in labels]}


TICK = 0.5  # seconds between two updates of a survey's progress: each is a run on the server, for every visitor

SEARCH_TEXT = Field(NAME, "find", "", address="find", parse=lambda text: plain_text(text)[: SEARCH_LETTERS.maximum])
HIT = Field(NAME, "hit", 0, address="hit", parse=whole_number)


def draw_search(shared: SharedAtlas, heaviest_key: Callable[[int], int] | None) -> None:
    """Draw the search, which moves the map to a matching row: to its heaviest key, if a function for that is given."""
    SEARCH_TEXT.widget(
        st.text_input,
        "Jump to a word",
        placeholder="Jump to a word",
        label_visibility="collapsed",
        max_chars=SEARCH_LETTERS.maximum,
        on_change=_on_jump,
        args=(shared, 0, heaviest_key),
        width=250,
    )
    if not SEARCH_TEXT.value.strip():
        return
    quoted, (hits, n_exact) = literal(SEARCH_TEXT.value.strip()), _hits(shared)
    if not hits:
        st.caption(f"No word here is {quoted} or begins with it.", width="content")
        return
    at = HIT.clamp(0, len(hits) - 1)
    for name, icon, by in (("Previous", "chevron_left", -1), ("Next", "chevron_right", 1)):
        key = f"atlas_hit_{name.lower()}"
        st.button(name, key=key, icon=f":material/{icon}:", on_click=_on_jump, args=(shared, at + by, heaviest_key))
    longer = ", where a longer word begins" * (at >= n_exact)
    st.caption(f"{quoted}: {at + 1:,} of {len(hits):,}, at {hits[at] + 1:,}{longer}", width="content")


def _hits(shared: SharedAtlas) -> tuple[list[int], int]:
    """Return the positions of the searched words, then of longer ones that begin so, and the number of the former."""
    exact, prefixed = (shared.find("columns", SEARCH_TEXT.value.strip(), is_exact) for is_exact in (True, False))
    return [*exact, *sorted({*prefixed} - {*exact})], len(exact)


def _on_jump(shared: SharedAtlas, number: int, heaviest_key: Callable[[int], int] | None) -> None:
    hits: list[int] = []
    with suppress(ReferenceError):  # the atlas has gone: the page opens it anew
        hits, _ = _hits(shared)
    if hits:
        HIT.value = number % len(hits)
        position = hits[HIT.value]
        row, column = min(position, shared.atlas.n_queries - 1), heaviest_key(position) if heaviest_key else position
        move_map(View(row + 0.5, column + 0.5, CLOSE_UP_CELLS), (row, column))


def draw_survey(shared: SharedAtlas) -> None:
    """Carry the survey on and draw its progress, until it is complete."""
    if shared.atlas.is_surveyed:
        st.rerun()  # the whole page, without this clock
    with heavy_run():
        shared.survey()
    share = shared.atlas.surveyed
    progress_text = f"Surveyed: {percent(share)}"
    if shared.seconds and share:
        progress_text += f", about {shared.seconds * (1 - share) / share:,.0f} s to go"
    st.progress(share, text=progress_text)
