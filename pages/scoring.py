"""What a score measures: eight ways to compare a query with a key."""

import streamlit as st
import torch

from attention_core.attention.scores import all_scores
from attention_core.topics.scoring.compare import compare
from attention_core.weights import read_card
from ui.layout import section, who_asks
from ui.models import model_or_stop
from ui.scoring import state as kept
from ui.scoring.controls import controls, parameter_table, vector_table
from ui.scoring.parts import cosines, export, fields, printed_section, side_by_side, verdict
from ui.scoring.scale import scale_section
from ui.scoring.state import NAME
from ui.scoring.vector_plane import vector_plane
from ui.skeleton import page_frame

page_frame(
    NAME, "There are many ways to compare a query with a key. What does each one reward? Drag the arrows and see."
)
who_asks("the blue arrow", "each orange arrow", "what lies behind the key")
kept.begin()
model = model_or_stop("scoring-functions")


@st.fragment
def explore() -> None:
    """Everything that follows a drag; the plane is drawn last because it counts that as the answer."""
    state = st.session_state
    d = controls()
    query_numbers, key_numbers = kept.vectors(d)
    query = torch.tensor(query_numbers, dtype=torch.float64)
    key = torch.tensor(key_numbers, dtype=torch.float64)
    parameters = kept.parameters(d, model.parameters_of(d))
    functions = all_scores(parameters)
    traces = compare(functions, query[None], key)
    plane, comparison = st.columns([0.82, 1], gap="large")
    with comparison:
        side_by_side(traces, state[f"{NAME}_active"])
        verdict(traces, query, key)
    with plane:
        place = st.container()
        if d != 2:
            vector_table(d)
            st.markdown("The cosine of every pair: 1 = same direction, 0 = at right angles, −1 = opposite.")
            cosines(query, key)
        else:
            numbers = st.expander("Type the numbers", key=f"{NAME}_typing", on_change="rerun")
            if numbers.open:
                with numbers:
                    vector_table(d)
    section("The field: what would a key score there?")
    if d == 2:
        shared = st.toggle("One colour scale for all", key=f"{NAME}_shared", persist_state="session")
        fields(functions, query, key, kept.changed_functions(d), shared)
    else:
        st.info("A field needs a plane: choose 2 numbers per vector.")
    section("A formula that cannot attend")
    printed_section(torch.tensor([1.0, -0.5] * d, dtype=torch.float64), query, key)
    section("The parameters")
    accuracy = read_card("scoring-functions")["accuracy_by_d"][str(d)]
    st.markdown(
        "W, W_q, W_k and v were trained on one small task: *six keys; the nearer a key is to the query, the more "
        "weight.* How often each function gives the nearest key most, in 10,000 new tasks: "
        + ", ".join(f"{name} {share:.0%}" for name, share in accuracy.items())
        + ". Chance is 17 %."
    )
    st.caption(
        "In training the last number of a vector was never negative. Without a bias a tanh network is odd, "
        "f(−q, −k) = −f(q, k), while near stays near under a change of sign: on the whole plane it could match nothing."
    )
    table = st.expander("See and edit them", key=f"{NAME}_editing", on_change="rerun")
    if table.open:
        with table:
            parameter_table(d, parameters)
    export(traces)
    if not state[f"{NAME}_moving"]:
        kept.write_link(d)
    if d == 2:
        with place:
            vector_plane(
                NAME,
                query_numbers,
                key_numbers,
                revision=state[f"{NAME}_revision"],
                answered=state[f"{NAME}_answered"],
                active=state[f"{NAME}_active"],
                scale=2**-0.5,
                on_move=kept.take_plane,
            )


explore()
st.divider()
scale_section(NAME)
