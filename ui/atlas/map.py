"""A matrix of any size as a map: the browser asks for the tiles that it lacks; what moves it, what surveys it."""

import hashlib
import json
import math
import re
import struct
from typing import Any

import streamlit as st

from attention_core.atlas import TILE, Atlas
from attention_core.attention.types import Axis
from attention_core.bounds import SEARCH_LETTERS
from attention_core.charts.heatmap import part_chart
from attention_core.charts.vega import VIRIDIS, Chart
from attention_core.hub.model import in_units
from ui.atlas import NAME
from ui.atlas.shared_atlas import Place, SharedAtlas, axis_of
from ui.chart import note_picture
from ui.component import component, script_of
from ui.labels import error_markdown, literal
from ui.state import Field, as_text, component_message, named, plain_text, single_choice, whole_number

MAP = "atlas_map"

SCRIPT = script_of("atlas_tiles", "atlas_paint", "atlas_view", "atlas_drawing", "atlas_map").encode()
START = script_of("atlas_start").replace("{version}", hashlib.sha256(SCRIPT).hexdigest()[:16])
OPTIONS = {
    "scale": ("log", "linear"),
    "domain": ("view", "all"),
    "kind": ("mean", "largest"),
    "diagonal": (False, True),
}
MAX_BLOCKS = 512
"""Along a side of the map when it is saved as a picture."""
MAX_TILES, MAX_LABELS, LABELS_AT_ONCE, LONGEST_LABEL = 12, 8, 512, 40
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


def atlas_map(shelf: SharedAtlas, title: str, is_surveyed_now: bool) -> None:
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


def _picture(shelf: SharedAtlas, view: dict[str, Any], look: dict[str, Any]) -> Chart:
    """Return what is in view as a chart, in blocks of cells where there are too many."""
    atlas, sides = shelf.atlas, []
    across = view["across"] or max(atlas.n_queries, atlas.n_keys)
    is_guessed = view["across"] is None and not atlas.is_surveyed  # of what is not surveyed the overview has a glimpse
    level = atlas.n_levels - 1 if is_guessed else max(math.ceil(math.log2(across / MAX_BLOCKS)), 0)
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


def _question(shelf: SharedAtlas) -> tuple[list[Place], list[tuple[str, int]], list[Any]]:
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
    found = [TILE_NAME.fullmatch(str(name)) for name in _list(message, "tiles", MAX_TILES)]
    tiles = [(match[1], int(match[2]), int(match[3]), int(match[4])) for match in found if match]
    labels = []
    for piece in _list(message, "labels", MAX_LABELS):
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


CLOSE = 30
"""Cells along the map's shorter side where a token was found; a landmark's surroundings are a little wider."""
AROUND = 120
ROWS, COLUMNS, BOTH = "Rows", "Columns", "Both"
SURVEYED_UNASKED = 2**29
"""Pairs up to which a matrix is surveyed without asking: a few seconds."""
TICK = 0.5
"""Seconds between two looks at how far the survey is: every look of every visitor is a run on the server."""

WANTED = Field(NAME, "find", "", address="find", parse=lambda text: plain_text(text)[: SEARCH_LETTERS.most])
AMONG = Field(NAME, "among", BOTH, address="among", **named(rows=ROWS, columns=COLUMNS, both=BOTH))
HIT = Field(NAME, "hit", 0, address="hit", parse=whole_number)
SURVEY: Field[tuple[str, bool]] = Field(NAME, "survey", ("", False))
"""Of which matrix, and whether it goes on."""


def places_part(shelf: SharedAtlas) -> None:
    """Draw the search, the numbers and the places; each moves the map that is drawn after it."""
    WANTED.widget(
        st.text_input,
        "Jump to a token",
        placeholder="a word, or a few",
        max_chars=SEARCH_LETTERS.most,
        on_change=_go_to_hit,
        args=(shelf, 0),
    )
    if WANTED.value.strip():
        _hit_part(shelf)
    with st.popover("More places", icon=":material/explore:"):
        _cell_form(shelf)
        _landmarks(shelf)


