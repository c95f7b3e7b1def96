"""Three vectors, nine pairs: how do inputs interact, and what do Q, K and V add?"""

import streamlit as st

from ui.player import export_bar
from ui.skeleton import Tab, live, page_frame, page_tabs
from ui.take_along import NOTATIONS, take_along
from ui.try_this import TryThis, try_this
from ui.vectors.average import average_section
from ui.vectors.experiments import neuron_panel, softmax_panel
from ui.vectors.notations import notations_section
from ui.vectors.pairs import PLANE, example_choice, leave_scores, moved_scores, show_pairs
from ui.vectors.problem import NAME, STEPS, attention, follow_preset, typed_problem
from ui.vectors.rules import rules
from ui.vectors.steps import chosen_query, step_by_step

WITHOUT_SOFTMAX = TryThis(
    "move one vector without the softmax",
    "Three inputs, no softmax: x1 moves. How many of the nine scores change?",
    ("3, its own row", "5, all pairs with x1", "all 9"),
    leave_scores,
    moved_scores,
    PLANE.place_key,
)


def workbench() -> None:
    """Draw the whole page below its heading; the pairs last, which tells the browser that Python has followed."""
    follow_preset()
    place = PLANE.place()
    example_choice()
    try_this(NAME, WITHOUT_SOFTMAX)
    problem = typed_problem()
    trace = attention(problem)
    page_tabs(
        NAME,
        Tab("steps", "Step by step", lambda: step_by_step(problem, trace), ("cell", "ways", "pixels")),
        Tab("softmax", "Try", lambda: softmax_panel(trace)),
        Tab("pairs", "Pairs and a neuron", lambda: neuron_panel(problem)),
        more=(
            Tab("average", "A weighted average", lambda: average_section(trace)),
            Tab(NOTATIONS, "In other notations", notations_section),
        ),
        players=(STEPS,),
    )
    with st.container(key="desk_vectors_rules"):
        rules()
    take_along(lambda: export_bar(trace, NAME, query=chosen_query(trace)))
    with place:
        show_pairs(problem, trace)


page_frame(NAME, "Each input takes a share from every one it may see. Drag one arrow, and see how many weights change.")
live(workbench)
