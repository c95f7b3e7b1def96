"""Look after look: the map over the drawing, all maps, what makes the map, the vectors, the steps of one look."""

import streamlit as st

from attention_core.attention.types import Role, Step
from attention_core.charts import contact_sheet, overlay, overlay_strip, probability_bars, ramp_for
from attention_core.device import to_array
from attention_core.models.digit_reader import CLASSES
from attention_core.topics.read import ReadDrawing, column_weights, glimpses_of
from attention_core.topics.read.charts import Strip, columns_chart, region_chart, strips_chart
from ui.chart import click, draw_chart
from ui.digits import ink_image
from ui.layout import section
from ui.player import Stepper, Walk, query_row_expander, show_step_chart, show_words
from ui.read.first_screen import COLUMNS, NAME, maps_of, numbered
from ui.skeleton import paragraph
from ui.state import Field, chart_selection, set_widget, whole_number, widget_value

WALK = Walk(NAME, label="Look")
STEPS = Stepper(NAME, modifier="Shift+")
REGION = Field(NAME, "region", None, address="region", parse=whole_number)
STRIP = Field(NAME, "strip_number", 0)
"""How many strips were mounted: a second click on the same picture counts only on a new one."""
STEP_SIZE = 480
SUBSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
WIDTH = 576  # screen pixels of a drawing with a map over it: as wide as the pad


def present_look(drawing: ReadDrawing) -> int:
    """Return the look at which the film stands, from 0."""
    return WALK.field.clamp(0, len(drawing.labels) - 1)


def look_by_look(drawing: ReadDrawing) -> None:
    """Draw the film of the reading, and the maps of all looks; a click goes to one."""
    look = _film(drawing)
    section("All looks", Role.WEIGHTS)
    labels, key = numbered(drawing.labels), f"read_strip_{STRIP.value}"

    def take_look() -> None:
        for clicked in chart_selection(key, "look"):
            WALK.field.value = int(clicked["number"])
            STRIP.value += 1

    chart = overlay_strip(
        drawing.canvas, maps_of(drawing.reading), labels, size=235, columns=4, chosen=look, select="look"
    )
    words = f"The maps of all {len(labels)} looks over the drawing; click one to go there"
    draw_chart(chart, key=key, on_select=take_look, selection_mode="look", width="content", alt=words)


def another_question(drawing: ReadDrawing) -> None:
    """Draw what shows that the query makes the map: the same regions, scored otherwise at every look."""
    look = _film(drawing)
    trace, labels = drawing.reading.trace, [f"{number}: {label}" for number, label in enumerate(drawing.labels, 1)]
    region = REGION.value
    if region is None or region >= trace.n_keys:
        region = int(trace.weights(rows=[0])[0].argmax())
    row, column = divmod(region, trace.story.key_axis.grid[1])  # type: ignore[index]
    left, right = st.columns(COLUMNS, gap="large")
    with left:
        st.markdown(
            "The features are computed once and never change. The state is the query, and every look has another: so "
            "the same columns of the picture get other weights, and the map moves."
        )
        weights = to_array(column_weights(trace))
        chart = columns_chart(drawing.canvas, weights, labels, size=WIDTH - 64, marked=look, column=column)
        words = f"Weights of {len(labels)} looks over {weights.shape[1]} columns of the picture"
        draw_chart(chart, key="read_columns", width="content", alt=words)
        st.caption(
            "Each row is one look. Weights are added up over the height of the picture. The dashed column holds the "
            "region on the right."
        )
    with right:
        section("One region through all looks", Role.SCORES)
        scores, weights = to_array(trace.scores(cols=[region])[:, 0]), to_array(trace.weights(cols=[region])[:, 0])
        chart = region_chart(scores, weights, labels, marked=look)
        alt = "Score and weight of the chosen region at every look"
        draw_chart(chart, key="read_region_chart", width="content", alt=alt)
        whose = "look 1 looks at most" if REGION.value is None else "you chose"
        st.caption(
            f"The region that {whose} (row {row + 1}, column {column + 1}) has one key for all looks. The line is its "
            f"score, the percentages its weight; the uniform weight is {1 / trace.n_keys:.1%}. Click another region on "
            "the large map."
        )


