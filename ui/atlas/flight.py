"""A guided flight over the map of a text, from the whole of it to one sentence."""

import html
from typing import NamedTuple

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.topics.atlas import Echo, LongText, strongest_echo
from ui.atlas import NAME
from ui.atlas.map import GO, REST, arrive_at, go_to
from ui.atlas.shared_atlas import MatrixSource, SharedAtlas
from ui.labels import as_percent, error_markdown
from ui.lecture import LECTURE
from ui.player import Player
from ui.state import Field, whole_number
from ui.try_this import ASKED, NOT_TRIED, TRIED, TryThis

RIBBON, PAGE = 1_500, 170  # cells along the map's shorter side at the two stops on the way
FINDS = 0.2  # share of its attention from which a head is said to look for what followed
SHAPES = ("A full square", "A thin line", "Scattered points")
LAST_STOP = 3
STOP = Field(NAME, "stop", LAST_STOP, address="stop", parse=whole_number)
FLIGHT = Player(STOP, seconds=4.0)
LANDED = Field(NAME, "landed", ("", 0))
"""The matrix and the stop to which the map was moved last."""


class Stop(NamedTuple):
    """A place of the flight: what is said there, the cell in the middle, the cells across, the cell to frame."""

    title: str
    words: str
    row: float
    column: float
    across: float | None
    cell: tuple[int, int] | None = None


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
    if STOP.value == LAST_STOP or _found(source, shared) is None:
        st.markdown(f"**{stop.title}**  \n{stop.words}")
    if len(stops) > 1:
        with st.container(horizontal=True, gap="small", key="atlas_flight"):
            FLIGHT.previous_button(range(len(stops)), "Fly out")
            if STOP.value < LAST_STOP:
                FLIGHT.next_button(range(len(stops)), "Fly in", type="primary")


def stops_of(source: MatrixSource, shared: SharedAtlas) -> list[Stop]:
    """Return the stops of a flight; the whole alone where no text was read, or none of its sentences return."""
    atlas, trace, text = shared.atlas, shared.atlas.trace, source.text
    n, window = atlas.n_queries, trace.window
    middle = n / 2, atlas.n_keys / 2
    if text is None or window is None:
        pairs = f"{n:,} × {atlas.n_keys:,} weights. Zoom in anywhere: every one of them is exact."
        return [Stop(error_markdown(source.title), pairs, *middle, None)]
    sentences = text.sentence_of[-1] + 1
    whole = Stop(
        f"{sentences:,} sentences",
        f"A language model reads them, each word sees the last {window} only: the thin line.",
        *middle,
        None,
    )
    echo = _echo(shared.key, shared.atlas.head, text, trace)
    if echo is None:
        return [whole]
    return [whole, *_close(text, echo, n, window)]


def framed_words(source: MatrixSource, shared: SharedAtlas) -> None:
    """Draw what the map is about: the last stop's sentence, with an arc for the framed cell, or what another shows."""
    text, trace, head = source.text, shared.atlas.trace, shared.atlas.head
    if text is None or (echo := _found(source, shared)) is None:
        return

    def words(start: int, end: int) -> str:
        return " ".join(html.escape(label.strip()) for label in text.labels[start:end])

    if GO.value and GO.value["mark"] and not GO.value["slowly"]:  # a word that was jumped to
        row = GO.value["mark"][0]
        weights = trace.weights(head, [row])[0]
        most, share = int(weights.argmax()), as_percent(float(weights.max()))
        at, found = words(row, row + 1), words(most, most + 1)
        st.html(f'<p class="echo"><b>At “{at}” it looks most at “{found}”, word {most + 1:,}: {share}</b></p>')
        return
    if STOP.value < LAST_STOP:
        stop = stops_of(source, shared)[STOP.value]
        st.html(f'<p class="echo"><b>{stop.title}</b></p><div class="echo told">{stop.words}</div>')
        return
    asks, found = (words(place, place + 1) for place in (echo.query, echo.followed))
    share = as_percent(float(trace.weights(head, [echo.query])[0, echo.followed]))
    st.html(
        f'<p class="echo"><b>At the second “{asks}” it looks back at “{found}”: what came next the first time</b></p>'
        '<div class="echo" tabindex="0">'
        f"{words(echo.first.start, echo.followed)} <span data-share={share}><b>{found}</b> "
        f"{words(echo.followed + 1, echo.query)} <i>{asks}</i></span> {words(echo.query + 1, echo.second.stop)}</div>"
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
    if source.text is None or window is None or is_elsewhere:
        return None

    def fly() -> None:
        STOP.value = 0

    def outcome() -> tuple[int, str]:
        share = sum(min(row + 1, window) for row in range(n)) / n**2
        words = f"Each word sees the last {window} only. That is {as_percent(share)} of all {n:,} × {n:,} pairs."
        return int(share < 0.5), words

    question = f"All {n:,} words at once: what will the map look like?"
    return TryThis("fly out to the whole text", question, SHAPES, fly, outcome, "atlas_stage")


def _close(text: LongText, echo: Echo, n: int, window: int) -> list[Stop]:
    place, (_, followed, before) = (echo.first.start + echo.second.stop) / 2, echo.shares
    finds = followed >= FINDS
    slants = (
        "Short slanted strokes: sentences that begin as an earlier one did, and look back at it. Upright lines: full "
        "stops, where the head rests when nothing returns."
    )
    closest = (
        f"On average, such a word gets {as_percent(followed)} of this head's attention. Nobody told it to: it helps to "
        "guess the next word."
    )
    other = f"What came next last time gets {as_percent(followed)} here, the word just before {as_percent(before)}."
    ribbon = f"The line is a ribbon, {window} words wide: out of reach to its left, not read yet to its right."
    cells = slants if finds else "Every cell is one weight. Rows are the words that look, columns those looked at."
    told, across = closest if finds else other, echo.second.stop - echo.first.start
    return [
        Stop(f"{_sentences(text, place, RIBBON)} sentences", ribbon, place, place, min(RIBBON, n)),
        Stop(f"{_sentences(text, place, PAGE)} sentences", cells, place, place, min(PAGE, n)),
        Stop("Two sentences, word by word", told, place, place, across, (echo.query, echo.followed)),
    ]


def _sentences(text: LongText, place: float, across: float) -> int:
    last = len(text.ids) - 1
    first, end = (min(max(int(place + by), 0), last) for by in (-across / 2, across / 2))
    return text.sentence_of[end] - text.sentence_of[first] + 1


@st.cache_resource(max_entries=48, show_spinner=False)
def _echo(key: str, head: int, _text: LongText, _trace: AttentionTrace) -> Echo | None:
    return strongest_echo(_text, _trace, head)
