"""A guided flight over the map of a text, from the whole of it to one sentence."""

import html
from collections.abc import Callable
from typing import Any, NamedTuple

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.wording import percent
from attention_core.inference.long_text import Echo, LongText, strongest_echo
from pages.atlas.map import CLOSE_UP_CELLS, JOURNEY, RESTING_VIEW, View, is_map_at, move_map, open_map_at
from pages.atlas.shared_atlas import NAME, MatrixSource, SharedAtlas
from ui.labels import error_markdown
from ui.lecture.mode import LECTURE
from ui.player import Player
from ui.state import Field, whole_number
from ui.try_this import GUESSING, NOT_TRIED, TRY_STAGE, TryThis

RIBBON_CELLS, PAGE_CELLS = 1_500, 170  # cells along the map's shorter side at the two stops on the way
MIN_ECHO_WEIGHT = 0.2  # share of its attention from which a head is said to look for what followed
THIN_RATIO = 20  # of a text so many times as long as the window the map is a thin line
SHAPES = ("A full square", "A thin line", "Scattered points")
LAST_STOP = 3
STOP = Field(NAME, "stop", LAST_STOP, address="stop", parse=whole_number)
FLIGHT = Player(STOP, seconds=4.0)
LANDED = Field(NAME, "landed", ("", 0))
"""The matrix and the stop to which the map was moved last."""
DESCRIBED_STOP: Field[Any] = Field(NAME, "told", None)
"""The stop of which heading and text tell."""


class Stop(NamedTuple):
    """A stop of the flight: its title and text, its view, the cell to frame."""

    title: str
    text: str
    view: View
    cell: tuple[int, int] | None = None


SIDES = "Rows are the pieces that look, columns those looked at."
ELSEWHERE = Stop("A place of your own choice", SIDES, View(0, 0, None))


def draw_flight(source: MatrixSource, shared: SharedAtlas) -> None:
    """Draw title and text of this stop, and the buttons; move the map to a stop that was just chosen."""
    stops = stops_of(source, shared)
    STOP.clamp(0, len(stops) - 1)
    landing, landed_before = (shared.key, STOP.value), LANDED.value
    stop = stops[STOP.value]
    if landing != landed_before:
        LANDED.value = landing
        if STOP.value and not LECTURE.value:
            TRY_STAGE[NAME].value = NOT_TRIED  # its answer is about the whole; a lecture asks once
        if landed_before[0]:
            move_map(stop.view, stop.cell, slowly=True)
        elif RESTING_VIEW.value is None and stop.view.across:
            open_map_at(stop.view, stop.cell)
    DESCRIBED_STOP.value = described = _described_stop(source, shared)
    if _find_echo(source, shared) is None or described == stops[-1]:
        st.markdown(f"**{error_markdown(described.title)}**  \n{described.text}")
    if len(stops) > 1:
        with st.container(horizontal=True, gap="small", key="atlas_flight"):
            FLIGHT.previous_button(range(len(stops)), "Fly out")
            if STOP.value < LAST_STOP:
                FLIGHT.next_button(range(len(stops)), "Fly in", type="primary")


def follow_view(source: MatrixSource, shared: SharedAtlas) -> None:
    """Run the page again if the map was moved away from the stop that the page describes, or back to it."""
    if _described_stop(source, shared) != DESCRIBED_STOP.value:
        st.rerun()


def _described_stop(source: MatrixSource, shared: SharedAtlas) -> Stop:
    """Return what the map is to be described as: a word that was jumped to, or the flight's stop, if it is in view."""
    stop, journey = stops_of(source, shared)[STOP.value], JOURNEY.value
    trace, head = shared.atlas.trace, shared.atlas.head
    if source.text is None:
        return stop
    if journey and journey["mark"] and not journey["slowly"]:
        row, column = cell = tuple(journey["mark"])
        query_label, key_label = (source.text.labels[position].strip() for position in cell)
        weights = trace.weights(head, [row])[0]
        looks, weight = f"looks{' most' * (int(weights.argmax()) == column)}", percent(float(weights[column]))
        title = f"At “{query_label}” it {looks} at “{key_label}”, piece {column + 1:,}: {weight}"
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
    sentences = text.sentence_of[-1] + 1
    reach = f"the last {window} only: {'the thin line' if n >= THIN_RATIO * window else 'the band'}"
    overview = Stop(
        f"{sentences:,} sentence{'s' * (sentences > 1)}",
        f"A language model reads; each piece sees {reach if n > window else 'all before it: the triangle'}.",
        full_view,
    )
    echo = _echo(shared.key, shared.atlas.head, text, trace)
    if echo is None:
        return [overview]
    return [overview, *_closer_stops(text, echo, n, window)]


