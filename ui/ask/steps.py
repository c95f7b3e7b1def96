"""One look, step by step: the regions' numbers as a picture, the empty key's beside it."""

import numpy as np
import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Step
from attention_core.charts import contact_sheet, overlay, ramp_for
from attention_core.data.questions import Question
from attention_core.device import to_array
from attention_core.explain.guess import KeyPicture
from attention_core.models.scene_question import EMPTY, SceneAnswer
from ui.ask.first_screen import NAME, AskedDrawing, grid_of, shaded_words
from ui.chart import draw_chart
from ui.player import StepLook, Stepper, export_bar, show_step_chart, show_words
from ui.state import Field, single_choice, whole_number

STEPS = Stepper(NAME)
LOOK = Field(NAME, "number", -1, address="look", parse=whole_number)
"""The look that is shown, from 0; at first the last one."""
SHEET = 24  # dimensions of keys and values that are drawn: those that differ most from region to region


def chosen_glimpse(answered: SceneAnswer) -> int:
    places = range(len(answered.looks))
    return LOOK.clamp_to_options(places, places[-1])


def ask_steps(drawing: AskedDrawing, question: Question, answered: SceneAnswer) -> None:
    """Step through one look from the picture to the answer."""
    number = chosen_glimpse(answered)
    names = {place: f"Look {place + 1}" for place in range(len(answered.looks))}
    single_choice("Look", LOOK, names, label_visibility="collapsed")
    if number >= question.n_looks:
        st.caption("This question needs two looks. The third one stays where the second one was.")
    trace = answered.looks[number]
    if step := STEPS.draw(trace, picture=KeyPicture(drawing.seen.shown, grid_of(trace))):
        weights, grid = to_array(trace.weights()[0]), grid_of(trace)
        heaviest, is_alike = int(weights.argmax()), np.allclose(weights, weights[0])
        words, picture = st.columns([0.82, 1], gap="large")
        with words:
            small, hint = st.columns([1, 1.1], vertical_alignment="center")
            with small:
                chart = overlay(drawing.canvas, weights[:-1].reshape(grid), size=104, bar=False)
                draw_chart(chart, width="content", key="ask_small", alt="The drawing with this look's map")
            with hint:
                st.html(f"<p style='margin:0'>{shaded_words(answered.words[number])}</p>")
                largest = f"Largest weight: {trace.story.key_axis.labels[heaviest]}."
                st.caption("The weights are all alike." if is_alike else largest)
            show_words(trace, step, 0, 0)
        with picture:
            _show(trace, step, drawing, grid, None if is_alike else heaviest)


def _show(
    trace: AttentionTrace, step: Step, drawing: AskedDrawing, grid: tuple[int, int], heaviest: int | None
) -> None:
    if step.name == "picture":
        pixels = drawing.seen.shown.repeat(5, 0).repeat(5, 1)
        st.image(pixels, output_format="PNG", alt="The 64 x 64 picture that the model sees")
        return
    n_regions, title = grid[0] * grid[1], step.title.lower().split(":")[0]

    def look(step: Step) -> StepLook | None:
        return None if step.name == "picture" or n_regions + 1 in step.shape else StepLook()

    if look(step):
        show_step_chart(trace, step, 0, look, NAME, stepper=STEPS)
        return
    values = to_array(step.value().float())
    if len(values) == 1:
        labels, columns, size = [f"{EMPTY} {values[0, -1]:.3g}"], 1, 350
        pictures, marked = values[:, :-1], heaviest if heaviest is not None and heaviest < n_regions else None
    else:
        telling = np.sort(np.argsort(-values[:-1].std(0))[:SHEET])
        labels, columns, size = [f"{place}  ∅ {values[-1, place]:+z.1f}" for place in telling], 6, 64
        pictures, marked = values[:-1, telling].T, None
        st.caption(f"The {SHEET} of {values.shape[1]} dimensions that differ most; ∅: the empty key's number.")
    ramp = ramp_for(step.role, pictures[np.isfinite(pictures)], n_regions + 1)
    pictures = pictures.reshape(-1, *grid)
    chart = contact_sheet(pictures, labels, ramp, title=title, columns=columns, size=size, marked=marked)
    words = f"{step.title}: {step.shape[0]} {step.row_axis.name} by {step.shape[1]} {step.col_axis.name}"
    draw_chart(chart, width="content", key=f"ask_{step.name}", alt=words, step=step.name)


def export_look(drawing: AskedDrawing, answered: SceneAnswer) -> None:
    """Offer the chosen look as numbers, and as a page over the drawing."""
    look = answered.looks[chosen_glimpse(answered)]
    export_bar(look, NAME, query=0, picture=drawing.canvas, grid=grid_of(look))
