"""What if one weight were another? A weight of one score is set, and the context is summed anew."""

import streamlit as st

from pages.scoring.controls import EDITS, NAME, SCORE
from pages.scoring.inputs import Comparison, draw_comparison
from ui.edits import WeightsRow, matrix_editor, show_contexts, show_weights_difference


def draw_input() -> Comparison:
    """Draw the plane, the examples, and the score whose weights are changed; return the comparison."""
    compared = draw_comparison()
    with st.container(key="desk_scoring_choice"):
        SCORE.widget(st.selectbox, "Score", list(compared.traces), width=190)
    return compared


def answer(compared: Comparison) -> str:
    """Say what a new weight changes."""
    return "The other weights share what is left, and the context follows."


def draw(compared: Comparison) -> None:
    """Draw the weights, which can be set, and the context of the query before and after."""
    trace = compared.traces[SCORE.value]
    with st.container(key="desk_scoring_editor"):  # a hall changes weights in the scene
        left, right = st.columns(2, gap="large")
    with left:
        row = WeightsRow(EDITS, trace, attention=SCORE.value, prefix=f"{SCORE.value}: ")
        matrix_editor(row, lambda query: None)
    with right:
        unedited = compared.unedited[SCORE.value]
        show_contexts(unedited, trace, 0)
        show_weights_difference(NAME, unedited, trace)
    compared.draw_plane()
