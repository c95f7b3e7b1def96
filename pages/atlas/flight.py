"""A guided flight over the map of a text, from the whole of it to one sentence."""

import html
from collections.abc import Callable
from typing import Any, NamedTuple

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.wording import percent
from attention_core.inference.long_text import Echo, LongText, strongest_echo
from pages.atlas.map import CLOSE, GO, REST, arrive_at, go_to, shows
from pages.atlas.shared_atlas import NAME, MatrixSource, SharedAtlas
from ui.labels import error_markdown
from ui.lecture.mode import LECTURE
from ui.player import Player
from ui.state import Field, whole_number
from ui.try_this import ASKED, NOT_TRIED, TRIED, TryThis

RIBBON, PAGE = 1_500, 170  # cells along the map's shorter side at the two stops on the way
FINDS = 0.2  # share of its attention from which a head is said to look for what followed
THIN = 20  # of a text so many times as long as the window the map is a thin line
SHAPES = ("A full square", "A thin line", "Scattered points")
LAST_STOP = 3
STOP = Field(NAME, "stop", LAST_STOP, address="stop", parse=whole_number)
FLIGHT = Player(STOP, seconds=4.0)
LANDED = Field(NAME, "landed", ("", 0))
"""The matrix and the stop to which the map was moved last."""
TOLD: Field[Any] = Field(NAME, "told", None)
"""The place that heading and story tell of."""


class Stop(NamedTuple):
    """A place of the flight: what is said there, the cell in the middle, the cells across, the cell to frame."""

    title: str
    words: str
    row: float
    column: float
    across: float | None
    cell: tuple[int, int] | None = None


ELSEWHERE = Stop("A place of your own choice", "Rows are the pieces that look, columns those looked at.", 0, 0, None)


def flight(source: MatrixSource, shared: SharedAtlas) -> None:
    """Say what the map shows at this stop, offer the next one, and move the map to a stop that was just chosen."""
    stops = stops_of(source, shared)
    STOP.clamp(0, len(stops) - 1)
    here, before = (shared.key, STOP.value), LANDED.value
    stop = stops[STOP.value]
    if here != before:
        LANDED.value = here
        if STOP.value and not LECTURE.value:
            TRIED[NAME].value = NOT_TRIED  # its answer is about the whole; a lecture asks once
        if before[0]:
            go_to(stop.row, stop.column, stop.across, stop.cell, slowly=True)
        elif REST.value is None and stop.across:
            arrive_at(stop.row, stop.column, stop.across, stop.cell)
    TOLD.value = told = _told(source, shared)
    if _found(source, shared) is None or told == stops[-1]:
        st.markdown(f"**{error_markdown(told.title)}**  \n{told.words}")
    if len(stops) > 1:
        with st.container(horizontal=True, gap="small", key="atlas_flight"):
            FLIGHT.previous_button(range(len(stops)), "Fly out")
            if STOP.value < LAST_STOP:
                FLIGHT.next_button(range(len(stops)), "Fly in", type="primary")


def follow_view(source: MatrixSource, shared: SharedAtlas) -> None:
    """Run the page again if the map was moved away from the place that it tells of, or back there."""
    if _told(source, shared) != TOLD.value:
        st.rerun()


def _told(source: MatrixSource, shared: SharedAtlas) -> Stop:
    """Return what is to be said of the map: a word that was jumped to, or the flight's stop, if it is in view."""
    stop, sent, (trace, head) = stops_of(source, shared)[STOP.value], GO.value, (shared.atlas.trace, shared.atlas.head)
    if source.text is None:
        return stop
    if sent and sent["mark"] and not sent["slowly"]:
        row, column = cell = tuple(sent["mark"])
        at, found = (source.text.labels[place].strip() for place in cell)
        weights = trace.weights(head, [row])[0]
        most = " most" * (int(weights.argmax()) == column)
        title = f"At “{at}” it looks{most} at “{found}”, piece {column + 1:,}: {percent(float(weights[column]))}"
        stop = Stop(title, "Every cell is one weight.", row + 0.5, column + 0.5, CLOSE, cell)
    return stop if shows(*stop[2:]) else ELSEWHERE


def most_looked_at(source: MatrixSource, shared: SharedAtlas) -> Callable[[int], int] | None:
    """Return what tells where a piece of a text looks most; None where no text was read."""
    trace, head = shared.atlas.trace, shared.atlas.head
    return (lambda row: int(trace.weights(head, [row])[0].argmax())) if source.text else None


def stops_of(source: MatrixSource, shared: SharedAtlas) -> list[Stop]:
    """Return the stops of a flight; the whole alone where no text was read, or none of its sentences return."""
    atlas, trace, text = shared.atlas, shared.atlas.trace, source.text
    n, window = atlas.n_queries, trace.window
    middle = n / 2, atlas.n_keys / 2
    if text is None or window is None:
        pairs = f"{n:,} × {atlas.n_keys:,} weights. Zoom in anywhere: every one of them is exact."
        return [Stop(source.title, pairs, *middle, None)]
    sentences = text.sentence_of[-1] + 1
    seen = f"the last {window} only: {'the thin line' if n >= THIN * window else 'the band'}"
    whole = Stop(
        f"{sentences:,} sentence{'s' * (sentences > 1)}",
        f"A language model reads; each piece sees {seen if n > window else 'all before it: the triangle'}.",
        *middle,
        None,
    )
    echo = _echo(shared.key, shared.atlas.head, text, trace)
    if echo is None:
        return [whole]
    return [whole, *_close(text, echo, n, window)]


