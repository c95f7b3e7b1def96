"""What if it attended to other words? Weights are changed, and the sentence is judged anew."""

import numpy as np
import streamlit as st

from pages.matter.first_screen import describe_changed_answer
from pages.matter.inputs import EDITS, NAME, Judgement, attention_trace
from pages.matter.inputs import draw_input as draw_sentence
from pages.matter.scene import SIDES, draw_judged_scene
from ui.edits import WeightsRow, draw_outcome, show_weights_difference, weight_editor


def draw_input() -> Judgement:
    """Draw the sentence, and its scene, in which words are cut and weights dragged."""
    judgement = draw_sentence()
    draw_judged_scene(judgement)
    return judgement


def answer(judgement: Judgement) -> str:
    """Say what the visitor's changes did."""
    if not judgement.edits:
        return "Then it may judge otherwise: cut a word, or drag its bar."
    return describe_changed_answer(judgement)


def draw(judgement: Judgement) -> None:
    """Draw the list of changes, the answer as learned and changed, and which weights moved."""
    trace, labels = judgement.trace, judgement.trace.story.key_axis.labels
    left, right = st.columns(2, gap="large")
    with left, st.container(key="desk_matter_weights"):
        weights_row = WeightsRow(EDITS, trace, input_id=judgement.text)
        weight_editor(weights_row, {(key,): label for key, label in enumerate(labels)})
        EDITS.draw(trace)
        show_weights_difference(NAME, attention_trace(judgement.text), trace)
    with right:
        verdicts = judgement.learned_verdict(), judgement.verdict()
        before, after = (np.array([each.positive, 1 - each.positive]) for each in verdicts)
        draw_outcome(SIDES, before, after)
