"""The heads of the transformer: all of them, one step by step, some switched off."""

import math
from typing import Any

import streamlit as st
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.charts.heads import heads_chart, masked_weights
from attention_core.charts.heatmap import MAX_RECT_SIDE, matrix_chart
from attention_core.charts.mosaic import mosaic
from attention_core.charts.palette import weights_ramp
from attention_core.device import to_array
from attention_core.models.transformer import KINDS, TransformerConfig
from attention_core.topics.transformer.ablation import TransformerHead, habit_words, head_worth
from attention_core.topics.transformer.charts import said_chart, worth_chart
from attention_core.topics.translate.translation import read_source
from attention_core.topics.translate.word_view import WordView
from ui.chart import click, draw_chart
from ui.computed import computed, model_or_stop
from ui.labels import literal
from ui.layout import section
from ui.player import Stepper, export_bar, query_row, show_matrix, show_words
from ui.state import Field, selected, set_widget, whole_number, widget_value
from ui.transformer.first_screen import AT_TOP, MODEL, NAME, Experiment, probabilities, traces, translation
from ui.words import aligned_words, chosen_row

CONFIG = TransformerConfig()
CHOICES = {
    "kind": ("Attention of", KINDS),
    "layer": ("Layer", range(CONFIG.n_layers)),
    "head": ("Head", range(CONFIG.n_heads)),
}
BELOW = "what the layer below made of each of them"
ASKS = {
    "encoder": "Each piece of the English sentence asks all pieces of the same sentence",
    "decoder": "Each piece of the French so far asks itself and the French before it, never what comes after",
    "cross": "Each French piece that is about to be said asks all pieces of the English sentence",
}
HANDED = {"cross": "the encoder's output at each of them"}


def _named(text: str) -> TransformerHead:
    kind, layer, number = text.split("-")
    head = TransformerHead(kind, whole_number(layer) - 1, whole_number(number) - 1)
    if any(getattr(head, part) not in choices for part, (_, choices) in CHOICES.items()):
        raise ValueError(f"text must name a head such as cross-2-3, got {text!r}")
    return head


def _name(head: TransformerHead) -> str:
    return f"{head.kind}-{head.layer + 1}-{head.head + 1}"


CHOSEN = Field(NAME, "chosen", TransformerHead("encoder", 0, 0), address="head", parse=_named, text=_name)
QUERY = Field(NAME, "query", 2, address="query", parse=whole_number)
OFF: Field[list[TransformerHead]] = Field(
    NAME,
    "off",
    list,
    address="off",
    parse=lambda text: [*dict.fromkeys(map(_named, text.split(".")))],
    text=lambda heads: ".".join(map(_name, heads)),
)
WITHOUT_POSITIONS = Field(NAME, "without", False, address="no_positions")
STEPS = Stepper(NAME)


def experiment_on(text: str) -> Experiment:
    """Return a sentence with what is changed in the model that reads it."""
    return Experiment(text, tuple(sorted(OFF.value)), not WITHOUT_POSITIONS.value)


def _looked_at(text: str) -> tuple[TransformerHead, Experiment, AttentionTrace, int]:
    """Return the head, the sentence with what is changed in the model, the trace of the head's layer, the query."""
    head, experiment = CHOSEN.value, experiment_on(text)
    if experiment != AT_TOP.value:
        st.rerun()  # what was changed here shows in the translation at the top
    trace = traces(experiment)[head.kind, head.layer]
    return head, experiment, trace, min(QUERY.value, trace.n_queries - 1)


def _choose_head(text: str) -> tuple[TransformerHead, Experiment, AttentionTrace, int]:
    """Let a person choose kind, layer and head, switch it off, and leave the positions out; see _looked_at."""
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
        st.button(
            "Switch on" if head in OFF.value else "Switch off",
            key="transformer_switch",
            on_click=_switch,
            args=(head,),
            help="Sets what this head hands over to 0.",
        )
        told = "Encoder and decoder are no longer told where a piece stands. They were trained with positions."
        WITHOUT_POSITIONS.widget(st.toggle, "Leave positions out", help=told)
    st.caption(f"{ASKS[head.kind]}. Handed over is {HANDED.get(head.kind, BELOW)}.")
    return _looked_at(text)


def _take_part(part: str, key: str) -> None:
    CHOSEN.value = CHOSEN.value._replace(**{part: widget_value(key)})


def _switch(head: TransformerHead) -> None:
    OFF.value = [other for other in OFF.value if other != head] if head in OFF.value else [*OFF.value, head]


def all_heads(text: str) -> None:
    """Draw all heads of the chosen kind, the chosen one large, and one row of it in numbers; clicks choose."""
    head, experiment, trace, query = _choose_head(text)
    habits = _habits(experiment, head.kind)
    every, large = st.columns([1.1, 1], gap="medium")
    with every:
        _mosaic(experiment, head, habits)
        query_row(trace, head.head, query, n=4, key_words="piece")
    with large:
        st.markdown(f"**Layer {head.layer + 1}, head {head.head + 1}**: {habits[head.layer][head.head]}")
        _large(trace, head, query)