def _hit_part(shelf: SharedAtlas) -> None:
    wanted, hits = literal(WANTED.value.strip()), _hits(shelf)
    if not hits:
        st.caption(f"{wanted} is nowhere in this text, whatever the case and the blanks.")
        return
    at = HIT.clamp(0, len(hits) - 1)
    st.caption(f"{wanted}: {at + 1:,} of {len(hits):,}, at {hits[at] + 1:,}")
    taken = {"on_change": _go_to_hit, "args": (shelf, at)}
    single_choice("Among", AMONG, (ROWS, COLUMNS, BOTH), label_visibility="collapsed", **taken)
    with st.container(horizontal=True, gap="small"):
        chevrons = ":material/chevron_left:", ":material/chevron_right:"
        st.button("Previous", key="atlas_hit_previous", icon=chevrons[0], on_click=_go_to_hit, args=(shelf, at - 1))
        st.button("Next", key="atlas_hit_next", icon=chevrons[1], on_click=_go_to_hit, args=(shelf, at + 1))


def _hits(shelf: SharedAtlas) -> list[int]:
    return shelf.find("rows" if AMONG.value == ROWS else "columns", WANTED.value.strip())


def _go_to_hit(shelf: SharedAtlas, number: int) -> None:
    if hits := _hits(shelf):
        HIT.value = number % len(hits)
        at = hits[HIT.value]
        row = at if AMONG.value in (ROWS, BOTH) and at < shelf.atlas.n_queries else None
        go_to(row, at if AMONG.value in (COLUMNS, BOTH) else None, CLOSE)


def _cell_form(shelf: SharedAtlas) -> None:
    with st.form("atlas_cell", border=False):
        left, right = st.columns(2)
        row = left.number_input("Query (row)", 1, shelf.atlas.n_queries, step=1, key="atlas_row")
        column = right.number_input("Key (column)", 1, shelf.atlas.n_keys, step=1, key="atlas_column")
        if st.form_submit_button("Go to the cell"):
            go_to(int(row) - 1, int(column) - 1, CLOSE // 3)


def _landmarks(shelf: SharedAtlas) -> None:
    if not shelf.atlas.is_surveyed:
        st.caption("After the survey: the strongest cell far away, the key that is looked at most, and others.")
        return
    for number, landmark in enumerate(shelf.landmarks):
        where = (landmark.row, landmark.column, AROUND)
        st.button(landmark.name, key=f"atlas_landmark_{number}", on_click=go_to, args=where)
        st.caption(error_markdown(landmark.words))


def survey_goes_on(shelf: SharedAtlas) -> bool:
    """Return whether the matrix is being surveyed now; one that takes seconds is from the beginning."""
    if SURVEY.value[0] != shelf.key:
        SURVEY.value = shelf.key, shelf.atlas.n_queries * shelf.atlas.n_keys <= SURVEYED_UNASKED
    return SURVEY.value[1] and not shelf.atlas.is_surveyed


def survey_part(shelf: SharedAtlas, goes_on: bool) -> None:
    """Draw how far the survey is, offer to stop or to go on, and say what the matrix costs in memory."""
    atlas = shelf.atlas
    if goes_on and survey_goes_on(shelf):
        shelf.survey_on()
    if goes_on != survey_goes_on(shelf):  # since the whole page was drawn: its clock has to start or to stop
        st.rerun()
    if not atlas.is_surveyed:
        share = atlas.surveyed
        st.progress(share, text=_progress_words(shelf, share, goes_on))
        label = "Cancel" if goes_on else "Go on" if share else "Survey the whole matrix"
        st.button(label, key="atlas_survey_button", on_click=_start_or_stop, args=(shelf, not goes_on))
    took = f" Surveyed in {_time(shelf.seconds)}." if atlas.is_surveyed and shelf.seconds > 0.05 else ""
    st.caption(
        f"{atlas.n_queries:,} × {atlas.n_keys:,} weights would take **{in_units(atlas.matrix_bytes)}**. Kept are the "
        f"queries, the keys and one number per row: **{in_units(atlas.kept_bytes)}**.{took}"
    )


def _start_or_stop(shelf: SharedAtlas, starts: bool) -> None:
    SURVEY.value = shelf.key, starts
    if not starts:
        shelf.rest()


def _progress_words(shelf: SharedAtlas, share: float, goes_on: bool) -> str:
    words = f"Surveyed: {share:.0%}"
    if shelf.seconds and share:
        words += f" in {_time(shelf.seconds)}, about {_time(shelf.seconds * (1 - share) / share)} to go"
    if goes_on:
        return words
    return f"{words}. What is hatched is a glimpse, one exact row per block; zoomed in, all is exact."


def _time(seconds: float) -> str:
    if seconds < 10:
        return f"{seconds:.1f} s"
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.1f} min"
