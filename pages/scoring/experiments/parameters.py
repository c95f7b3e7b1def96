"""Can a score be learned? The small network that scores one key, and how often learned scores are right."""

import streamlit as st

from attention_core.attention.scores import Additive, parameter_names
from attention_core.attention.wording import percent
from attention_core.weights import read_card
from pages.scoring import inputs
from pages.scoring.charts import network_chart
from pages.scoring.controls import ACTIVE, PLANE
from pages.scoring.inputs import Comparison
from ui.chart import draw_chart
from ui.layout import figures_table
from ui.state import single_choice

PLAIN_NAME = "vᵀtanh(q + k), v all ones"


def draw_input() -> Comparison:
    """Draw the plane, the examples, and the key that is scored; return the comparison."""
    compared = inputs.draw_input()
    single_choice("Key", ACTIVE, dict(enumerate(compared.key_names)), on_change=PLANE.refresh)
    return compared


def answer(compared: Comparison) -> str:
    """Say how often the learned scores are right."""
    accuracy = read_card("scoring-functions")["accuracy_by_d"][str(compared.vectors.d)]
    learned = dict.fromkeys(name.split(".")[0] for name in parameter_names())
    figures = ", ".join(f"{name} {percent(share)}" for name, share in accuracy.items() if name in learned)
    return f"Yes: trained to find the nearest of six keys, right: {figures}; chance: 17%."


def draw(compared: Comparison) -> None:
    """Draw the network of the additive score, and its weights beside those without learned numbers."""
    name, (d,) = compared.key_names[ACTIVE.value], compared.query.shape
    learned = Additive(*(compared.trained[parameter] for parameter in Additive.parameter_names()))
    plain = Additive(**Additive.plain_parameters(d, d, len(compared.key)))
    picture, text_column = st.columns([1, 1], gap="large")
    with picture:
        chart = network_chart(learned, compared.query, compared.key[ACTIVE.value], name)
        alt = f"The network that scores {name}"
        draw_chart(chart, key="scoring_network", width="content", alt=alt)
        st.caption("Weights: orange above 0, blue below.")
    with text_column:
        st.latex(r"v^{\top}\tanh(W_q q + W_k k)")
        scores = {"additive, learned": learned, PLAIN_NAME: plain}.items()
        weights = {name: score(compared.query[None], compared.key).softmax(-1)[0].tolist() for name, score in scores}
        rows = ([name, *map(percent, row)] for name, row in weights.items())
        figures_table(["weights by", *compared.key_names], *rows)
        st.caption("Unlearned, it prefers large numbers, not near keys.")
    compared.draw_plane()