@computed(by_model=True)
def _habits(experiment: Experiment, kind: str) -> list[list[str]]:
    return [[habit_words(trace, head) for head in range(trace.n_heads)] for trace in _layers(experiment, kind)]


def _layers(experiment: Experiment, kind: str) -> list[AttentionTrace]:
    return [traces(experiment)[kind, layer] for layer in range(CONFIG.n_layers)]


def _mosaic(experiment: Experiment, head: TransformerHead, habits: list[list[str]]) -> None:
    key = f"transformer_heads_{head.kind}"

    def take() -> None:
        for clicked in selected(key, "head"):
            CHOSEN.value = CHOSEN.value._replace(layer=int(clicked["layer"]), head=int(clicked["head"]))

    chart = heads_chart(
        mosaic(_layers(experiment, head.kind), size=70),
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
        size=400,
        marked_row=query,
        ramp=weights_ramp(trace.n_keys),
        select="cell" if small else None,
    )
    words = f"Weights of {head.label}: queries are rows, keys are columns"
    draw_chart(chart, **click(key, "cell", "row", QUERY) if small else {"key": key}, width="content", alt=words)


def step_by_step(text: str) -> None:
    """Draw where each query of the chosen head looks, and its steps from its inputs to the merged heads."""
    head, experiment, trace, query = _choose_head(text)
    step = STEPS.draw(trace)
    if STEPS.hides(trace, step, query, head.head):
        return
    _arcs(experiment, trace, head, query)
    words, matrix = st.columns([0.9, 1], gap="large")
    with words:
        st.caption(
            f"{trace.story.mechanism}, head {head.head + 1}; the query is "
            f"{literal(trace.story.query_axis.labels[query])}"
        )
        show_words(trace, step, head.head, query, int(trace.weights(head.head, [query])[0].argmax()))
    with matrix:
        marked = query if step.row_axis is trace.story.query_axis else None
        show_matrix(step, head.head, marked, f"transformer_{head.kind}")


def _arcs(experiment: Experiment, trace: AttentionTrace, head: TransformerHead, query: int) -> None:
    queries, keys = trace.story.query_axis, trace.story.key_axis
    labels = list(queries.labels)
    says = head.kind == "cross" and translation(experiment.as_trained).finished
    view = WordView(
        target=labels,
        source=list(keys.labels),
        keys=list(keys.labels),
        weights=trace.weights(head.head),
        probabilities=probabilities(experiment) if says else [math.nan] * len(labels),
        first_piece=list(range(len(labels))),
        pieces_of=[[label] for label in labels],
    )
    section("Where it looks", Role.QUERY)
    st.caption(f"Keys, {keys.name}, above queries, {queries.name}. Hover one; click a query.")
    aligned_words(NAME, view, model=head.label, active=query, plain=not says, on_choose=_take_query)


def _take_query() -> None:
    row = chosen_row(NAME)
    if row is not None:
        QUERY.value = row


def heads_off(text: str) -> None:
    """Draw what the translation loses without each head, and how the changed model finds its pieces."""
    head, experiment, _, _ = _choose_head(text)
    left, right = st.columns([0.8, 1.2], gap="large")
    left.markdown(f"**What each {head.kind} head is worth to this translation**")
    chart = worth_chart(to_array(_worth(text, head.kind)), size=330)
    words = "Log-probability that the translation loses when one head alone is switched off"
    draw_chart(chart, key="transformer_worth", width="content", alt=words, on=left)
    left.caption(
        "Each head alone is switched off and the same French is scored again. Orange: the translation becomes less "
        "probable without it; near white: nobody misses it (Michel et al. 2019)."
    )
    with right:
        _changed_probabilities(experiment)


@computed(by_model=True)
def _worth(text: str, kind: str) -> Tensor:
    """Return what the translation loses without each head of a kind, (n_layers, n_heads)."""
    model: Any = model_or_stop(MODEL)
    return head_worth(model, read_source(text), translation(Experiment(text)), [kind])[kind]


def _changed_probabilities(experiment: Experiment) -> None:
    if not experiment.changes:
        st.info("Choose a head above and switch it off, or leave positions out: the translation at the top answers.")
        return
    before = translation(experiment.as_trained)
    chart = said_chart(before.labels, probabilities(experiment.as_trained), probabilities(experiment))
    words = "Probability of each piece of the first translation, as trained and edited"
    draw_chart(chart, key="transformer_said", alt=words)


def restore() -> None:
    """Leave the model as it was trained; call it in a callback."""
    OFF.value, WITHOUT_POSITIONS.value = [], False


def take_along(text: str) -> None:
    """Offer the chosen head's trace."""
    head, _, trace, query = _looked_at(text)
    export_bar(trace, NAME, head=head.head, query=query)
