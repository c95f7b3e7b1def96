"""The heads of the transformer: all of them, one by its steps, some switched off."""

from __future__ import annotations

import math

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.charts.heads import heads_chart, masked_weights, mosaic
from attention_core.charts.heatmap import MAX_RECT_SIDE, matrix_chart
from attention_core.charts.vega import weights_ramp
from attention_core.device import to_array
from attention_core.explain.heads import describe_head, summaries
from attention_core.models.transformer import KINDS
from attention_core.topics.transformer.ablation import TransformerHead, head_importance
from attention_core.topics.transformer.charts import head_importance_chart
from attention_core.topics.translate.translation import WordView, read_source
from ui.chart import click, draw_chart
from ui.computed import cached_computation, model_or_stop
from ui.labels import error_markdown, literal
from ui.layout import section
from ui.player import Stepper, export_bar, show_step_chart, show_words
from ui.state import Field, chart_selection, set_widget, whole_number, widget_value
from ui.transformer.experiment import (
    CHOICES,
    CHOSEN,
    CONFIG,
    MODEL,
    NAME,
    OFF,
    SHOWN_EXPERIMENT,
    TRANSLATOR,
    Experiment,
    experiment_on,
    said,
    traces,
)
from ui.translate.models import translation
from ui.words import aligned_words, chosen_row

ASKS = {
    "encoder": "Each English piece asks all English pieces",
    "decoder": "Each French piece asks the French up to it, never what comes after",
    "cross": "Each French piece asks all English pieces",
}
QUERY = Field(NAME, "query", 2, address="query", parse=whole_number)
STEPS = Stepper(NAME)
_head_worth = cached_computation(by_model=True)(head_importance)


def _looked_at(text: str) -> tuple[TransformerHead, Experiment, AttentionTrace, int]:
    """Return the head, the sentence with what is changed in the model, the trace of the head's layer, the query."""
    head, experiment = CHOSEN.value, experiment_on(text)
    if experiment != SHOWN_EXPERIMENT.value:
        st.rerun()  # what was changed here shows at the top
    trace = traces(experiment)[head.kind, head.layer]
    return head, experiment, trace, min(QUERY.value, trace.n_queries - 1)


def _choose_head(text: str, *, switch: bool = False) -> tuple[TransformerHead, Experiment, AttentionTrace, int]:
    """Let a person choose kind, layer and head, and perhaps switch it off; see _looked_at."""
    head = CHOSEN.value
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="transformer_choice"):
        for part, (label, choices) in CHOICES.items():
            key = f"transformer_{part}"
            set_widget(key, getattr(head, part))
            st.segmented_control(
                label,
                choices,
                key=key,
                format_func=lambda choice: choice.capitalize() if isinstance(choice, str) else str(choice + 1),
                required=True,
                on_change=_take_part,
                args=(part, key),
            )
        if switch:
            label = "Switch on" if head in OFF.value else "Switch off"
            st.button(label, key="transformer_switch", on_click=_switch, args=(head,))
    st.caption(f"{ASKS[head.kind]}.")
    return _looked_at(text)


def _take_part(part: str, key: str) -> None:
    CHOSEN.value = CHOSEN.value._replace(**{part: widget_value(key)})


def _switch(head: TransformerHead) -> None:
    OFF.value = [other for other in OFF.value if other != head] if head in OFF.value else [*OFF.value, head]


def all_heads(text: str) -> None:
    """Draw all heads of the chosen kind, and the chosen one large; clicks choose."""
    head, experiment, trace, query = _choose_head(text)
    layers = [traces(experiment)[head.kind, layer] for layer in range(CONFIG.n_layers)]
    end = () if head.kind == "decoder" else (layers[0].n_keys - 1,)
    habits = [[describe_head(one) for one in layer] for layer in summaries(layers, end)]
    every, large = st.columns([1.1, 1], gap="medium")
    with every:
        _mosaic(layers, experiment, head, habits)
    with large:
        st.markdown(f"**Layer {head.layer + 1}, head {head.head + 1}**: {habits[head.layer][head.head]}")
        _large(trace, head, query)


