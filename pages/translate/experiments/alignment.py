"""Which English word does each French word look at? Alignments as heatmaps; what they catch of grammar."""

from collections.abc import Mapping

import streamlit as st

from attention_core.bounds.harmless import as_markdown
from attention_core.device import to_array
from attention_core.inference.translation import TracedTranslation
from pages.translate.charts import alignment_chart
from pages.translate.first_screen import choose_model
from pages.translate.forcing import WORD, forced_words_note
from pages.translate.grammar import draw_grammar
from pages.translate.inputs import Translations, draw_translations
from ui.chart import draw_chart
from ui.layout import section
from ui.lecture.mode import LECTURE
from ui.translators import TRANSLATORS

MAX_CELL, MAX_HEATMAP = 36, 400  # sides of a cell and of a heatmap, screen pixels
HALL_WIDTH = 940  # screen pixels of a heatmap in a hall
draw_input = draw_translations


def answer(translations: Translations) -> str:
    """Say how many rows give most of their weight to one English word."""
    traced = next((model for model in translations.models.values() if not model.view.is_single), None)
    if traced is None:
        return "Without attention, none looks at any word."
    heaviest = traced.view.weights.amax(1)
    n, name = int((heaviest > 0.5).sum()), TRANSLATORS[traced.translator].removeprefix("dot ").capitalize()
    return f"{name}: {n} of {len(heaviest)} rows look mostly at one word{_describe_crossing(traced)}."


def _describe_crossing(traced: TracedTranslation) -> str:
    """Name the two French words that look back in turn; "" where all follow the English order."""
    keys, target = traced.view.weights.argmax(1).tolist(), traced.view.target
    row = next((row for row in range(1, len(keys) - 1) if keys[row] < keys[row - 1]), None)
    if row is None:
        return ""
    return f"; **{as_markdown(target[row - 1])}** and **{as_markdown(target[row])}** cross"


def draw(translations: Translations) -> None:
    """Draw each model's alignment, and below them what becomes of the gender of an article."""
    _draw_alignments(translations.models)
    with st.container(key="desk_translate_grammar"):
        section("Is grammar caught?")
        draw_grammar(translations.models, translations.text)


def _draw_alignments(models: Mapping[str, TracedTranslation]) -> None:
    """Draw each model's alignment as a heatmap, all on one colour scale."""
    if LECTURE.value:
        models = {slot: traced for slot, traced in models.items() if not traced.view.is_single} or models
    widths = [4 if traced.view.is_single else 9 for traced in models.values()]  # one vector has no heatmap
    columns = st.columns(widths, gap="large")
    longest = max(max(len(traced.view.target), len(traced.view.source)) for traced in models.values())
    cell = min(MAX_CELL, MAX_HEATMAP / longest)
    for (slot, traced), column in zip(models.items(), columns, strict=True):
        view = traced.view
        with column:
            with st.container(key=f"experiment_input_{slot}"):
                choose_model(slot)
            name = TRANSLATORS[traced.translator].capitalize()
            remark = f"{_describe_alignment(traced)} {forced_words_note(traced)}"
            if (len(models) > 1 and LECTURE.value) or remark.strip():  # else the answer or the choice above names it
                st.markdown(f"**{name}**{remark}")
            if view.is_single:
                continue
            chart = alignment_chart(
                to_array(view.weights),
                view.target,
                view.keys,
                size=round(cell * max(len(view.target), len(view.keys))),
                width=HALL_WIDTH if LECTURE.value else None,
                marked_row=min(WORD.value, len(view.target) - 1),
            )
            description = f"Alignment, {traced.translator}"
            draw_chart(chart, width="content", key=f"translate_alignment_{slot}", alt=description)


def _describe_alignment(traced: TracedTranslation) -> str:
    if traced.view.is_single:
        return ": nothing to align."
    if traced.translator == "mean" and not traced.trace.edits:
        return f": every word always gets 1/{len(traced.view.keys)}."
    if traced.translator == "transformer":
        return f": cross-attention of the last layer, mean of {traced.trace.n_heads} heads."
    return ""
