"""A guided flight over the map of a text, from the whole of it to one sentence."""

import html
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.wording import fine_percent, percent
from attention_core.bounds.harmless import escape_hidden
from attention_core.inference.long_text import Echo, LongText, rest_shares, strongest_echo
from pages.atlas.map import CLOSE_UP_CELLS, JOURNEY, RESTING_VIEW, View, is_map_at, move_map, open_map_at
from pages.atlas.shared_atlas import NAME, MatrixSource, SharedAtlas
from ui.lecture.mode import LECTURE
from ui.player import Player
from ui.state import Field, whole_number
from ui.try_this import NOT_TRIED, TRY_STAGE, TryThis, is_answered, is_guessing

RIBBON_CELLS, PAGE_CELLS = 1_500, 100  # along the map's shorter side at the two stops between the whole and the last
MIN_ECHO_WEIGHT = 0.2  # on what followed the last time; with less, a head is not said to look for it
MIN_REST_WEIGHT = 0.5  # on full stops, of pieces that are new; with less, a head is not said to rest there
MIN_THIN_RATIO = 20  # of a text's length and the window, from which on the map is a thin line
LAST_STOP, ASKED_STOP = 3, 2  # where it begins; what is seen as the guess is asked
STOP_INDEX = Field(NAME, "stop", LAST_STOP, address="stop", parse=whole_number)
FLIGHT = Player(STOP_INDEX, seconds=4.0)
LANDING = Field(NAME, "landed", ("", 0))
"""The matrix, "" at first, and the index of the stop to which the map was moved last."""
DESCRIBED_STOP: Field[Any] = Field(NAME, "told", None)
"""The stop that the page describes."""
SUBTITLE = Field(
    NAME,
    "subtitle",
    "Head 6 of layer 4 of a small language model reads 18,136 pieces of text, words or less. Pink is where it looks.",
)
"""What stands under the title, at first of the map that the page opens on."""


class Stop(NamedTuple):
    """A stop of the flight: its title and description, its view, the cell to frame."""

    title: str
    description: str
    view: View
    cell: tuple[int, int] | None = None


AXES_SENTENCE = "Rows are the pieces that look, columns those looked at."
ELSEWHERE = Stop("A place of your own choice", AXES_SENTENCE, View(0, 0, None))


def follow_source(source: MatrixSource, shared: SharedAtlas) -> None:
    """Run the page again if what stands under its title is of another map."""
    subtitle = "Each row is a query; pink cells are the keys that it looks at."
    if source.text is not None:
        atlas = shared.atlas
        head = f"Head {atlas.head + 1} of {atlas.trace.story.name} of a small language model"
        subtitle = f"{head} reads {atlas.n_queries:,} pieces of text, words or less. Pink is where it looks."
    if SUBTITLE.value != subtitle:
        SUBTITLE.value = subtitle
        st.rerun()


def draw_flight(source: MatrixSource, shared: SharedAtlas) -> None:
    """Draw the buttons of the flight; move the map to a stop that was just chosen."""
    stops = stops_of(source, shared)
    STOP_INDEX.clamp(0, len(stops) - 1)
    landing, landing_before = (shared.key, STOP_INDEX.value), LANDING.value
    stop = stops[STOP_INDEX.value]
    if landing != landing_before:
        LANDING.value = landing
        if STOP_INDEX.value != ASKED_STOP and is_answered(NAME) and not LECTURE.value:
            TRY_STAGE[NAME].value = NOT_TRIED  # the outcome is about another view; a lecture asks once
        if landing_before[0]:
            move_map(stop.view, stop.cell, slowly=True)
        elif RESTING_VIEW.value is None and stop.view.across:
            open_map_at(stop.view, stop.cell)
    DESCRIBED_STOP.value = _described_stop(source, shared)
    if len(stops) > 1 and not is_guessing(NAME):
        with st.container(horizontal=True, gap="small", key="atlas_flight"):
            led_to = sorted({0, STOP_INDEX.value}) if LECTURE.value else range(len(stops))
            FLIGHT.previous_button(led_to, "Fly out", icon=None)
            if STOP_INDEX.value != led_to[-1]:
                FLIGHT.next_button(led_to, "Fly in", icon=None, type="primary")


