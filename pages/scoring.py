"""What a score measures: eight ways to compare a query with a key."""

import streamlit as st
import torch

from attention_core.attention.scores import all_scores
from attention_core.topics.scoring.compare import compare, comparison_frame
from ui.computed import model_or_stop
from ui.layout import attention_roles
from ui.player import download_table, export_bar
from ui.scoring.comparison import TAKEN, fields_tab, printed_tab, scale_tab, side_by_side, verdict
from ui.scoring.controls import (
    ACTIVE,
    CHANGED,
    NAME,
    TYPING,
    arranged_vectors,
    changed_functions,
    controls,
    cosines,
    parameters_in_use,
    parameters_tab,
    vector_plane,
    vector_table,
)
from ui.skeleton import Tab, live, page_frame, page_tabs
from ui.state import single_choice

page_frame(
    NAME, "There are many ways to compare a query with a key. What does each one reward? Drag the arrows and see."
)
attention_roles(
    "the blue arrow",
    "each orange arrow",
    "what lies behind the key",
    here="Here the blue arrow asks the orange ones: how alike are we?",
    try_this="Press <i>One long key</i>: the dot product prefers the long k₂, though k₁ is nearer.",
)
model = model_or_stop("scoring-functions")


def take_along(traces: dict) -> None:
    """Offer the numbers of all functions as a table, and those of a chosen one in every form."""
    download_table("Scores and weights of all", lambda: comparison_frame(traces), f"{NAME}-scores.csv", "scoring_csv")
    name = single_choice("One function alone", TAKEN, list(traces), wrap=True)
    export_bar(traces[name], NAME, query=0, about=name)


def comparison() -> None:
    """Draw everything that follows a drag; the plane is drawn last because it counts that as the answer."""
    vectors = arranged_vectors()
    controls(vectors)
    d, changed = vectors.d, CHANGED.value
    query = torch.tensor(vectors.query, dtype=torch.float64)
    key = torch.tensor(vectors.keys, dtype=torch.float64)
    parameters = parameters_in_use(d, model.parameters_of(d))
    functions = all_scores(parameters)
    traces = compare(functions, query[None], key)
    left, right = st.columns([0.82, 1], gap="large")
    with right:
        side_by_side(traces, ACTIVE.value)
        verdict(traces, query, key)
    with left:
        place = st.container()
        if d == 2:
            numbers = st.expander("Type the numbers", key=TYPING.key, on_change="rerun")
            if numbers.open:
                with numbers:
                    vector_table(vectors)
        else:
            vector_table(vectors)
            cosines(vectors)
    page_tabs(
        NAME,
        Tab("field", "Score fields", lambda: fields_tab(functions, query, key, changed_functions(d))),
        Tab("printed", "A formula that cannot attend", lambda: printed_tab(query, key)),
        Tab("parameters", "The parameters", lambda: parameters_tab(d, parameters, changed)),
        Tab("scale", "Why divide by √dₖ", scale_tab),
        Tab("take", "Take it along", lambda: take_along(traces)),
    )
    if d == 2:
        with place:
            vector_plane(vectors)


live(comparison)
