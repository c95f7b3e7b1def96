"""A sentence in French by the transformer, changed or not; its heads: all of them, one by its steps, some off."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.charts.heads import heads_chart, masked_weights, mosaic
from attention_core.charts.heatmap import MAX_RECT_SIDE, matrix_chart
from attention_core.charts.vega import weights_ramp
from attention_core.device import to_array
from attention_core.models.transformer import KINDS, TransformerConfig
from attention_core.topics.transformer.ablation import (
    EditedTransformer,
    TransformerHead,
    habit_words,
    head_importance,
    switched_off,
)
from attention_core.topics.transformer.charts import head_importance_chart, piece_probability_chart
from attention_core.topics.translate.translation import (
    SourceSentence,
    Translation,
    WordView,
    explain_layers,
    piece_probabilities,
    read_source,
    sentence_probability,
    translate,
)
from ui.chart import click, draw_chart
from ui.computed import cached_computation, model_or_stop
from ui.labels import as_percent, literal
from ui.layout import section
from ui.player import Stepper, export_bar, query_row, show_step_chart, show_words
from ui.state import Field, chart_selection, set_widget, whole_number, widget_value
from ui.words import aligned_words, chosen_row, reading_remarks

NAME = "transformer"
MODEL = "translator-transformer"
MAX_NAMED = 4  # changes that are named; more are counted
PIECES_STYLE = """<style>
.pieces { line-height: 2; margin: 0; overflow-wrap: anywhere; font-size: 0.95rem; }
.pieces span { padding: 0.1rem 0.34rem; background: color-mix(in srgb, currentcolor 8%, transparent); }
.pieces span:first-child { border-radius: 4px 0 0 4px; } .pieces span:last-child { border-radius: 0 4px 4px 0; }
.pieces b { font-weight: 400; margin-right: 0.3rem; display: inline-block; }
.pieces span + span { margin-left: 1.5px; } .pieces .end { font-style: italic; opacity: 0.7; }
.said { font-size: 1.45rem; line-height: 1.35; margin: 0 0 0.2rem 0; overflow-wrap: anywhere; }
</style>"""


class Experiment(NamedTuple):
    """A sentence, and what is changed in the model that reads it."""

    text: str
    off: tuple[TransformerHead, ...] = ()  # heads that are switched off
    with_positions: bool = True  # whether the model is told where each piece stands

    @property
    def as_trained(self) -> Experiment:
        return Experiment(self.text)

    @property
    def changes(self) -> list[str]:
        return [head.label for head in self.off] + ["positions left out"] * (not self.with_positions)


SHOWN_EXPERIMENT: Field[Experiment | None] = Field(NAME, "at_top", None)  # whose French stands there


def _edited(experiment: Experiment) -> EditedTransformer:
    model: Any = model_or_stop(MODEL)
    return EditedTransformer(model, switched_off(experiment.off), experiment.with_positions)


translated = cached_computation(by_model=True)(translate)
_probabilities = cached_computation(by_model=True)(piece_probabilities)
_layers_explained = cached_computation(by_model=True)(explain_layers)


def translation(experiment: Experiment) -> Translation:
    return translated(_edited(experiment), read_source(experiment.text))


def probabilities(experiment: Experiment) -> list[float]:
    """Return how probable each piece of the translation as trained is to the model as changed."""
    made = translation(experiment.as_trained)
    if experiment == experiment.as_trained:
        return made.probabilities
    return _probabilities(_edited(experiment), read_source(experiment.text), made.ids)


def traces(experiment: Experiment) -> dict[tuple[str, int], AttentionTrace]:
    """Return the traces of all layers, by (kind, layer), of the changed model saying what it says as trained."""
    edited, source, made = _edited(experiment), read_source(experiment.text), translation(experiment.as_trained)
    return _layers_explained(edited.model, source, made, edited.edits, with_positions=edited.with_positions)


def french_part(experiment: Experiment, restore: Callable[[], None]) -> None:
    """Draw the French of the model as changed beside that of the trained one; its pieces, how probable they are."""
    made, SHOWN_EXPERIMENT.value = translation(experiment), experiment
    whole, per_piece = sentence_probability(made.probabilities, len(made.probabilities))
    st.html(f'{PIECES_STYLE}<p class="said" lang="fr">{html.escape(made.text)}</p>')
    if experiment.changes:
        _as_trained(experiment, made, restore)
    st.html(f'<p class="pieces">{pieces_html(made.labels, made.word_of)}</p>')
    unfinished = "" if made.finished else " It found no end."
    st.caption(
        f"Whole sentence: {as_percent(whole)}. Average per piece: {as_percent(per_piece)}.{unfinished} Pieces drawn "
        "without a gap form one word. The model works with such pieces."
    )


def _as_trained(experiment: Experiment, made: Translation, restore: Callable[[], None]) -> None:
    before, changes = translation(experiment.as_trained), experiment.changes
    beside = "the same words." if made.ids == before.ids else f'<i lang="fr">{html.escape(before.text)}</i>'
    st.html(f'<p class="as-trained" style="margin:0">As trained: {beside}</p>')
    what = ", ".join(changes[:MAX_NAMED])
    more = f" and {len(changes) - MAX_NAMED} more" if len(changes) > MAX_NAMED else ""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f"Off: {what}{more}." if experiment.off else f"{what.capitalize()}.")
        st.button("Everything as trained", key="transformer_restore", on_click=restore)


def english_part(source: SourceSentence) -> None:
    """Draw the English sentence as the pieces that the model reads, and what it could not read."""
    st.html(f'{PIECES_STYLE}<p class="pieces">{pieces_html(source.labels, source.word_of)}</p>')
    reading_remarks(source, with_pieces=False)


def pieces_html(labels: Sequence[str], word_of: Sequence[int]) -> str:
    """Return pieces as HTML, those of one word touching; the last one may be the end."""
    words: dict[int, list[str]] = {}
    for label, word in zip(labels, word_of, strict=True):
        words.setdefault(word, []).append(f"<span>{html.escape(label)}</span>")
    last = max(words, default=0)
    if words.get(last) == ["<span>end</span>"]:
        words[last] = ['<span class="end">end</span>']
    return "".join(f"<b>{''.join(group)}</b>" for group in words.values())


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
_head_worth = cached_computation(by_model=True)(head_importance)


def experiment_on(text: str) -> Experiment:
    """Return a sentence with what is changed in the model that reads it."""
    return Experiment(text, tuple(sorted(OFF.value)), not WITHOUT_POSITIONS.value)


def _looked_at(text: str) -> tuple[TransformerHead, Experiment, AttentionTrace, int]:
    """Return the head, the sentence with what is changed in the model, the trace of the head's layer, the query."""
    head, experiment = CHOSEN.value, experiment_on(text)
    if experiment != SHOWN_EXPERIMENT.value:
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