def _mosaic(
    layers: list[AttentionTrace], experiment: Experiment, head: TransformerHead, habits: list[list[str]]
) -> None:
    key = f"transformer_heads_{head.kind}"

    def take() -> None:
        for clicked in chart_selection(key, "head"):
            CHOSEN.value = CHOSEN.value._replace(layer=int(clicked["layer"]), head=int(clicked["head"]))

    chart = heads_chart(
        mosaic(layers, size=70),
        habits,
        chosen=(head.layer, head.head),
        off={(other.layer, other.head) for other in experiment.off if other.kind == head.kind},
        select="head",
    )
    words = f"Weights of all heads of all layers, {head.kind} attention; click one"
    draw_chart(chart, key=key, on_select=take, selection_mode="head", width="content", alt=words)


def _large(trace: AttentionTrace, head: TransformerHead, query: int) -> None:
    key = f"transformer_large_{trace.n_queries}_{trace.n_keys}"
    small = max(trace.n_queries, trace.n_keys) <= MAX_RECT_SIDE
    chart = matrix_chart(
        masked_weights(trace, head.head),
        trace.story.query_axis,
        trace.story.key_axis,
        Role.WEIGHTS,
        title="weight",
        size=340,
        marked_row=query,
        ramp=weights_ramp(trace.n_keys),
        select="cell" if small else None,
    )
    words = f"Weights of {head.label}: queries are rows, keys are columns"
    draw_chart(chart, **click(key, "cell", "row", QUERY) if small else {"key": key}, width="content", alt=words)


def transformer_steps(text: str) -> None:
    """Draw where each query of the chosen head looks, and its steps from its inputs to the merged heads."""
    head, _, trace, query = _choose_head(text)
    if not (step := STEPS.draw(trace, query, head.head)):
        return
    with st.container(key="desk_transformer_arcs"):
        _arcs(trace, head, query)
    words, matrix = st.columns([0.9, 1], gap="large")
    with words:
        st.caption(f"Query: {literal(trace.story.query_axis.labels[query])}")
        show_words(trace, step, head.head, query)
    with matrix:
        marked = query if step.row_axis is trace.story.query_axis else None
        show_step_chart(trace, step, head.head, marked, f"transformer_{head.kind}")


def _arcs(trace: AttentionTrace, head: TransformerHead, query: int) -> None:
    queries, keys = trace.story.query_axis, trace.story.key_axis
    labels = list(queries.labels)
    view = WordView(
        target=labels,
        source=list(keys.labels),
        keys=list(keys.labels),
        weights=trace.weights(head.head),
        probabilities=[math.nan] * len(labels),
        first_piece=list(range(len(labels))),
        first_key=list(range(len(keys))),
        pieces_of=[[label] for label in labels],
    )
    section("Click a word: where does it look?", Role.QUERY)
    axes = queries.name, keys.name
    aligned_words(NAME, view, model=head.label, active=query, plain=True, axes=axes, on_choose=_take_query)


def _take_query() -> None:
    row = chosen_row(NAME)
    if row is not None:
        QUERY.value = row


def heads_off(text: str) -> None:
    """Let a person switch heads off, and draw what the translation loses without each."""
    _, experiment, _, _ = _choose_head(text, switch=True)
    if experiment.off:
        st.markdown(f"Without {experiment.off_words}: *{error_markdown(said(experiment, read_source(text))[0])}*")
    else:
        st.markdown("Switch a head off. What does the French lose?")
    worth = _head_worth(model_or_stop(MODEL), read_source(text), translation(TRANSLATOR, text))
    limit = max(float(one.abs().max()) for one in worth.values())
    for column, kind in zip(st.columns(3, gap="medium"), KINDS, strict=True):
        column.markdown(f"**{kind.capitalize()}**")
        chart = head_importance_chart(to_array(worth[kind]), limit, size=270)
        words = f"Log-probability that the translation loses when one {kind} head alone is switched off"
        draw_chart(chart, key=f"transformer_worth_{kind}", width="content", alt=words, on=column)
    st.caption("Orange: without this head alone the French becomes less probable.")


def take_along(text: str) -> None:
    """Offer the chosen head's trace."""
    head, _, trace, query = _looked_at(text)
    export_bar(trace, NAME, head=head.head, query=query)
