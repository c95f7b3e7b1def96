"""Three vectors, nine pairs: how do inputs interact, and what do Q, K and V add?"""

import streamlit as st

from pages.vectors import tabs
from pages.vectors.tables import FIRST, NAME, PRESET, STEPS, edited, load_preset, problem_in_tables, rules
from ui.fragments import BODY
from ui.player import export_bar, step_of
from ui.skeleton import Tab, draw_fragment, page_frame, page_tabs
from ui.take_along import NOTATIONS, take_along
from ui.try_this import GUESSING, NOT_TRIED, TRY_STAGE, TryThis, try_this

NOTHING = TryThis(
    "shrink x1 to nothing",
    "x1 becomes a vector of zeros: all its scores are 0. What does it take from the three?",
    ("Nothing", "A third from each", "All from itself"),
    tabs.load_zero_input,
    tabs.zero_input_outcome,
    tabs.PLANE.container_key,
)


def workbench() -> None:
    """Draw the whole page below its heading; the pairs last, which tells the browser that Python has followed."""
    load_preset()
    plane = tabs.PLANE.container()
    tabs.example_choice()
    problem = problem_in_tables()
    if TRY_STAGE[NAME].value not in (NOT_TRIED, GUESSING) and not tabs.has_zero_input(problem):
        TRY_STAGE[NAME].reset()  # its answer is about a vector of zeros
    if PRESET.value == FIRST:
        try_this(NAME, NOTHING)
    trace = edited(problem)
    page_tabs(
        NAME,
        Tab("steps", "Step by step", lambda: tabs.step_by_step(trace)),
        Tab("try", "Try", lambda: tabs.change_weights(problem, trace)),
        Tab("pairs", "Pairs and a neuron", lambda: tabs.neuron_panel(problem)),
        more=(
            Tab("average", "A weighted average", lambda: tabs.average_section(trace)),
            Tab(NOTATIONS, "Other notations", tabs.notations_section),
        ),
        players=(STEPS,),
    )
    with st.container(key="desk_vectors_rules"):
        rules()
    take_along(lambda: export_bar(trace, NAME, query=tabs.chosen_cell(step_of(trace, "weights"))[0]))
    with plane:
        tabs.show_pairs(problem, trace)


page_frame(NAME, "Every pair of inputs has a weight: drag an arrow, and see which of them change.")
draw_fragment(workbench, name=BODY)
