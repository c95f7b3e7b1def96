"""Why does it look elsewhere next? One region's score at every look: the picture stays, the query changes."""

import streamlit as st

from attention_core.attention.types import Role
from attention_core.attention.wording import percent
from attention_core.charts.ramps import ROLE_COLOURS
from attention_core.data.scenes import MAX_DIGITS
from attention_core.device import to_array
from pages.read.inputs import PresentLook, draw_look, draw_present_map
from pages.read.numbers import WALK
from pages.read.pad import MODEL, NAME
from ui.computed import card_or_empty
from ui.layout import section
from ui.lecture.mode import LECTURE
from ui.state import Field, whole_number
from ui.words import number_bars

COLUMNS = [1.9, 1]
"""A map over the drawing, beside what is said of it."""
REGION = Field(NAME, "region", None, address="region", parse=whole_number)
draw_input = draw_look


def answer(present: PresentLook) -> str:
    """Say how much weight the framed region gets at most, and from the present look, if another, else at least."""
    weights = to_array(present.drawing.reading.trace.weights(cols=[_region(present)])[:, 0])
    most = int(weights.argmax())
    compared = int(weights.argmin()) if present.look == most else present.look
    largest, present_share = (f"{percent(weights[index])} of look {index + 1}" for index in (most, compared))
    return f"Its state, the question, changes: the framed spot gets {largest}, and {present_share}."


def draw(present: PresentLook) -> None:
    """Draw the present look, and the chosen region's score at every look."""
    region, trace = _region(present), present.drawing.reading.trace
    map_column, bars_column = (st.container(), st.container()) if LECTURE.value else st.columns(COLUMNS, gap="large")
    with map_column:
        draw_present_map(present, "read_regions", chosen=region, on_choose=REGION.set)
        if not LECTURE.value:
            st.caption(f"Click another spot. It never sees its own answers.{_test_figures()}")
    with bars_column:
        section("The framed spot: score (and weight) at every look", Role.SCORES)
        scores, weights = to_array(trace.scores(cols=[region])[:, 0]), to_array(trace.weights(cols=[region])[:, 0])
        labels = [f"look {number}, reads {label}" for number, label in enumerate(present.drawing.labels, 1)]
        names = [f"{label} ({percent(weight)})" for label, weight in zip(labels, weights.tolist(), strict=True)]
        title, colour = "Scores at every look", ROLE_COLOURS[Role.SCORES]
        number_bars(
            "read_region", names, scores.tolist(), colour, title, "go there", WALK.field.set, chosen=present.look
        )


def _test_figures() -> str:
    """Say how often it is right, on numbers that it never saw."""
    if not (shares := card_or_empty(MODEL).get("test_numbers")):
        return ""
    five, six = shares["accuracy_1_to_5"], shares["accuracy_by_length"][str(MAX_DIGITS)]
    return f" It reads {percent(five)} of new numbers of up to five digits right, {percent(six)} of six."


def _region(present: PresentLook) -> int:
    """Return the region that was clicked or is in the address, else the one that the first look likes best."""
    region, trace = REGION.value, present.drawing.reading.trace
    return region if region is not None and region < trace.n_keys else int(trace.weights(rows=[0])[0].argmax())