def follow_view(source: MatrixSource, shared: SharedAtlas) -> None:
    """Run the page again if the map was moved away from the stop that the page describes, or back to it."""
    if _described_stop(source, shared) != DESCRIBED_STOP.value:
        st.rerun()


def _described_stop(source: MatrixSource, shared: SharedAtlas) -> Stop:
    """Return what is in view: the flight's stop, a cell that a search jumped to, or ELSEWHERE."""
    stop, journey = stops_of(source, shared)[STOP_INDEX.value], JOURNEY.value
    trace, head = shared.atlas.trace, shared.atlas.head
    if source.text is None:
        return stop
    if journey and journey["mark"] and not journey["slowly"]:  # a jump; the flight goes slowly
        cell = tuple(journey["mark"])
        row, column = cell
        query_label, key_label = (source.text.labels[position].strip() for position in cell)
        weights = trace.weights(head, [row])[0]
        degree, weight = " most" * (int(weights.argmax()) == column), fine_percent(float(weights[column]))
        title = f"At “{query_label}” it looks{degree} at “{key_label}”, piece {column + 1:,}: {weight}"
        stop = Stop(title, "Every cell is one weight.", View(row + 0.5, column + 0.5, CLOSE_UP_CELLS), cell)
    return stop if is_map_at(stop.view, stop.cell) else ELSEWHERE


def heaviest_key_of(source: MatrixSource, shared: SharedAtlas) -> Callable[[int], int] | None:
    """Return a function from a query to the key of its largest weight; None where no text was read."""
    trace, head = shared.atlas.trace, shared.atlas.head
    return (lambda row: int(trace.weights(head, [row])[0].argmax())) if source.text else None


def stops_of(source: MatrixSource, shared: SharedAtlas) -> list[Stop]:
    """Return the stops of a flight; the whole alone where no text was read, or none of its sentences return."""
    atlas, trace, text = shared.atlas, shared.atlas.trace, source.text
    n, window = atlas.n_queries, trace.window
    full_view = View(n / 2, atlas.n_keys / 2, None)
    if text is None or window is None:
        pairs = f"{n:,} × {atlas.n_keys:,} weights. Zoom in anywhere: every one of them is exact."
        return [Stop(source.title, pairs, full_view)]
    n_sentences, reach = text.sentence_of[-1] + 1, "all before it: the triangle"
    if n > window:
        reach = f"the last {window} only: {'the thin line' if n >= MIN_THIN_RATIO * window else 'the band'}"
    title = f"{n_sentences:,} sentence{'s' * (n_sentences > 1)}"
    overview = Stop(title, f"Each piece sees {reach}.", full_view)
    if (echo := echo_of(source, shared)) is None:
        return [overview]
    return [overview, *_closer_stops(text, echo, n, window)]


def draw_story(source: MatrixSource, shared: SharedAtlas) -> None:
    """Draw what the map shows, as a heading and a sentence; nothing while a guess waits or has its answer."""
    described: Stop = DESCRIBED_STOP.value
    if is_guessing(NAME) or (LECTURE.value and is_answered(NAME)):
        return
    title, description = (html.escape(escape_hidden(text)) for text in described[:2])
    st.html(f'<p class="story"><b>{title}</b></p><p class="story caption">{description}</p>')


def map_notes(source: MatrixSource, shared: SharedAtlas) -> dict[str, Any]:
    """Return what is noted in the map: an echo's cells and average, dots over full stops once these are told."""
    if (echo := _find_echo(source, shared)) is None:
        return {}
    share, width = f"{fine_percent(echo.shares[1])} on average", echo.second.stop - echo.first.start
    return {"echo": {"cells": echo.cells, "share": share, "width": width}, "dots": is_answered(NAME)}


def echo_of(source: MatrixSource, shared: SharedAtlas) -> Echo | None:
    """Return the strongest echo in a text; None where no text was read, or no two short sentences follow another."""
    if source.text is None or shared.atlas.trace.window is None:
        return None
    return _echo(shared.key, shared.atlas.head, source.text, shared.atlas.trace)


