"""Where does each head look? The weights of all heads of the chosen kind, and one of them large."""

from itertools import product
from typing import Any

import streamlit as st

from attention_core import AttentionTrace
from attention_core.charts.heads import heads_chart, mosaic
from attention_core.explain.heads import describe_head, summaries
from pages.transformer import reading as page
from pages.transformer.inputs import QUERY, ChosenHead, draw_choice, draw_reading
from ui.chart import clickable, draw_chart
from ui.player import StepStyle, show_step_picture, step_of


def draw_input() -> ChosenHead:
    """Draw the sentence, and the choice of a head."""
    return draw_choice(draw_reading())


def answer(chosen: ChosenHead) -> str:
    """Say what the chosen head mostly does."""
    number = f"Layer {chosen.head.layer + 1}, head {chosen.head.head + 1}"
    return f"Each has its habit. **{number}**: {chosen.habit}."


def draw(chosen: ChosenHead) -> None:
    """Draw the weights of all heads, of which a click chooses one, and the chosen head large."""
    head = chosen.head
    layers = [page.traces(chosen.reading)[head.kind, layer] for layer in range(page.CONFIG.n_layers)]
    habits = [[describe_head(summary) for summary in layer] for layer in summaries(layers, chosen.ignored_keys)]
    mosaic_column, head_column = st.columns([1.1, 1], gap="medium")
    with mosaic_column:
        _draw_mosaic(layers, head, habits)
    with head_column:
        weights, name = step_of(chosen.trace, "weights"), f"transformer_{head.kind}"
        style = StepStyle(chosen.query)
        show_step_picture(chosen.trace, weights, head.head, style, name, on_choose=lambda row, _: QUERY.set(row))


def _draw_mosaic(layers: list[AttentionTrace], head: page.TransformerHead, habits: list[list[str]]) -> None:
    def on_click(cell: dict[str, Any]) -> None:
        page.CHOSEN.value = head._replace(layer=int(cell["layer"]), head=int(cell["head"]))

    indices = product(range(page.CONFIG.n_layers), range(page.CONFIG.n_heads))
    heads = [page.TransformerHead(head.kind, layer, number) for layer, number in indices]
    chart = heads_chart(
        mosaic(layers, size=70),
        habits,
        chosen=(head.layer, head.head),
        off={(each.layer, each.head) for each in heads if each.switch_off_edit in page.EDITS.changes},
        select="head",
    )
    description = "Weights of all heads"
    draw_chart(chart, width="content", alt=description, **clickable(f"transformer_heads_{head.kind}", "head", on_click))