def framed_words(source: MatrixSource, shared: SharedAtlas) -> None:
    """Draw what the map is about: the last stop's sentence, with an arc for the framed cell, or what another shows."""
    text, told = source.text, TOLD.value
    if text is None or (echo := _found(source, shared)) is None:
        return
    if told.cell != (echo.query, echo.followed):
        title, says = map(html.escape, told[:2])
        st.html(f'<p class="echo"><b>{title}</b></p><div class="echo told">{says}</div>')
        return
    labels = text.labels

    def words(start: int, end: int) -> str:
        return html.escape("".join(labels[start:end]))

    def marked(place: int, tag: str) -> str:
        return " " * labels[place].startswith(" ") + f"<{tag}>{html.escape(labels[place].strip())}</{tag}>"

    asks, found = (html.escape(labels[place].strip()) for place in (echo.query, echo.followed))
    pair = labels[echo.first.start : echo.second.stop]
    at = f"the second “{asks}”" if pair.count(labels[echo.query]) == 2 else f"“{asks}”"
    share = percent(float(shared.atlas.trace.weights(shared.atlas.head, [echo.query])[0, echo.followed]))
    st.html(
        f'<p class="echo"><b>At {at} it looks back at “{found}”: what came next the first time</b></p>'
        f'<div class="echo" tabindex="0">{words(echo.first.start, echo.followed)} '
        f"<span data-share={share}>{marked(echo.followed, 'b')}{words(echo.followed + 1, echo.query)}"
        f"{marked(echo.query, 'i')}</span>{words(echo.query + 1, echo.second.stop)}</div>"
    )


def _found(source: MatrixSource, shared: SharedAtlas) -> Echo | None:
    """Return the echo that a head finds in a text, if it looks for what came next the last time."""
    if source.text is None or shared.atlas.trace.window is None:
        return None
    echo = _echo(shared.key, shared.atlas.head, source.text, shared.atlas.trace)
    return echo if echo is not None and echo.shares[1] >= FINDS else None


def surprise(source: MatrixSource, shared: SharedAtlas) -> TryThis | None:
    """Return the guess what the whole looks like; None where no text was read, or it is told elsewhere."""
    n, window = shared.atlas.n_queries, shared.atlas.trace.window
    tried = TRIED[NAME].value
    is_on_its_way = 0 < STOP.value < LAST_STOP
    is_elsewhere = is_on_its_way or (tried == NOT_TRIED if STOP.value == 0 else tried not in (NOT_TRIED, ASKED))
    if source.text is None or window is None or n < THIN * window or is_elsewhere:
        return None

    def fly() -> None:
        STOP.value = 0

    def outcome() -> tuple[int, str]:
        share = sum(min(row + 1, window) for row in range(n)) / n**2
        return 1, f"Each piece sees the last {window} only. That is {percent(share)} of all {n:,} × {n:,} pairs."

    question = f"All {n:,} pieces at once: what will the map look like?"
    return TryThis("fly out to the whole text", question, SHAPES, fly, outcome, "atlas_stage")


def _close(text: LongText, echo: Echo, n: int, window: int) -> list[Stop]:
    place, (_, followed, before) = (echo.first.start + echo.second.stop) / 2, echo.shares
    finds = followed >= FINDS
    slants = (
        "Short slanted strokes: words that return, and look back at what came next the last time. Upright lines: a "
        "piece that many look at."
    )
    closest = (
        f"On average, what came next gets {percent(followed)} of this head's attention here. Nobody told it to: it "
        "helps to guess the next word."
    )
    other = (
        f"On average, what came next last time gets {percent(followed)} here, the piece just before {percent(before)}."
    )
    ribbon = "To the right of the diagonal: not read yet."
    if n > window:
        ribbon = f"The line is a ribbon, {window} pieces wide: out of reach to its left, not read yet to its right."
    cells = slants if finds else "Rows are the pieces that look, columns those looked at."
    told, across = closest if finds else other, echo.second.stop - echo.first.start
    return [
        Stop(f"{_sentences(text, place, RIBBON)} sentences", ribbon, place, place, min(RIBBON, n)),
        Stop(f"{_sentences(text, place, PAGE)} sentences", cells, place, place, min(PAGE, n)),
        Stop("Two sentences, piece by piece", told, place, place, across, (echo.query, echo.followed)),
    ]


def _sentences(text: LongText, place: float, across: float) -> int:
    last = len(text.ids) - 1
    first, end = (min(max(int(place + by), 0), last) for by in (-across / 2, across / 2))
    return text.sentence_of[end] - text.sentence_of[first] + 1


@st.cache_resource(max_entries=48, show_spinner=False)
def _echo(key: str, head: int, _text: LongText, _trace: AttentionTrace) -> Echo | None:
    return strongest_echo(_text, _trace, head)
