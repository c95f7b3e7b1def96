"""The film of a reading: the present map over the drawing, all looks as a strip, the numbers of one look."""

from __future__ import annotations

import streamlit as st

from attention_core.attention.types import Role
from attention_core.charts import overlay, overlay_strip, probability_bars
from attention_core.charts.reading import Strip, columns_chart, region_chart, strips_chart
from attention_core.device import to_array
from attention_core.models.digit_reader import CLASSES
from attention_core.topics.read import column_weights, looks_of
from ui.layout import section
from ui.read.parts import COLUMNS, NAME, Shown
from ui.walk import walk, walk_to

WIDTH = 576
"""Screen pixels of a drawing with a map over it: as wide as the pad."""


def film_part(shown: Shown) -> int:
    """Draw the controls, the map of the present look over the drawing, and what this look said.

    Returns:
        the present look, from 0.
    """
    trace, labels = shown.reading.trace, shown.labels
    grid, n = trace.story.key_axis.grid, len(labels)
    film, said = st.columns(COLUMNS, gap="large")
    with film:
        look = walk(NAME, labels, label="Look")
        if n > 1:
            st.session_state[f"{NAME}_scrub"] = look + 1
            st.slider(
                "Scrub through the looks", 1, n, key=f"{NAME}_scrub", on_change=_scrub, label_visibility="collapsed"
            )
        weights = to_array(trace.weights())
        st.altair_chart(
            overlay(
                shown.canvas,
                weights[look].reshape(grid),
                size=WIDTH,
                select="region",
                marked=st.session_state.get(f"{NAME}_region"),
            ),
            key=f"{NAME}_film",
            on_select=_take_region,
            selection_mode="region",
            width="content",
            alt=f"Where look {look + 1} of {n} goes, over the drawing; click a region to follow it",
        )
    with said:
        section(f"Look {look + 1} says", Role.OUTPUT)
        row = to_array(shown.reading.probabilities[look])
        st.altair_chart(
            probability_bars({f"look {look + 1}": row}, list(CLASSES), height=150, legend=False),
            key=f"{NAME}_said",
            alt=f"Probabilities of the ten digits and the end after look {look + 1}",
        )
        st.markdown(_of_look(shown, look))
    return look


def _of_look(shown: Shown, look: int) -> str:
    """Say what the present look did, and what is special about the last one."""
    looks, labels = looks_of(shown.reading.trace, shown.picture), shown.labels
    now = looks[look]
    where = f"centre at {now.centre:.0%} of the width, {now.on_ink:.0%} of the weight on ink, {now.spread:.1f} bits"
    if labels[look] != "end":
        return f"The map says where **{labels[look]}** was read: {where}."
    others = looks[:look]
    if not others:
        return f"It stops at once. The map: {where}."
    spread = sum(one.spread for one in others) / len(others)
    wider = "wider" if now.spread > spread else "narrower"
    return (
        f"**The end**: nothing tells it how many digits there are. The map of the last look is {wider} than the others "
        f"({now.spread:.1f} against {spread:.1f} bits on average): {where}. What it finds there says stop."
    )


def _scrub() -> None:
    walk_to(NAME, st.session_state[f"{NAME}_scrub"] - 1)


def strip_part(shown: Shown, look: int) -> None:
    """Draw the map of every look; a click goes to one."""
    section("All looks", Role.WEIGHTS)
    trace, state = shown.reading.trace, st.session_state
    labels = [f"look {number + 1}: {said}" for number, said in enumerate(shown.labels)]
    generation = state.setdefault(f"{NAME}_strip_generation", 0)
    key = f"{NAME}_strip_{generation}"
    st.altair_chart(
        overlay_strip(
            shown.canvas,
            to_array(trace.weights()).reshape(-1, *trace.story.key_axis.grid),
            labels,
            size=235,
            columns=4,
            chosen=look,
            select="look",
        ),
        key=key,
        on_select=lambda: _take_look(key),
        selection_mode="look",
        width="content",
        alt=f"The maps of all {len(labels)} looks over the drawing; click one to go there",
    )


