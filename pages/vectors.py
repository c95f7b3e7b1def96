"""Three vectors, nine pairs: how do inputs interact, and what do Q, K and V add?"""

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Step
from attention_core.topics.vectors import Mode, Problem
from attention_core.topics.vectors.presets import PIXELS
from ui.layout import attention_roles, end_here
from ui.player import export_bar
from ui.skeleton import Tab, live, page_frame, page_tabs
from ui.vectors.problem import (
    BEFORE,
    CELL,
    GOOD,
    MODE,
    NAME,
    PRESET,
    STEPS,
    attention,
    follow_preset,
    preset_choice,
    problem_input,
    remember,
    settings_input,
    three_pixels,
)
from ui.vectors.steps import (
    both_ways_panel,
    choose_head,
    has_both_ways,
    has_pairs,
    hull_panel,
    pairs_panel,
    show_cell,
    show_change,
    show_step,
    softmax_panel,
)

WHO = {
    Mode.SELF: ("each row of X", "every row of X", "the same rows, through W_V"),
    Mode.CROSS: ("each row of X", "every row of Y", "the rows of Y, through W_V"),
    Mode.DIRECT: ("each row of Q", "every row of K", "the row of V beside it"),
}


def workbench() -> None:
    """Draw the whole page below its heading; a beat of the stepper runs it again."""
    follow_preset()
    attention_roles(
        *WHO[Mode(MODE.value)],
        here="Here every row asks every row: you can follow each number.",
        try_this="Choose the example <i>One huge key</i>: two of three queries give it all their attention.",
    )
    preset_choice()
    settings_input()
    left, right = st.columns([0.62, 1], gap="large")
    with left:
        problem = problem_input()
    with right:
        if problem is not None:
            remember(problem)
        elif (problem := GOOD.value) is not None:
            st.caption("Shown: the last input that could be computed. What you typed is kept.")
        else:
            st.info("Put the tables right, and the steps appear here.")
            end_here()
        trace = attention(problem)
        step = STEPS.draw(trace)
        head = choose_head(trace.n_heads)
        if trace.blind_queries:
            names = ", ".join(trace.story.query_axis.labels[query] for query in trace.blind_queries)
            st.warning(
                f"{names} may see no key: there is nothing to weigh, so the weights and the context are zeros, not NaN."
            )
        if STEPS.draw_guess(trace, step, chosen_query(trace), head):
            end_here()
        show_step(problem, trace, step, head)
    before = None if BEFORE.value is None else attention(BEFORE.value)
    is_soft, query = problem.settings.softmax, chosen_query(trace)
    tabs = (
        (True, Tab("cell", "One cell and the last edit", lambda: cell(problem, trace, before, step, head))),
        (has_both_ways(problem, trace), Tab("ways", "Both ways", lambda: both_ways_panel(problem, trace, step, head))),
        (has_pairs(problem), Tab("pairs", "Pairs and a neuron", lambda: pairs_panel(problem, trace, before, head))),
        (PRESET.value == PIXELS, Tab("pixels", "From three to 784", pixel_links)),
        (is_soft, Tab("softmax", "Try: the softmax", lambda: softmax_panel(trace, head))),
        (is_soft, Tab("average", "A weighted average", lambda: hull_panel(trace, head))),
        (True, Tab("take", "Take it along", lambda: export_bar(trace, NAME, head=head, query=query))),
    )
    page_tabs(NAME, *(tab for is_there, tab in tabs if is_there))


def cell(problem: Problem, trace: AttentionTrace, before: AttentionTrace | None, step: Step, head: int) -> None:
    """Draw how the chosen cell came about, and what the last edit changed."""
    arithmetic, change = st.columns([1.4, 1], gap="large")
    with arithmetic:
        show_cell(problem, trace, step, head)
    with change:
        show_change(before, step, head)


def chosen_query(trace: AttentionTrace) -> int:
    return min(CELL.value["query"], trace.n_queries - 1)


def pixel_links() -> None:
    """Hand the three inputs over to the digit page."""
    for place, position in enumerate(three_pixels()[1]):
        st.page_link(
            "pages/pixels.py",
            label=f"x{place + 1} is pixel {position + 1} (row {position // 28 + 1}, column {position % 28 + 1}): see "
            "whom it looks at among all 784",
            query_params={"pixel": str(position), "step": "weights"},
            icon=":material/arrow_forward:",
        )


page_frame(NAME, "How do inputs interact, and what do queries, keys and values add? Change any number and follow it.")
live(workbench, players=(STEPS,))