def vectors(drawing: ReadDrawing) -> None:
    """Draw the state before a look, the glimpse that it brought, and the state after it."""
    look = WALK.draw(drawing.labels)
    states, glimpse = to_array(drawing.reading.states), to_array(drawing.reading.trace.context()[look])
    low, after = (str(number).translate(SUBSCRIPT) for number in (look, look + 1))
    before = "the learned start" if look == 0 else f"the state after look {look}"
    strips = (
        Strip(f"query h{low}: {before}, {states.shape[1]} numbers", states[look], Role.QUERY),
        Strip(f"glimpse c{after}: what it saw, {len(glimpse)} numbers", glimpse, Role.CONTEXT),
        Strip(f"state h{after}: after the look, the next query", states[look + 1], Role.QUERY),
        Strip(f"h{after} − h{low}: what the look changed", states[look + 1] - states[look], Role.INPUT),
    )
    left, right = st.columns(COLUMNS, gap="large")
    with left:
        chart = strips_chart(strips, width=WIDTH)
        words = "The state before the look, its glimpse, the state after it and their difference, a cell per number"
        draw_chart(chart, key="read_vectors", width="content", alt=words)
    with right:
        paragraph(
            "The glimpse is the weighted sum of the regions' features, the only thing the reader gets of the picture. "
            "A gated recurrent unit (GRU) mixes it into the state. The network never sees its own answers. Only its "
            "state remembers what it has read."
        )
        st.caption("Rest the mouse on a cell for its number. All rows share one scale.")


def read_steps(drawing: ReadDrawing) -> None:
    """Draw the stepper, the present step's words and its numbers, at the present look."""
    look, trace = WALK.draw(drawing.labels), drawing.reading.trace
    step = STEPS.draw(trace)
    if STEPS.draw_guess(trace, step, look):
        return
    words, numbers = st.columns([0.9, 1.1], gap="large")
    best = int(trace.weights(rows=[look])[0].argmax())
    with words:
        st.caption(f"Query {look + 1} is the state before look {look + 1}. Shift and the arrow keys step.")
        show_words(trace, step, 0, look, best)
    with numbers:
        _show_step(drawing, step, look, best)
        if step.name in ("scores", "weights"):
            query_row_expander("This look in numbers", NAME, trace, 0, look, 5, "region")


def _film(drawing: ReadDrawing) -> int:
    """Draw the controls, the map of the present look over the drawing, what it read; return the look, from 0."""
    n = len(drawing.labels)

    def scrub() -> None:
        WALK.field.value = widget_value("read_scrub") - 1

    film, answer = st.columns(COLUMNS, gap="large")
    with film:
        look = WALK.draw(drawing.labels)
        if n > 1:
            set_widget("read_scrub", look + 1)
            words = "Scrub through the looks"
            st.slider(words, 1, n, key="read_scrub", on_change=scrub, label_visibility="collapsed")
        draw_chart(
            overlay(drawing.canvas, maps_of(drawing.reading)[look], size=WIDTH, select="region", marked=REGION.value),
            **click("read_film", "region", "position", REGION),
            width="content",
            alt=f"Where look {look + 1} of {n} goes, over the drawing; click a region to follow it",
        )
    with answer:
        section(f"Look {look + 1} says", Role.OUTPUT)
        row = to_array(drawing.reading.probabilities[look])
        chart = probability_bars({f"look {look + 1}": row}, list(CLASSES), height=150, legend=False)
        draw_chart(chart, key="read_said", alt=f"Probabilities of the ten digits and the end after look {look + 1}")
        paragraph(_words_of_look(drawing, look))
    return look


def _words_of_look(drawing: ReadDrawing, look: int) -> str:
    looks, label = glimpses_of(drawing.reading.trace, drawing.picture), drawing.labels[look]
    now = looks[look]
    where = (
        f"centre at {now.centre:.0%} of the width, {now.on_ink:.0%} of the weight on ink, spread as over "
        f"{2**now.spread:.0f} regions (entropy {now.spread:.1f} bits)"
    )
    if label != "end":
        return f"The map says where **{label}** was read: {where}."
    others = looks[:look]
    if not others:
        return f"It stops at once. The map: {where}."
    spread = sum(other.spread for other in others) / len(others)
    wider = "wider" if now.spread > spread else "narrower"
    return (
        f"**The end**: nothing tells it how many digits there are. The map of the last look is {wider} than the others "
        f"({now.spread:.1f} against {spread:.1f} bits on average): {where}. What it finds there says stop."
    )


def _show_step(drawing: ReadDrawing, step: Step, look: int, best: int) -> None:
    trace = drawing.reading.trace
    if step.name == "picture":
        ink_image(drawing.picture, 2 * drawing.picture.shape[1], "The 48 x 192 picture that the reader sees")
    elif step.col_axis is trace.story.key_axis:
        maps = to_array(step.value()).reshape(-1, *step.col_axis.grid)  # type: ignore[misc]
        ramp, words = ramp_for(step.role, maps, trace.n_keys), f"{step.title} of every look"
        chart = contact_sheet(
            maps,
            numbered(drawing.labels),
            ramp,
            title=step.title.lower(),
            columns=2,
            size=STEP_SIZE // 2 - 8,
            marked=best,
        )
        draw_chart(chart, width="content", key=f"read_{step.name}_maps", alt=words, step=step.name)
    else:
        show_step_chart(step, 0, best if step.row_axis.grid else look, NAME, size=STEP_SIZE)
