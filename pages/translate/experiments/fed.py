"""Does the context enter the next state? A translator that feeds it back, beside one that does not."""

from typing import Any, NamedTuple

import streamlit as st

from attention_core.attention.wording import percent
from attention_core.device import to_array
from attention_core.inference import translation as core
from attention_core.inference.translation import TracedTranslation
from attention_core.models.transformer import EditedTranslator
from pages.translate.charts import unrolled_chart
from pages.translate.inputs import draw_sentence
from ui.chart import draw_chart
from ui.computed import cached_computation, card_or_empty, model_or_stop
from ui.labels import note
from ui.layout import figures_table
from ui.state import Field
from ui.translators import NAME

ARROW = Field(NAME, "arrow", True, address="arrow")
MODELS = {"plain": "translator-dot", "fed": "translator-input-feeding"}
TITLES = {"plain": "Trained without the arrow", "fed": "Trained with it", "off": "Trained with it, switched off"}
ALMOST = 1.0  # BLEU that is hardly worth a word
_translate = cached_computation(on_cluster=True)(core.translate)
_trace = cached_computation(on_cluster=True)(core.trace_translation)


class Feeding(NamedTuple):
    """What the translators make of a sentence, by the keys of TITLES, and whether the arrow is there."""

    traced: dict[str, TracedTranslation]
    is_on: bool

    @property
    def first_changed_row(self) -> int:
        """The row of the first word that changes as the arrow is switched off; the second row where none does."""
        off, fed = (self.traced[name].view.target for name in ("off", "fed"))
        n = min(len(off), len(fed))
        return next((row for row in range(n) if off[row] != fed[row]), min(1, n - 1))

    @property
    def current(self) -> str:
        """The key of the translator whose arrow is as the switch says."""
        return "fed" if self.is_on else "off"


def draw_input() -> Feeding:
    """Draw the sentence and the switch of the arrow; return what the translators make of it."""
    text = draw_sentence()
    plain, fed = map(model_or_stop, MODELS.values())
    is_on = ARROW.widget(st.toggle, "The context enters the next state")
    models = {"plain": plain, "fed": fed, "off": EditedTranslator(fed, feeds_back=False)}
    return Feeding({name: _traced(name, model, text) for name, model in models.items()}, is_on)


def _traced(name: str, model: Any, text: str) -> TracedTranslation:
    source = core.read_source(text)
    return _trace(model, name, source, (), _translate(model, source))


def _figures() -> dict[str, dict[str, Any]]:
    """Return the figures of each translator on sentences that none was trained on, by the keys of TITLES."""
    plain, fed = map(card_or_empty, MODELS.values())
    return {
        "plain": plain["test"] | {"alignment_error_rate": plain["alignment_error_rate"]},
        "fed": fed["test"] | {"alignment_error_rate": fed["alignment_error_rate"]},
        "off": fed["without_feeding"],
    }


def answer(feeding: Feeding) -> str:
    """Say what the arrow is worth."""
    plain, fed, _ = (figures["bleu"] for figures in _figures().values())
    worth = f"gains {fed - plain:.1f} BLEU" if fed - plain >= ALMOST else "gains no BLEU here"
    return f"Only where an arrow leads there. It {worth}."


def draw(feeding: Feeding) -> None:
    """Draw the network with the arrow, and a table of the translators."""
    picture, table = st.columns([1, 1.6], gap="large", vertical_alignment="center")
    with picture:
        _draw_network(feeding)
    with table:
        _draw_figures(feeding)


def _draw_network(feeding: Feeding) -> None:
    """Draw the network at the first word that changes without the arrow."""
    traced = feeding.traced[feeding.current]
    trace, query = traced.trace, traced.view.first_piece[feeding.first_changed_row]
    scores, weights = (to_array(matrix_of(0, [query])[0]) for matrix_of in (trace.scores, trace.weights))
    source, target = trace.story.key_axis.labels, trace.story.query_axis.labels
    chart = unrolled_chart(source, target, query, "query", scores, weights, feeds=feeding.is_on)
    alt = f"The network with{'out' * (not feeding.is_on)} the arrow"
    draw_chart(chart, width="content", key="translate_fed_network", alt=alt)


def _draw_figures(feeding: Feeding) -> None:
    figures = _figures()
    rows = [
        (
            title,
            f"{figures[name]['bleu']:.1f}",
            percent(figures[name]["alignment_error_rate"]),
            feeding.traced[name].translation.text,
        )
        for name, title in TITLES.items()
    ]
    figures_table(("", "BLEU", "alignment errors", "your sentence"), *rows, ends_in_french=True)
    with st.container(key="desk_translate_fed_note"):
        note(f"On {figures['fed']['n']} held-out sentences, a hundred aligned by hand. *Input feeding*: Luong 2015.")
