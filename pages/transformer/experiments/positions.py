"""How does it know where a word stands? The positions that are added, and what is left of them between two places."""

import numpy as np
import streamlit as st

from attention_core.attention.positions import sinusoidal
from attention_core.attention.types import Axis, Role
from attention_core.charts.matrix import matrix_chart
from attention_core.device import to_array
from pages.transformer.charts import distance_chart
from pages.transformer.reading import CONFIG
from ui.chart import draw_chart
from ui.computed import card_or_empty
from ui.labels import note

N = 48  # positions that are drawn


def draw_input() -> None:
    """Draw nothing: positions are the same for all sentences."""


def answer(_: None) -> str:
    """Say what is added."""
    return "A pattern of slow and fast waves is added to its vector. Between two patterns only their distance counts."


def draw(_: None) -> None:
    """Draw the positions, a row for each, beside the dot product of two over their distance."""
    table = sinusoidal(N, CONFIG.d_model)
    positions, dimensions = map(Axis.numbered, ("positions", "dimensions"), table.shape)
    picture = matrix_chart(to_array(table), positions, dimensions, Role.INPUT, title="p", size=270)
    products = distance_chart(np.arange(N) - N // 2, to_array(table @ table[N // 2]), "pᵢ · pⱼ")
    left, right = st.columns(2, gap="large")
    draw_chart(picture, key="transformer_table", width="content", alt="Positions", container=left)
    draw_chart(products, key="transformer_distance", alt="Dot products over distance", container=right)
    if sentence := _describe_beside():
        note(sentence)


def _describe_beside() -> str:
    """Say how small language models do whose positions are added, put beside the words or left out; "" = unknown."""
    cards = [card_or_empty(f"next-word-{model}") for model in ("causal", "beside", "unpositioned")]
    if not all(cards):
        return ""
    added, beside, without = (f"{card['test']['accuracy']:.1%}" for card in cards)
    again = cards[0]["other_seeds"]["1"]["accuracy"]
    return (
        f"Small language models foresee {added} with positions added (another seed: {again:.1%}), {beside} with them "
        f"beside the words, {without} without: no difference shows."
    )
