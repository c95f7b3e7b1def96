"""Finding one's way: a text that is looked for, a cell by its numbers, the survey and the places that it finds."""

import streamlit as st

from attention_core.bounds import SEARCH_LETTERS
from ui.atlas import NAME
from ui.atlas.map import go_to
from ui.atlas.shelf import OpenAtlas
from ui.labels import literal, said
from ui.state import Field, choice, named, plain_text, whole_number

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


def places_part(shelf: OpenAtlas) -> None:
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


def _hit_part(shelf: OpenAtlas) -> None:
    wanted, hits = literal(WANTED.value.strip()), _hits(shelf)
    if not hits:
        st.caption(f"{wanted} is nowhere in this text, whatever the case and the blanks.")
        return
    at = HIT.within(0, len(hits) - 1)
    st.caption(f"{wanted}: {at + 1:,} of {len(hits):,}, at {hits[at] + 1:,}")
    taken = {"on_change": _go_to_hit, "args": (shelf, at)}
    choice("Among", AMONG, (ROWS, COLUMNS, BOTH), label_visibility="collapsed", **taken)
    with st.container(horizontal=True, gap="small"):
        chevrons = ":material/chevron_left:", ":material/chevron_right:"
        st.button("Previous", key="atlas_hit_previous", icon=chevrons[0], on_click=_go_to_hit, args=(shelf, at - 1))
        st.button("Next", key="atlas_hit_next", icon=chevrons[1], on_click=_go_to_hit, args=(shelf, at + 1))


def _hits(shelf: OpenAtlas) -> list[int]:
    return shelf.find("rows" if AMONG.value == ROWS else "columns", WANTED.value.strip())


def _go_to_hit(shelf: OpenAtlas, number: int) -> None:
    if hits := _hits(shelf):
        HIT.value = number % len(hits)
        at = hits[HIT.value]
        row = at if AMONG.value in (ROWS, BOTH) and at < shelf.atlas.n_queries else None
        go_to(row, at if AMONG.value in (COLUMNS, BOTH) else None, CLOSE)


def _cell_form(shelf: OpenAtlas) -> None:
    with st.form("atlas_cell", border=False):
        left, right = st.columns(2)
        row = left.number_input("Query (row)", 1, shelf.atlas.n_queries, step=1, key="atlas_row")
        column = right.number_input("Key (column)", 1, shelf.atlas.n_keys, step=1, key="atlas_column")
        if st.form_submit_button("Go to the cell"):
            go_to(int(row) - 1, int(column) - 1, CLOSE // 3)


def _landmarks(shelf: OpenAtlas) -> None:
    if not shelf.atlas.is_surveyed:
        st.caption("After the survey: the strongest cell far away, the key that is looked at most, and others.")
        return
    for number, landmark in enumerate(shelf.landmarks):
        where = (landmark.row, landmark.column, AROUND)
        st.button(landmark.name, key=f"atlas_landmark_{number}", on_click=go_to, args=where)
        st.caption(said(landmark.words))


def survey_goes_on(shelf: OpenAtlas) -> bool:
    """Return whether the matrix is being surveyed now; one that takes seconds is from the beginning."""
    if SURVEY.value[0] != shelf.key:
        SURVEY.value = shelf.key, shelf.atlas.n_queries * shelf.atlas.n_keys <= SURVEYED_UNASKED
    return SURVEY.value[1] and not shelf.atlas.is_surveyed


def survey_part(shelf: OpenAtlas, goes_on: bool) -> None:
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
        f"{atlas.n_queries:,} × {atlas.n_keys:,} weights would take **{_size(atlas.matrix_bytes)}**. Kept are the "
        f"queries, the keys and one number per row: **{_size(atlas.kept_bytes)}**.{took}"
    )


def _start_or_stop(shelf: OpenAtlas, starts: bool) -> None:
    SURVEY.value = shelf.key, starts
    if not starts:
        shelf.rest()


def _progress_words(shelf: OpenAtlas, share: float, goes_on: bool) -> str:
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


def _size(n_bytes: float) -> str:
    units = {"GB": 1e9, "MB": 1e6, "kB": 1e3, "bytes": 1}
    return next(f"{n_bytes / size:.3g} {unit}" for unit, size in units.items() if n_bytes >= size)
