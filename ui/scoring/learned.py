"""Learned scores: the network inside one of them, and how often they are right."""

from collections.abc import Mapping

import streamlit as st
from torch import Tensor

from attention_core.attention.scores import Additive, parameter_names
from attention_core.topics.scoring.charts import network_chart
from attention_core.weights import read_card
from ui.chart import draw_chart
from ui.glossary import paragraph
from ui.layout import figures_table
from ui.scoring.controls import ACTIVE, PLANE, key_name
from ui.state import single_choice

PLAIN_NAME = "vᵀtanh(q + k), v all ones"


def learned_section(query: Tensor, key: Tensor, trained: Mapping[str, Tensor]) -> None:
    """Draw the network that scores one key, beside how often learned scores are right; query (d,), key (n_keys, d)."""
    (d,), n_keys = query.shape, len(key)
    learned = Additive(*(trained[name] for name in Additive.parameter_names()))
    scores = {"additive, learned": learned, PLAIN_NAME: Additive(**Additive.plain_parameters(d, d, n_keys))}
    picture, words = st.columns([1, 1], gap="large")
    with picture:
        place = single_choice("Key", ACTIVE, dict(enumerate(map(key_name, range(n_keys)))), on_change=PLANE.refresh)
        chart = network_chart(learned, query, key[place], key_name(place))
        alt = f"The network that makes one score of the query and {key_name(place)}"
        draw_chart(chart, key="scoring_network", width="content", alt=alt)
        st.caption("Lines are weights, W_q, W_k and then v: orange above 0, blue below; the wider, the larger.")
    with words:
        paragraph(
            "**A small network makes the score**, $v^{\\top}\\tanh(W_q q + W_k k)$: each unit weighs all numbers of "
            "query and key and bends their sum by a tanh; v weighs the units."
        )
        weights = {name: score(query[None], key).softmax(-1)[0].tolist() for name, score in scores.items()}
        head = ["weights by", *map(key_name, range(n_keys))]
        figures_table(head, *([name, *(f"{weight:.0%}" for weight in row)] for name, row in weights.items()))
        st.caption("With $W_q = W_k = I$ and ones in v it prefers keys of large numbers, not keys that are near.")
        accuracy = read_card("scoring-functions")["accuracy_by_d"][str(d)]
        kinds = dict.fromkeys(name.split(".")[0] for name in parameter_names())
        named = ", ".join(f"{name} {share:.0%}" for name, share in accuracy.items() if name in kinds)
        paragraph(f"Four scores were trained to find the nearest of six keys. Right: {named}; chance: 17%.")