def _take_look(key: str) -> None:
    """Go to the clicked look, and mount the strip anew: a second click on the same one must count too."""
    clicked = st.session_state[key]["selection"].get("look")
    if clicked:
        walk_to(NAME, int(clicked[0]["number"]))
        st.session_state[f"{NAME}_strip_generation"] += 1


def vectors_part(shown: Shown, look: int) -> None:
    """Draw the state before a look, the glimpse that it brought, and the state after it."""
    states, glimpse = to_array(shown.reading.states), to_array(shown.reading.trace.context()[look])
    before = "the learned start" if look == 0 else f"the state after look {look}"
    strips = (
        Strip(f"query h{_low(look)}: {before}, {states.shape[1]} numbers", states[look], Role.QUERY),
        Strip(f"glimpse c{_low(look + 1)}: what it saw, {len(glimpse)} numbers", glimpse, Role.CONTEXT),
        Strip(f"state h{_low(look + 1)}: after the look, the next query", states[look + 1], Role.QUERY),
        Strip(f"h{_low(look + 1)} − h{_low(look)}: what the look changed", states[look + 1] - states[look], Role.INPUT),
    )
    section("State, glimpse, state", Role.CONTEXT)
    left, right = st.columns(COLUMNS, gap="large")
    with left:
        st.altair_chart(
            strips_chart(strips, width=WIDTH),
            key=f"{NAME}_vectors",
            width="content",
            alt="The state before the look, its glimpse, the state after it and their difference, a cell per number",
        )
    with right:
        st.markdown(
            "The glimpse is the weighted sum of the regions' features, the only thing the reader gets of the picture. "
            "A gated recurrent unit mixes it into the state. What was said is not fed back: the state alone knows "
            "what has been read."
        )
        st.caption("Rest the mouse on a cell for its number. All rows share one scale.")


def evidence_part(shown: Shown, look: int) -> None:
    """Draw what shows that the query makes the map: the same regions, scored otherwise at every look."""
    trace, labels = shown.reading.trace, [f"{number + 1}: {said}" for number, said in enumerate(shown.labels)]
    region = chosen_region(shown)
    row, column = divmod(region, trace.story.key_axis.grid[1])
    left, right = st.columns(COLUMNS, gap="large")
    with left:
        section("Same picture, another question", Role.SCORES)
        st.markdown(
            "The features are computed once and never change. The state is the query, and every look has another: so "
            "the same columns of the picture get other weights, and the map moves."
        )
        st.altair_chart(
            columns_chart(
                shown.canvas, to_array(column_weights(trace)), labels, size=WIDTH - 64, marked=look, column=column
            ),
            key=f"{NAME}_columns",
            width="content",
            alt=f"Weights of {len(labels)} looks over {trace.story.key_axis.grid[1]} columns of the picture",
        )
        st.caption("A look is a row; the rows of regions are summed. The dashed column holds the region on the right.")
    with right:
        section("One region through all looks", Role.SCORES)
        st.altair_chart(
            region_chart(
                to_array(trace.scores(cols=[region])[:, 0]),
                to_array(trace.weights(cols=[region])[:, 0]),
                labels,
                marked=look,
            ),
            key=f"{NAME}_region_chart",
            width="content",
            alt="Score and weight of the chosen region at every look",
        )
        whose = "you chose" if f"{NAME}_region" in st.session_state else "look 1 looks at most"
        st.caption(
            f"The region that {whose} (row {row}, column {column}) has one key for all looks. The line is its score, "
            f"the percentages its weight; the uniform weight is {1 / trace.n_keys:.1%}. Click another region on the "
            "large map."
        )


def chosen_region(shown: Shown) -> int:
    """Return the region that was clicked, or the one at which the first look looks most."""
    region = st.session_state.get(f"{NAME}_region")
    trace = shown.reading.trace
    return region if isinstance(region, int) and region < trace.n_keys else int(trace.weights(rows=[0])[0].argmax())


def _take_region() -> None:
    clicked = st.session_state[f"{NAME}_film"]["selection"].get("region")
    if clicked:
        st.session_state[f"{NAME}_region"] = int(clicked[0]["position"])


def _low(number: int) -> str:
    """Return a number as a subscript."""
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(number))
