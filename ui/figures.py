"""The pictures that a page shows, to be taken along as figures: noted when they are drawn, made when asked for."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from ui.state import APP, Field

if TYPE_CHECKING:
    from attention_core.charts.design import Chart

PAGE, PART = Field[list](APP, "pictures_of_the_page", list), Field[list](APP, "pictures_of_the_part", list)
SUBJECT = Field(APP, "pictures_subject", "")
WIDTHS = {"as on the screen": None, "one column": 85.0, "two columns": 176.0}
"""Millimetres in print: a journal's column, and two with what lies between them."""
LONGEST = 120  # letters of a file's name


class Picture(NamedTuple):
    """A picture on the page."""

    make: Callable[[], Chart]  # returns what was drawn, as a chart
    title: str  # what it shows
    name: str  # what its file is called after the page, such as "additive-attention-weights"


def file_name(*words: str) -> str:
    """Return the name of a file, without its ending: small letters, figures and hyphens."""
    plain = unicodedata.normalize("NFKD", " ".join(words).lower()).encode("ascii", "ignore").decode()
    parts = re.findall(r"[a-z0-9]+", plain)
    once = [part for part, before in zip(parts, ["", *parts], strict=False) if part != before or part.isdecimal()]
    return "-".join(once)[:LONGEST].strip("-")


def forget_pictures() -> None:
    """Begin with a page that has not drawn anything yet."""
    PAGE.value = PART.value = []
    SUBJECT.value = ""


def new_part() -> list:
    """Return the place for the pictures of a part that reruns alone."""
    place: list = []
    PART.value.append(place)
    return place


@contextmanager
def noted_in(place: list) -> Iterator[None]:
    """Note the pictures of a part anew, in its place."""
    place.clear()
    around = PART.value, SUBJECT.value
    PART.value = place
    try:
        yield
    finally:
        PART.value, SUBJECT.value = around


def say_subject(words: str) -> None:
    """Say what the pictures that follow in this part are about, such as a model; their files are called after it."""
    SUBJECT.value = words


def note_picture(make: Callable[[], Chart], title: str, step: str = "") -> None:
    """Keep a picture that is drawn, for who wants to save it; a step of a trace is named by its step.

    What stands behind a semicolon says what to do with it on the page, and not what it shows.
    """
    title, subject = title.partition(";")[0], SUBJECT.value
    picture = Picture(make, f"{title} ({subject})", file_name(subject, step)) if step else Picture(make, title, title)
    PART.value.append(picture)


def pictures() -> list[Picture]:
    met: Counter[str] = Counter()
    shown = []
    for picture in _flat(PAGE.value):
        name = file_name(picture.name)
        met[name] += 1
        shown.append(picture._replace(name=name if met[name] == 1 else f"{name}-{met[name]}"))
    return shown


def _flat(place: list) -> Iterator[Picture]:
    for one in place:
        if isinstance(one, Picture):
            yield one
        else:
            yield from _flat(one)


@st.fragment
def save_pictures(page: str) -> None:
    """Offer every picture of a page (see PageEntry.name) as a figure; nothing is made before it is asked for."""
    place = st.popover("Save a picture", icon=":material/download:", key="pictures_open", on_change="rerun")
    if not place.open:
        return
    from attention_core.charts.figure import FORMATS

    shown = pictures()
    with place:
        if not shown:
            st.caption("This page shows no picture just now.")
            return
        number = st.selectbox("Picture", range(len(shown)), format_func=lambda number: shown[number].title)
        width = st.segmented_control("Width in print", list(WIDTHS), default=next(iter(WIDTHS)), required=True)
        picture = shown[number]
        with st.container(horizontal=True, gap="small"):
            for form in FORMATS:
                st.download_button(
                    form.upper(),
                    partial(_figure, picture, form, WIDTHS[width]),
                    f"{file_name(page, picture.name)}.{form}",
                    on_click="ignore",
                    key=f"pictures_{form}",
                )


def _figure(picture: Picture, form: str, width: float | None) -> bytes:
    from attention_core.charts.figure import figure

    return figure(picture.make(), form, title=picture.title, width=width)