def draw_framed_text(source: MatrixSource, shared: SharedAtlas) -> None:
    """Draw the last stop's sentences with an arc for the framed cell; at another stop, its title and text."""
    text, described = source.text, DESCRIBED_STOP.value
    if text is None or (echo := _find_echo(source, shared)) is None:
        return
    if described.cell != (echo.query, echo.followed):
        title, explanation = map(html.escape, described[:2])
        st.html(f'<p class="echo"><b>{title}</b></p><div class="echo caption">{explanation}</div>')
        return
    labels = text.labels

    def escaped_text(start: int, stop: int) -> str:
        return html.escape("".join(labels[start:stop]))

    def tagged_label(position: int, tag: str) -> str:
        return " " * labels[position].startswith(" ") + f"<{tag}>{html.escape(labels[position].strip())}</{tag}>"

    query_label, key_label = (html.escape(labels[position].strip()) for position in (echo.query, echo.followed))
    pair = labels[echo.first.start : echo.second.stop]
    second_query = f"the second “{query_label}”" if pair.count(labels[echo.query]) == 2 else f"“{query_label}”"
    share = percent(float(shared.atlas.trace.weights(shared.atlas.head, [echo.query])[0, echo.followed]))
    st.html(
        f'<p class="echo"><b>At {second_query} it looks back at “{key_label}”: what came next the first time</b></p>'
        f'<div class="echo" tabindex="0">{escaped_text(echo.first.start, echo.followed)} '
        f"<span data-share={share}>{tagged_label(echo.followed, 'b')}{escaped_text(echo.followed + 1, echo.query)}"
        f"{tagged_label(echo.query, 'i')}</span>{escaped_text(echo.query + 1, echo.second.stop)}</div>"
    )


def _find_echo(source: MatrixSource, shared: SharedAtlas) -> Echo | None:
    """Return the echo of a text, if this head attends to what came next the last time; else None."""
    if source.text is None or shared.atlas.trace.window is None:
        return None
    echo = _echo(shared.key, shared.atlas.head, source.text, shared.atlas.trace)
    return echo if echo is not None and echo.shares[1] >= MIN_ECHO_WEIGHT else None


def shape_guess(source: MatrixSource, shared: SharedAtlas) -> TryThis | None:
    """Return the guess at the shape of the whole map; None where no text was read, or another stop is shown."""
    n, window = shared.atlas.n_queries, shared.atlas.trace.window
    tried = TRY_STAGE[NAME].value
    is_between_stops = 0 < STOP.value < LAST_STOP
    is_elsewhere = is_between_stops or (tried == NOT_TRIED if STOP.value == 0 else tried not in (NOT_TRIED, GUESSING))
    if source.text is None or window is None or n < THIN_RATIO * window or is_elsewhere:
        return None

    def fly_out() -> None:
        STOP.value = 0

    def outcome() -> tuple[int, str]:
        share = sum(min(row + 1, window) for row in range(n)) / n**2
        return 1, f"Each piece sees the last {window} only. That is {percent(share)} of all {n:,} × {n:,} pairs."

    question = f"All {n:,} pieces at once: what will the map look like?"
    return TryThis("fly out to the whole text", question, SHAPES, fly_out, outcome, "atlas_stage")


def _closer_stops(text: LongText, echo: Echo, n: int, window: int) -> list[Stop]:
    middle, (_, echo_weight, neighbour_weight) = (echo.first.start + echo.second.stop) / 2, echo.shares
    has_echo = echo_weight >= MIN_ECHO_WEIGHT
    slants = (
        "Short slanted strokes: words that return, and look back at what came next the last time. Upright lines: a "
        "piece that many look at."
    )
    with_echo = (
        f"On average, what came next gets {percent(echo_weight)} of this head's attention here. Nobody told it to: it "
        "helps to guess the next word."
    )
    without_echo = (
        f"On average, what came next last time gets {percent(echo_weight)} here, "
        f"the piece just before {percent(neighbour_weight)}."
    )
    ribbon = "To the right of the diagonal: not read yet."
    if n > window:
        ribbon = f"The line is a ribbon, {window} pieces wide: out of reach to its left, not read yet to its right."
    cells = slants if has_echo else SIDES
    explanation, across = with_echo if has_echo else without_echo, echo.second.stop - echo.first.start
    return [
        Stop(f"{_sentences(text, middle, RIBBON_CELLS)} sentences", ribbon, View(middle, middle, min(RIBBON_CELLS, n))),
        Stop(f"{_sentences(text, middle, PAGE_CELLS)} sentences", cells, View(middle, middle, min(PAGE_CELLS, n))),
        Stop("Two sentences, piece by piece", explanation, View(middle, middle, across), (echo.query, echo.followed)),
    ]


def _sentences(text: LongText, middle: float, across: float) -> int:
    first, last = (
        text.sentence_of[min(max(int(middle + by), 0), len(text.ids) - 1)] for by in (-across / 2, across / 2)
    )
    return last - first + 1


@st.cache_resource(max_entries=48, show_spinner=False)
def _echo(key: str, head: int, _text: LongText, _trace: AttentionTrace) -> Echo | None:
    return strongest_echo(_text, _trace, head)