def _habits(experiment: Experiment, kind: str) -> list[list[str]]:
    return [[habit_words(trace, head) for head in range(trace.n_heads)] for trace in _layers(experiment, kind)]


def _layers(experiment: Experiment, kind: str) -> list[AttentionTrace]:
    return [traces(experiment)[kind, layer] for layer in range(CONFIG.n_layers)]


def _mosaic(experiment: Experiment, head: TransformerHead, habits: list[list[str]]) -> None:
    key = f"transformer_heads_{head.kind}"

    def take() -> None:
        for clicked in chart_selection(key, "head"):
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


def transformer_steps(text: str) -> None:
    """Draw where each query of the chosen head looks, and its steps from its inputs to the merged heads."""
    head, experiment, trace, query = _choose_head(text)
    step = STEPS.draw(trace)
    if STEPS.draw_guess(trace, step, query, head.head):
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
        show_step_chart(step, head.head, marked, f"transformer_{head.kind}")


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
    worth = _head_worth(model_or_stop(MODEL), read_source(text), translation(Experiment(text)), [head.kind])[head.kind]
    chart = head_importance_chart(to_array(worth), size=330)
    words = "Log-probability that the translation loses when one head alone is switched off"
    draw_chart(chart, key="transformer_worth", width="content", alt=words, on=left)
    left.caption(
        "Each head alone is switched off and the same French is scored again. Orange: the translation becomes less "
        "probable without it; near white: nobody misses it (Michel et al. 2019)."
    )
    with right:
        _changed_probabilities(experiment)


def _changed_probabilities(experiment: Experiment) -> None:
    if not experiment.changes:
        st.info("Choose a head above and switch it off, or leave positions out: the translation at the top answers.")
        return
    before = translation(experiment.as_trained)
    chart = piece_probability_chart(before.labels, probabilities(experiment.as_trained), probabilities(experiment))
    words = "Probability of each piece of the first translation, as trained and edited"
    draw_chart(chart, key="transformer_said", alt=words)


def restore() -> None:
    """Leave the model as it was trained; call it in a callback."""
    OFF.value, WITHOUT_POSITIONS.value = [], False


def take_along(text: str) -> None:
    """Offer the chosen head's trace."""
    head, _, trace, query = _looked_at(text)
    export_bar(trace, NAME, head=head.head, query=query)
