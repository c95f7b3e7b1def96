"""Look after look: the map over the drawing, what makes the map, the steps of one look."""

import streamlit as st

from attention_core.attention.types import Role, Step
from attention_core.charts import contact_sheet, overlay, probability_bars, ramp_for
from attention_core.device import to_array
from attention_core.explain.guess import KeyPicture
from attention_core.models.digit_reader import CLASSES
from attention_core.topics.read import ReadDrawing
from attention_core.topics.read.charts import region_chart
from ui.chart import click, draw_chart
from ui.digits import ink_image, inked
from ui.layout import section
from ui.player import StepLook, Stepper, Walk, show_step_chart, show_words
from ui.read.answer import figures
from ui.read.first_screen import COLUMNS, NAME, maps_of, numbered
from ui.state import Field, whole_number

WALK = Walk(NAME, label="Look")
STEPS = Stepper(NAME, modifier="Shift+")
REGION = Field(NAME, "region", None, address="region", parse=whole_number)
STEP_SIZE = 480
WIDTH = 576  # screen pixels of a drawing with a map over it: as wide as the pad


def present_look(drawing: ReadDrawing) -> int:
    """Return the look at which the film stands, from 0."""
    return WALK.field.clamp(0, len(drawing.labels) - 1)


def look_by_look(drawing: ReadDrawing) -> None:
    """Draw the present look: its map over the drawing, and what it says."""
    look = WALK.draw(drawing.labels)
    film, answer = st.columns(COLUMNS, gap="large")
    with film:
        chart = overlay(drawing.canvas, maps_of(drawing.reading)[look], size=WIDTH)
        with st.container(key="read_film"):
            draw_chart(chart, width="content", alt="Where the chosen look goes, over the drawing")
        st.markdown(_words_of_look(drawing.labels[look]))
        figures()
    with answer:
        section(f"Look {look + 1} says", Role.OUTPUT)
        row = to_array(drawing.reading.probabilities[look])
        chart = probability_bars({"the chosen look": row}, list(CLASSES), height=150, legend=False)
        draw_chart(chart, key="read_said", alt="What the chosen look says")


def _words_of_look(label: str) -> str:
    if label == "end":
        return "**The end**: nothing tells it how many digits there are."
    return f"The map says where **{label}** was read, not why. Withholding the glimpse (*Try*) is the stronger test."


def another_question(drawing: ReadDrawing) -> None:
    """Draw what shows that the query makes the map: the same region, scored otherwise at every look."""
    look = WALK.draw(drawing.labels)
    trace, labels = drawing.reading.trace, [f"{number}: {label}" for number, label in enumerate(drawing.labels, 1)]
    region = REGION.value
    if region is None or region >= trace.n_keys:
        region = int(trace.weights(rows=[0])[0].argmax())
    row, column = divmod(region, trace.story.key_axis.grid[1])  # type: ignore[index]
    left, right = st.columns(COLUMNS, gap="large")
    with left:
        here = maps_of(drawing.reading)[look]
        draw_chart(
            overlay(drawing.canvas, here, size=WIDTH, select="region", marked=region),
            **click("read_regions", "region", "position", REGION),
            width="content",
            alt="Where the chosen look goes, over the drawing; click a region to follow it",
        )
        st.markdown(
            "The picture stays; the network's state is the question, another at every look. It is not shown its own "
            "answers."
        )
    with right:
        section("One region through all looks", Role.SCORES)
        scores, weights = to_array(trace.scores(cols=[region])[:, 0]), to_array(trace.weights(cols=[region])[:, 0])
        alt = "Score and weight of the chosen region at every look"
        chart = region_chart(scores, weights, labels, marked=look)
        draw_chart(chart, key="read_region_chart", width="content", alt=alt)
        st.caption(f"The framed region (row {row + 1}, column {column + 1}): its score, and its weight in per cent.")


def read_steps(drawing: ReadDrawing) -> None:
    """Draw the stepper, the present step's words and its numbers, at the present look."""
    look, trace = WALK.draw(drawing.labels), drawing.reading.trace
    keys = KeyPicture(inked(drawing.picture), trace.story.key_axis.grid)  # type: ignore[arg-type]
    if not (step := STEPS.draw(trace, look, picture=keys)):
        return
    words, numbers = st.columns([0.9, 1.1], gap="large")
    best = int(trace.weights(rows=[look])[0].argmax())
    with words:
        show_words(trace, step, 0, look)
    with numbers:
        _show_step(drawing, step, look, best)


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

        def drawn(step: Step) -> StepLook | None:
            has_maps = step.name == "picture" or step.col_axis is trace.story.key_axis
            return None if has_maps else StepLook(best if step.row_axis.grid else look, size=STEP_SIZE)

        show_step_chart(trace, step, 0, drawn, NAME, stepper=STEPS)
