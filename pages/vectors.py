"""Three vectors, nine pairs: how do inputs interact, and what do Q, K and V add?"""

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.topics.vectors import Problem
from ui.player import export_bar
from ui.skeleton import Tab, live, page_frame, page_tabs
from ui.take_along import NOTATIONS, take_along
from ui.try_this import TryThis, try_this
from ui.vectors.cell import show_cell, show_change
from ui.vectors.experiments import both_ways_panel, hull_panel, neuron_panel, pixels_panel, softmax_panel
from ui.vectors.notations import notations_section
from ui.vectors.pairs import PLANE, example_choice, move_x1, moved_weights, show_pairs
from ui.vectors.problem import BEFORE, NAME, STEPS, attention, follow_preset, last_good, read_problem, remember
from ui.vectors.rules import rules, tell_faults
from ui.vectors.steps import HEAD, chosen_query, chosen_step, step_by_step

MOVE_ONE = TryThis(
    "Move x1, and nothing else",
    "You move x1 alone. How many of the nine weights will change?",
    ("3, its own row", "5, all pairs with x1", "all 9"),
    move_x1,
    moved_weights,
    PLANE.place_key,
)


def workbench() -> None:
    """Draw the whole page below its heading; the pairs last, which tells the browser that Python has followed."""
    follow_preset()
    first = PLANE.place()
    example_choice()
    surprise, told = st.container(), st.container()
    with st.container(key="desk_vectors_rules"):
        rules()
    problem, faults = read_problem()
    if problem is not None:
        remember(problem)
    shown = last_good()
    with surprise:
        try_this(NAME, MOVE_ONE)
    with told:
        tell_faults(faults)
    trace = attention(shown)
    HEAD.clamp_to_options(range(trace.n_heads))
    before = None if BEFORE.value is None else attention(BEFORE.value)
    page_tabs(
        NAME,
        Tab("steps", "Step by step", lambda: step_by_step(shown, trace)),
        Tab("softmax", "Try: the softmax", lambda: softmax_panel(trace, HEAD.value)),
        Tab("pairs", "Pairs and a neuron", lambda: neuron_panel(shown)),
        more=(
            Tab("cell", "One cell and the last edit", lambda: cell(shown, trace, before)),
            Tab("ways", "Both ways", lambda: both_ways_panel(shown, trace, HEAD.value)),
            Tab("pixels", "From three to 784", pixels_panel),
            Tab("average", "A weighted average", lambda: hull_panel(trace, HEAD.value)),
            Tab(NOTATIONS, "In other notations", notations_section),
        ),
        players=(STEPS,),
    )
    take_along(lambda: export_bar(trace, NAME, head=HEAD.value, query=chosen_query(trace)))
    with first:
        show_pairs(shown, trace, before, HEAD.value, old=bool(faults))


def cell(problem: Problem, trace: AttentionTrace, before: AttentionTrace | None) -> None:
    """Draw how the chosen cell of the chosen step came about, and what the last edit changed there."""
    step = chosen_step(trace)
    arithmetic, change = st.columns([1.4, 1], gap="large")
    with arithmetic:
        show_cell(problem, trace, step, HEAD.value)
    with change:
        show_change(before, step, HEAD.value)


page_frame(NAME, "Three inputs make nine pairs. Drag one input: how many of their nine weights change?")
live(workbench)
