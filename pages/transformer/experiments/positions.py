"""How does it know where a word stands? The positions that are added, and what translators lose without them."""

from collections.abc import Mapping

import numpy as np
import streamlit as st

from attention_core.attention.positions import sinusoidal
from attention_core.attention.types import Axis, Role
from attention_core.charts.matrix import matrix_chart
from attention_core.device import to_array
from attention_core.evaluate.translation_figures import committed_costs
from attention_core.evaluate.variants import variants_of
from pages.transformer.charts import distance_chart
from pages.transformer.reading import CONFIG, MODEL
from ui.chart import draw_chart
from ui.computed import card_or_empty
from ui.labels import note
from ui.layout import figures_table

N = 48  # positions that are drawn
ROWS = {
    ("additive", ""): "recurrent with attention",
    ("additive", "recurrence"): "– every piece read alone",
    ("additive", "attention_trained"): "– without attention, trained so",
    ("transformer", ""): "transformer",
    ("transformer", "positions"): "– without positions",
}
TRAINED = {"additive": "translator-additive", "transformer": MODEL, "attention_trained": "translator-none"}
"""Whose card says for how many passes a row was trained."""
FAIRLY, LEARNED_WITHOUT = "– stopped early", "– without positions, trained on so"
ALMOST = 1.0  # BLEU that is hardly worth a word


def draw_input() -> None:
    """Draw nothing: positions are the same for all sentences."""


def _measured() -> dict[tuple[str, str], Mapping[str, float]]:
    """Return the figures of each model, by (model, what is left out)."""
    costs = committed_costs()
    return {(row["model"], row["without"]): row for row in costs["rows"]} if costs else {}


def answer(_: None) -> str:
    """Say what is added, and how much of the BLEU that it loses without positions it learns to win back."""
    added, measured = (
        "A pattern of slow and fast waves is added to its vector; between two, only their distance counts.",
        _measured(),
    )
    card = variants_of("translator").get("unordered")
    if not measured or not card:
        return added
    before, without = (measured["transformer", left_out]["bleu"] for left_out in ("", "positions"))
    learned = card["test"]["bleu"]
    verdict = ": positions were redundant" if before - learned < ALMOST else ", not the rest"
    loses, back = f"{before - without:.0f} BLEU", f"{learned - without:.0f}"
    return f"{added} Without, it loses {loses}; one pass more wins back {back}{verdict}."


def draw(_: None) -> None:
    """Draw the positions, a row for each, beside the dot product of two over their distance; then a table of models."""
    table = sinusoidal(N, CONFIG.d_model)
    positions, dimensions = map(Axis.numbered, ("positions", "dimensions"), table.shape)
    picture = matrix_chart(to_array(table), positions, dimensions, Role.INPUT, title="p", size=270)
    products = distance_chart(np.arange(N) - N // 2, to_array(table @ table[N // 2]), "pᵢ · pⱼ")
    left, right = st.columns(2, gap="large")
    draw_chart(picture, key="transformer_table", width="content", alt="Positions", container=left)
    draw_chart(products, key="transformer_distance", alt="Dot products over distance", container=right)
    if measured := _measured():
        _draw_translators(measured)
    cards = [card_or_empty(f"next-word-{model}") for model in ("causal", "unpositioned")]
    if all(cards):
        added, without = (f"{card['test']['accuracy']:.1%}" for card in cards)
        note(f"Under a mask a small language model needs none: {without} of next words, {added} with them.")


def _draw_translators(measured: Mapping[tuple[str, str], Mapping[str, float]]) -> None:
    """Draw a table of translators with and without order and attention."""

    def row(name: str, passes: str, figures: Mapping[str, float]) -> tuple[str, ...]:
        return name, passes, f"{figures['bleu']:.1f}", f"{figures['bleu_long']:.1f}"

    rows = []
    for variant, name in ROWS.items():
        epochs = card_or_empty(TRAINED.get(variant[1]) or TRAINED[variant[0]]).get("epochs")
        rows.append(row(name, f"{epochs:g}" if epochs else "unknown", measured[variant]))
    if card := variants_of("translator").get("unordered"):
        rows.append(row(LEARNED_WITHOUT, f"{rows[-1][1]} + 1", card["test"]))
    if fair := card_or_empty("translator-additive").get("after_five_epochs"):
        rows.insert(1, row(FAIRLY, "5", fair["test"]))
    figures_table(("", "passes", "BLEU", "12 words and more"), *rows)
