"""What goes deeper: how a word's position is told, order known twice, and what a long sentence costs."""

from collections.abc import Mapping

import numpy as np
import streamlit as st

from attention_core.attention.positions import sinusoidal
from attention_core.attention.types import Axis, Role
from attention_core.charts.matrix import matrix_chart
from attention_core.device import to_array
from attention_core.evaluate.translation_figures import committed_costs
from attention_core.evaluate.variants import variants_of
from pages.transformer import cost
from pages.transformer.charts import cost_chart, distance_chart
from pages.transformer.experiment import CONFIG, MODEL, reduced
from ui.chart import draw_chart
from ui.computed import card_or_empty
from ui.labels import paragraph
from ui.layout import figures_table

N = 48  # positions that are drawn


def position_waves() -> None:
    """Draw the positions that are added, and what is left of them in the dot product of two places."""
    table = sinusoidal(N, CONFIG.d_model)
    positions, dimensions = map(Axis.numbered, ("positions", "dimensions"), table.shape)
    picture = matrix_chart(to_array(table), positions, dimensions, Role.INPUT, title="p", size=270)
    left, right = st.columns(2, gap="large")
    with left:
        paragraph("Each word gets a row of waves added: fast ones left, slower ones right.")
        draw_chart(picture, key="transformer_table", width="content", alt="The positions themselves")
    with right:
        paragraph("Two places compared: only their distance counts.")
        products = distance_chart(np.arange(N) - N // 2, to_array(table @ table[N // 2]), "pᵢ · pⱼ")
        draw_chart(products, key="transformer_distance", alt="Dot products over the distance")


ROWS = {
    ("additive", ""): "GRU with attention",
    ("additive", "recurrence"): "– every piece read alone",
    ("additive", "attention_trained"): "– without attention, trained so",
    ("transformer", ""): "transformer",
    ("transformer", "positions"): "– without positions",
}
TRAINED = {"additive": "translator-additive", "transformer": MODEL, "attention_trained": "translator-none"}
"""Whose card says for how many passes a row was trained."""


def order_twice(text: str | None) -> None:
    """Draw a table of translators with and without order and attention: their BLEU, and the visitor's sentence."""
    costs = committed_costs()
    if not costs:
        st.info("Nothing was measured beforehand.")
        return
    figures_of = {(row["model"], row["without"]): row for row in costs["rows"]}

    def row(name: str, passes: str, figures: Mapping[str, float], french: str = "") -> tuple[str, ...]:
        return name, passes, f"{figures['bleu']:.1f}", f"{figures['bleu_long']:.1f}", french

    text_above = (
        "A GRU's states know the order, and attention follows it. Without the reading in order, or a transformer's "
        "positions, most translations fall apart."
    )
    french, rows = reduced(text) if text else {}, []
    for variant, name in ROWS.items():
        epochs = card_or_empty(TRAINED.get(variant[1]) or TRAINED[variant[0]]).get("epochs")
        rows.append(row(name, f"{epochs:g}" if epochs else "unknown", figures_of[variant], french.get(variant, "")))
    if card := variants_of("translator").get("unordered"):
        rows.append(row(LEARNED_WITHOUT, f"{rows[-1][1]} + 1", card["test"]))
        before, lost = (figures_of["transformer", without]["bleu"] for without in ("", "positions"))
        text_above += _would_do(before, lost, card["test"]["bleu"])
    if fair := card_or_empty("translator-additive").get("after_five_epochs"):
        rows.insert(1, row(FAIRLY, "5", fair["test"]))
    paragraph(text_above)
    figures_table(("", "passes of training", "BLEU", "12 words and more", "your sentence"), *rows)


FAIRLY, LEARNED_WITHOUT = "– trained for five passes only", "– without positions, trained on so for one pass"
ALMOST = 1.0  # BLEU that is hardly worth a word


def _would_do(before: float, without: float, learned: float) -> str:
    """Return a sentence: how much of the BLEU that it lost without positions a transformer learns to win back."""
    verdict = "Positions were redundant" if before - learned < ALMOST else "The rest it did not win back"
    return (
        f"\n\n**Would it learn to do without?** In one pass more it wins back {learned - without:.0f} of the "
        f"{before - without:.0f} BLEU that it lost. {verdict}."
    )


COSTS = ("multiplications", "steps in a row", "longest path", "one word more: multiplications", "numbers kept for it")
CHARTS = {"milliseconds": "Time", "megabytes": "Memory"}


def cost_of_length(n: int) -> None:
    """Count what a sentence of n costs."""
    st.markdown(
        "**The price of attention**: twice the length, four times the pairs. But a loop's n steps wait for each other. "
        "**In use**, one word more costs the loop the same at any n; attention is cheaper below n = 191."
    )
    trained = cost.committed_figures().get("training", {"seconds_of_a_pass": ()})
    figures_table(
        (f"n = {n} pieces, d = 192", "recurrent loop", "self-attention"),
        *zip(COSTS, *cost.layer_costs(n), strict=True),
        ("one word more at n = 1,000", *(figures.next_work for figures in cost.layer_costs(1000))),
        *(
            [f"training on {trained['sentences']:,} sentences of {figures['n']}"]
            + [f"{figures[layer]:.1f} s" for layer in ("recurrent", "attention")]
            for figures in trained["seconds_of_a_pass"]
        ),
    )


def measured_cost() -> None:
    """Draw time and memory over n beside the expected slopes."""
    before = cost.committed_figures()
    if not before:
        st.info("No figures were measured beforehand.")
        return
    for column, (quantity, title) in zip(st.columns(2, gap="large"), CHARTS.items(), strict=True):
        words = f"{title} of one layer over n on log axes, expected slopes dashed"
        draw_chart(cost_chart(before["rows"], quantity), key=f"transformer_{quantity}", alt=words, container=column)
    st.caption(
        "Processor time of one slow core, without attention's projections (4 n d²); fused attention never holds all "
        "pairs. Dashed: expected slopes."
    )