def _find_echo(source: MatrixSource, shared: SharedAtlas) -> Echo | None:
    """Return the echo of a text, if this head attends to what came next the last time; else None."""
    echo = echo_of(source, shared)
    return echo if echo is not None and echo.shares[1] >= MIN_ECHO_WEIGHT else None


def rest_guess(source: MatrixSource, shared: SharedAtlas) -> TryThis | None:
    """Return the guess at where pieces look that are new; None at another stop, or where that is not at full stops."""
    text, atlas, index = source.text, shared.atlas, STOP_INDEX.value
    fits_stop = is_guessing(NAME) or (index == ASKED_STOP if is_answered(NAME) else index >= LAST_STOP)
    if text is None or not fits_stop or _find_echo(source, shared) is None:
        return None
    middle = round(stops_of(source, shared)[ASKED_STOP].view.row)
    rows = range(max(middle - PAGE_CELLS // 2, 0), min(middle + PAGE_CELLS // 2, len(text.ids)))
    new, again = rest_shares(text, atlas.trace, atlas.head, rows)
    if new < MIN_REST_WEIGHT:
        return None

    def outcome() -> tuple[int, str]:
        shares = f"new pieces here give them {percent(new)} of their weight, pieces that return {percent(again)}"
        return 1, f"**To full stops**, the columns under dots: {shares}."

    return TryThis(
        "what if a piece is new?",
        "A new piece did not occur before, yet its weights add up to 100%. Where do they go?",
        ("To all pieces alike", "To full stops", "To the piece just before"),
        partial(STOP_INDEX.set, ASKED_STOP),
        outcome,
        "atlas_stage",
        hides=".st-key-atlas_flight",
    )


def _closer_stops(text: LongText, echo: Echo, n: int, window: int) -> list[Stop]:
    middle = (echo.first.start + echo.second.stop) / 2
    _, echo_weight, neighbour_weight = echo.shares
    has_echo = echo_weight >= MIN_ECHO_WEIGHT
    slants = (
        "Short slanted strokes: words that return, and what came next the last time. Upright lines: pieces that many "
        "look at."
    )
    with_echo = "Framed: what the second sentence repeats. Nobody told it to look so: it helps to guess the next word."
    without_echo = (
        f"Where a piece returns in the second sentence, what came next the first time gets {fine_percent(echo_weight)} "
        f"on average, the piece just before {fine_percent(neighbour_weight)}."
    )
    ribbon = "To the right of the diagonal: not read yet."
    if n > window:
        ribbon = f"The line is a ribbon, {window} pieces wide: out of reach to its left, not read yet to its right."
    strokes, average = (slants, with_echo) if has_echo else (AXES_SENTENCE, without_echo)

    def stop_of(n_cells: int, description: str) -> Stop:
        edges = (min(max(int(middle + offset), 0), len(text.ids) - 1) for offset in (-n_cells / 2, n_cells / 2))
        first, last = (text.sentence_of[edge] for edge in edges)
        return Stop(f"{last - first + 1} sentences", description, View(middle, middle, min(n_cells, n)))

    row, cell = (echo.second.start + echo.second.stop) / 2, (echo.query, echo.followed)
    query, followed = (text.labels[position].strip() for position in cell)
    title = "Two sentences, piece by piece"
    if has_echo:
        is_second = text.labels[echo.first.start : echo.second.stop].count(text.labels[echo.query]) == 2
        glance = f"At {'the second ' * is_second}“{query}” it looks back at “{followed}”"
        title = f"{glance}: what came next the first time"
    last_stop = Stop(title, average, View(row, middle, len(echo.second)), cell)
    return [stop_of(RIBBON_CELLS, ribbon), stop_of(PAGE_CELLS, strokes), last_stop]


@st.cache_resource(max_entries=48, show_spinner=False)
def _echo(key: str, head: int, _text: LongText, _trace: AttentionTrace) -> Echo | None:
    return strongest_echo(_text, _trace, head)
