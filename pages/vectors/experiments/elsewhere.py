"""What if one weight were another? A weight is set, and the context is summed anew."""

import streamlit as st

from pages.vectors.inputs import SOFTMAX_IS_OFF, Workbench, draw_workbench
from pages.vectors.tables import CELL, EDITS, NAME, attention, describe_rows
from ui.edits import WeightsRow, matrix_editor, show_contexts, show_weights_difference


def draw_input() -> Workbench:
    """Draw the example and its arrows; return the problem."""
    return draw_workbench()


def answer(bench: Workbench) -> str:
    """Say what a new weight changes."""
    if not bench.trace.has_softmax:
        return SOFTMAX_IS_OFF
    return "The other weights share what is left, and the context follows."


def draw(bench: Workbench) -> None:
    """Draw the weights, which can be set, and the context of the chosen query before and after."""
    unedited, trace, query = attention(bench.problem), bench.trace, bench.query

    def choose(row: int) -> None:
        CELL.value |= {"query": row}

    with st.container(key="desk_vectors_editor"):  # a hall changes weights in the scene
        if trace.has_softmax:
            left, right = st.columns(2, gap="large")
            with left:
                row = WeightsRow(EDITS, trace, [query], input_id=describe_rows(bench.problem), prefix="row ")
                matrix_editor(row, choose)
            with right:
                show_contexts(unedited, trace, query)
                show_weights_difference(NAME, unedited, trace)
        else:
            EDITS.draw(trace)
    bench.draw_pairs()
