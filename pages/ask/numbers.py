"""All the numbers of one look, from the picture to the answer."""

import numpy as np
import streamlit as st

from attention_core import Role, Step
from attention_core.data.questions import Question
from attention_core.device import to_array
from attention_core.models.scene_question import SceneAnswer
from pages.ask.first_screen import GLIMPSE, NAME, PadScene, draw_empty_weight, shaded_words
from ui.chart import draw_map
from ui.player import Stepper, StepStyle, export_bar, show_all_numbers
from ui.state import single_choice

EMPTY_KEY = 256  # comes after the 16 x 16 regions
STEPS = Stepper(NAME, first="weights")
MAX_DIMENSIONS = 24  # of keys and values that are drawn: those that differ most from region to region


def chosen_glimpse(question: Question) -> int:
    return GLIMPSE.clamp_to_options(range(question.n_looks), question.n_looks - 1)


def draw_numbers(drawing: PadScene, question: Question, answer: SceneAnswer) -> None:
    """Draw all the numbers of the chosen look."""
    number = chosen_glimpse(question)
    trace, names = answer.looks[number], {index: f"Look {index + 1}" for index in range(question.n_looks)}
    single_choice("Look", GLIMPSE, names, label_visibility="collapsed")
    weights, grid = to_array(trace.weights()[0]), trace.story.key_axis.picture_grid
    dimensions = {}
    for role, vectors in ((Role.KEY, trace.key), (Role.VALUE, trace.value)):
        dimensions[role] = np.sort(np.argsort(-to_array(vectors[0, :EMPTY_KEY].std(0)))[:MAX_DIMENSIONS]).tolist()
    styles = {"picture": StepStyle(over=drawing.scene.rgb), "weights": StepStyle(over=drawing.canvas)}

    def draw_glimpse(_: Step) -> None:
        map_column, words_column = st.columns([1, 1.1], vertical_alignment="center")
        with map_column:
            draw_map(weights[:-1].reshape(grid), drawing.canvas, "ask_small", names[number], size=104)
        with words_column:
            st.html(f"<p style='margin:0'>{shaded_words(answer.words[number])}</p>")
            if np.allclose(weights, weights[0]):
                st.caption("The weights are all alike.")

    def style_of(step: Step) -> StepStyle:
        return styles.get(step.name, StepStyle())._replace(column_indices=dimensions.get(step.role))

    def draw_empty(step: Step) -> None:
        if step.name == "weights":
            draw_empty_weight(trace)
        elif step.role in dimensions:
            n = f"{MAX_DIMENSIONS} of {step.shape[1]}"
            st.caption(f"The {n} dimensions that differ most; ∅: the empty key's number.")

    show_all_numbers(trace, STEPS, NAME, style_of=style_of, above_text=draw_glimpse, below_picture=draw_empty)


def export_glimpse(drawing: PadScene, question: Question, answer: SceneAnswer) -> None:
    """Offer the chosen look as numbers, and as a page over the drawing."""
    export_bar(answer.looks[chosen_glimpse(question)], NAME, query=0, picture=drawing.canvas)
