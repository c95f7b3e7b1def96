"""Three vectors, nine pairs: how do inputs interact, and what do Q, K and V add?"""

from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Step
from attention_core.topics.vectors import PIXELS, Mode, Problem, trace_of
from ui.export import export_bar
from ui.layout import section, who_asks
from ui.navigation import through_app
from ui.skeleton import page_frame
from ui.stepper import is_hidden, play_interval, stepper
from ui.vectors.input import (
    MODES,
    drawn_mask,
    notes,
    parameter_tables,
    preset_choice,
    settings_input,
    tables_input,
    tell_faults,
    toolbar,
)
from ui.vectors.panels import both_ways_panel, hull_panel, pairs_panel, softmax_panel
from ui.vectors.pixels import digit_pixels
from ui.vectors.state import NAME, change_mode, last_before, last_good, memory, read_problem, remember
from ui.vectors.steps import (
    cell_pickers,
    choose_head,
    chosen_query,
    show_cell,
    show_change,
    show_step_matrix,
    show_step_words,
)

through_app()
page_frame(NAME, "How do inputs interact, and what do queries, keys and values add? Change any number and follow it.")


class View(NamedTuple):
    """What is on show: the input, its trace, the trace before the last edit, the step and the head."""

    problem: Problem
    trace: AttentionTrace
    before: AttentionTrace | None
    step: Step
    head: int


WHO = {
    Mode.SELF: ("each row of X", "every row of X", "the same rows, through W_V"),
    Mode.CROSS: ("each row of X", "every row of Y", "the rows of Y, through W_V"),
    Mode.DIRECT: ("each row of Q", "every row of K", "the row of V beside it"),
}


def inputs(large: bool) -> None:
    """Draw everything that can be changed."""
    st.segmented_control(
        "What is given",
        list(MODES),
        format_func=MODES.get,
        key=f"{NAME}_mode",
        required=True,
        on_change=change_mode,
        label_visibility="collapsed",
        persist_state="session",
    )
    toolbar()
    notes()
    slots = tables_input(large)
    problem, _ = read_problem()
    slots |= parameter_tables(problem, large)
    if problem is not None:
        drawn_mask(problem)
    messages = st.container()
    _, faults = read_problem()
    tell_faults(faults, slots, messages)


def shown_problem() -> tuple[Problem | None, Problem | None]:
    """Return the problem to show and the one before the last edit, or None for either."""
    problem, _ = read_problem()
    if problem is not None:
        return problem, remember(problem)
    problem = last_good()
    if problem is None:
        st.info("Put the tables right, and the steps appear here.")
    else:
        st.caption("Shown: the last input that could be computed. What you typed is kept.")
    return problem, last_before()


def explore(problem: Problem, previous: Problem | None, large: bool, change_place: DeltaGenerator) -> View | None:
    """Draw the stepper and the chosen step; return what the panels below need, or None while it is to be guessed."""
    trace = trace_of(problem)
    before = trace_of(previous) if previous is not None else None
    step = stepper(trace, NAME, first="scores")
    head = choose_head(trace.n_heads)
    if trace.blind_queries:
        names = ", ".join(trace.story.query_axis.labels[one] for one in trace.blind_queries)
        st.warning(
            f"{names} may see no key: no softmax is possible, so the weights and the context are zeros, not NaN."
        )
    if is_hidden(step, NAME):
        return None
    words, picture = (st.container(), st.container()) if large else st.columns([0.8, 1], gap="medium")
    with words:
        show_step_words(step, with_code=not large)
    with picture:
        show_step_matrix(problem, trace, step, head, large)
    cell_pickers(step)
    show_cell(problem, trace, step, head)
    with change_place:
        show_change(before, trace, step, head)
    return View(problem, trace, before, step, head)


def panels(view: View) -> None:
    """Draw what belongs to this step only, and the foot of the page."""
    problem, trace, before, step, head = view
    st.divider()
    if step.name == "weights":
        softmax_panel(trace, step, head)
    elif step.name in ("scores", "scaled"):
        both_ways_panel(problem, trace, step, head)
    elif step.name == "context":
        hull_panel(trace, step, head)
    if step.name in ("inputs", "scores", "scaled", "weights"):
        pairs_panel(problem, trace, before, head)
    if memory().get("preset") == PIXELS:
        pixels_link()
    export_bar(trace, NAME, head=head, query=chosen_query(trace))


def pixels_link() -> None:
    """Hand the three inputs over to the digit page."""
    section("From three to 784")
    positions = digit_pixels().positions
    for place, position in enumerate(positions):
        st.page_link(
            "pages/pixels.py",
            label=f"x{place + 1} is pixel {position} (row {position // 28}, column {position % 28}): see whom it "
            "looks at among all 784",
            query_params={"pixel": str(position), "step": "weights"},
            icon=":material/arrow_forward:",
        )


def workbench() -> None:
    """Draw the whole page below its heading."""
    who_asks(*WHO[Mode(memory()["mode"])])
    preset_choice()
    settings_input()
    large = st.session_state[f"{NAME}_large"]
    left, right = st.columns([1, 1.2] if large else [0.62, 1], gap="large")
    with left:
        inputs(large)
        change_place = st.container()
    with right:
        problem, previous = shown_problem()
        view = None if problem is None else explore(problem, previous, large, change_place)
    if view is not None:
        panels(view)


memory()
st.fragment(workbench, run_every=play_interval(NAME))()
