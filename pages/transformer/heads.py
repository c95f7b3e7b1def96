"""The heads of the transformer: all of them, one by its steps, one changed by hand."""

import math
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import streamlit as st

from attention_core import AttentionTrace, Role, Step
from attention_core.charts.heads import heads_chart, mosaic
from attention_core.explain.heads import describe_head, summaries, summarise
from attention_core.inference.translation import WordView, piece_probabilities, read_source
from pages.transformer import experiment as page
from ui.chart import clickable, draw_chart
from ui.computed import cached_computation
from ui.edits import WeightsRow, show_weights_difference, weight_editor
from ui.fragments import BODY, rerun_fragments, with_rerun
from ui.labels import error_markdown, literal
from ui.layout import section
from ui.player import Stepper, StepStyle, export_bar, show_all_numbers, show_step_picture, step_of
from ui.state import Field, controlled, whole_number
from ui.translators import show_next_word, translation
from ui.words import aligned_words, chosen_arc, chosen_row

QUERIES_AND_KEYS = {
    "encoder": "Each English piece asks all English pieces",
    "decoder": "Each French piece asks the French up to it, never what comes after",
    "cross": "Each French piece asks all English pieces",
}
QUERY = Field(page.NAME, "query", 2, address="query", parse=whole_number)
STEPS = Stepper(page.NAME)
SMALLEST_CHANGE = 0.0005  # change of a probability below which hardly anything has changed
_probabilities = cached_computation(on_cluster=True)(piece_probabilities)


def _chosen_head(experiment: page.Experiment) -> tuple[page.TransformerHead, AttentionTrace, int]:
    head = page.CHOSEN.value
    trace = page.traces(experiment)[head[:2]]
    return head, trace, min(QUERY.value, trace.n_queries - 1)


def _choose_head(
    experiment: page.Experiment, *, switch: bool = False
) -> tuple[page.TransformerHead, AttentionTrace, int]:
    """Let a person choose kind, layer and head, and perhaps switch it off; see _looked_at."""
    head = page.CHOSEN.value
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="transformer_choice"):
        for name, (label, choices) in page.CHOICES.items():
            st.segmented_control(
                label,
                choices,
                format_func=lambda choice: choice.capitalize() if isinstance(choice, str) else str(choice + 1),
                required=True,
                **controlled(f"transformer_{name}", getattr(head, name), partial(_on_choice, name)),
            )
        if switch:
            edit = head.switch_off_edit
            label = "Switch on" if edit in page.EDITS.changes else "Switch off"
            st.button(label, key="transformer_switch", on_click=with_rerun(page.EDITS.toggle), args=(edit,))
    st.caption(f"{QUERIES_AND_KEYS[head.kind]}.")
    return _chosen_head(experiment)


def _on_choice(name: str, choice: Any) -> None:
    page.CHOSEN.value = page.CHOSEN.value._replace(**{name: choice})


def all_heads(experiment: page.Experiment) -> None:
    """Draw the weights of all heads of the chosen kind, of which a click chooses one, and the chosen head large."""
    head, trace, query = _choose_head(experiment)
    layers = [page.traces(experiment)[head.kind, layer] for layer in range(page.CONFIG.n_layers)]
    habits = [[describe_head(summary) for summary in layer] for layer in summaries(layers, _ignored_keys(head, trace))]
    mosaic_column, head_column = st.columns([1.1, 1], gap="medium")
    with mosaic_column:
        _mosaic(layers, head, habits)
    with head_column:
        st.markdown(f"**Layer {head.layer + 1}, head {head.head + 1}**: {habits[head.layer][head.head]}")
        weights, name = step_of(trace, "weights"), f"transformer_{head.kind}"
        show_step_picture(trace, weights, head.head, StepStyle(query), name, on_choose=lambda row, _: QUERY.set(row))


def _ignored_keys(head: page.TransformerHead, trace: AttentionTrace) -> tuple[int, ...]:
    return () if head.kind == "decoder" else (trace.n_keys - 1,)  # the end of the sentence is no word


