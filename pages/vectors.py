"""Three vectors, nine pairs: how do inputs interact, and what do Q, K and V add?"""

import streamlit as st

from ui.player import export_bar
from ui.skeleton import Tab, live, page_frame, page_tabs
from ui.take_along import NOTATIONS, take_along
from ui.try_this import TryThis, try_this
from ui.vectors.average import average_section
from ui.vectors.experiments import change_weights, neuron_panel
from ui.vectors.notations import notations_section
from ui.vectors.pairs import PLANE, example_choice, shares_of_nothing, show_pairs, shrink_to_nothing
from ui.vectors.problem import FIRST, NAME, PRESET, STEPS, edited, follow_preset, typed_problem
from ui.vectors.rules import rules
from ui.vectors.steps import chosen_query, step_by_step

NOTHING = TryThis(
    "shrink x1 to nothing",
    "x1 becomes a vector of zeros: all its scores are 0. What does it take from the three?",
    ("Nothing", "A third from each", "All from itself"),
    shrink_to_nothing,
    shares_of_nothing,
    PLANE.place_key,
)


def workbench() -> None:
    """Draw the whole page below its heading; the pairs last, which tells the browser that Python has followed."""
    follow_preset()
    place = PLANE.place()
    example_choice()
    if PRESET.value == FIRST:
        try_this(NAME, NOTHING)
    problem = typed_problem()
    trace = edited(problem)
    page_tabs(
        NAME,
        Tab("steps", "Step by step", lambda: step_by_step(trace), ("cell", "ways", "pixels", "softmax")),
        Tab("try", "Try", lambda: change_weights(problem, trace)),
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


page_frame(NAME, "A weight for every pair of inputs: drag an arrow, and weights in all of the table change.")
live(workbench)