def _mosaic(layers: list[AttentionTrace], head: page.TransformerHead, habits: list[list[str]]) -> None:
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
    description = f"Weights of all heads of all layers, {head.kind} attention; click one"
    draw_chart(chart, width="content", alt=description, **clickable(f"transformer_heads_{head.kind}", "head", on_click))


def transformer_steps(experiment: page.Experiment) -> None:
    """Draw where each query of the chosen head looks, and its steps from its inputs to the merged heads."""
    head, trace, query = _choose_head(experiment)

    def draw_arcs(_: Step) -> None:
        with st.container(key="desk_transformer_arcs"):
            section("Click a word: where does it look?", Role.QUERY)
            _arcs(trace, head, query)
        habit = describe_head(summarise(trace, head.head, _ignored_keys(head, trace)))
        st.caption(f"This head, on average: {habit}.")

    name = f"{page.NAME}_{head.kind}"
    show_all_numbers(trace, STEPS, name, head=head.head, query=query, on_query=QUERY.set, above_text=draw_arcs)


def _arcs(
    trace: AttentionTrace,
    head: page.TransformerHead,
    query: int,
    change: Callable[[int, float | None], None] | None = None,
) -> None:
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
    axes, cuts, choose = (queries.name, keys.name), change is not None, partial(_on_word, change)
    aligned_words(page.NAME, view, model=head.label, active=query, axes=axes, plain=True, cuts=cuts, on_choose=choose)


def _on_word(change: Callable[[int, float | None], None] | None) -> None:
    row, arc = chosen_row(page.NAME), chosen_arc(page.NAME)
    if row is not None:
        QUERY.value = row
    if change and arc:
        change(*arc)
        rerun_fragments(BODY)


def change_heads(experiment: page.Experiment) -> None:
    """Let a person change the chosen head, and draw what becomes of the translation."""
    head, trace, query = _choose_head(experiment, switch=True)
    text, queries, keys = experiment.text, trace.story.query_axis.labels, trace.story.key_axis.labels
    row = WeightsRow(page.EDITS, trace, [query], head.head, head.attention_name, text, f"{head.label}: ")
    left, right = st.columns(2, gap="large")
    with left:
        _arcs(trace, head, query, lambda key, weight: row.set_weight([key], weight) if key in row.keys else None)
        rows = range(query if head.kind == "decoder" else len(queries))
        row_names = {row_index: queries[row_index] for row_index in rows if row_index != query}
        weight_editor(row, {(key,): keys[key] for key in row.keys}, row_names)
        page.EDITS.draw(trace, hint="Click a lower word, then an upper one to cut their arc.")
    with right:
        _draw_changed_translation(experiment)
        show_weights_difference(page.NAME, page.traces(page.Experiment(text, {}))[head[:2]], trace, head.head)


def _draw_changed_translation(experiment: page.Experiment) -> None:
    source, learned = read_source(experiment.text), translation(page.TRANSLATOR, experiment.text)
    st.markdown(f"As trained: *{error_markdown(learned.text)}*")
    if not experiment.edits:
        return
    st.markdown(f"Changed: *{error_markdown(page.translate_sources(experiment, source)[0])}*")
    experiments = experiment._replace(edits={}), experiment
    before, after = (_probabilities(page.edited(each), source, learned.ids) for each in experiments)
    changes = [abs(new - old) for old, new in zip(before, after, strict=True)]
    piece = changes.index(max(changes))
    context = f"after {literal(' '.join(learned.labels[:piece]))}" if piece else "first"
    amount = "Most" if changes[piece] >= SMALLEST_CHANGE else "Hardly anything"
    st.caption(f"{amount} has changed in what comes {context}:")
    show_next_word(page.TRANSLATOR, source, tuple(learned.ids[:piece]), experiment.edits)


def take_along(experiment: page.Experiment) -> None:
    """Offer the chosen head's trace."""
    head, trace, query = _chosen_head(experiment)
    export_bar(trace, page.NAME, head=head.head, query=query)
