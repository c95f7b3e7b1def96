"""Where in the network does attention happen? The network unrolled, one step of one French word lit."""

import streamlit as st

from attention_core import Role
from attention_core.bounds.harmless import as_markdown
from attention_core.device import to_array
from pages.translate.charts import unrolled_chart
from pages.translate.first_screen import STEPS
from pages.translate.forcing import n_forced_words
from pages.translate.inputs import Translations, draw_word
from ui.chart import draw_chart
from ui.player import show_step_heading, step_of

LIT_OUTPUTS = {"read_out": "layer", "output": "word"}
"""What lights up in the picture of the network, by the name of the step of its output."""
draw_input = draw_word


def answer(translations: Translations) -> str:
    """Say between what attention stands, and how many states it weighs."""
    traced = translations.traced
    if traced.translator == "transformer":
        return "The transformer has no recurrent network to unroll. Take another model."
    if traced.view.is_single:
        return "Nowhere. Nothing is scored: the two ends of the reading are handed over, the same at every word."
    return f"Between encoder and decoder: at each word it weighs {traced.trace.n_keys} states."


def draw(translations: Translations) -> None:
    """Draw the network at the present word, with the present step lit, beside what that step does."""
    traced, row = translations.traced, translations.row
    if traced.translator == "transformer":
        return
    trace, query = traced.trace, traced.view.first_piece[row]
    step = STEPS.draw(trace)
    picture, text_column = st.columns([1, 1.1], gap="large")
    scores = weights = None
    if not traced.view.is_single:
        scores, weights = (to_array(matrix_of(0, [query])[0]) for matrix_of in (trace.scores, trace.weights))
    source, target = step_of(trace, "embedding").row_axis.labels, trace.story.query_axis.labels
    lit = LIT_OUTPUTS[step.name] if step.role is Role.OUTPUT else step.role.value
    chart = unrolled_chart(source, target, query, lit, scores, weights)
    alt = "The network, unrolled"
    draw_chart(chart, width="content", key="translate_unrolled", alt=alt, container=picture)
    with text_column:
        show_step_heading(step)
        predecessor = f"**{as_markdown(target[query - 1])}**" if query else "the start"
        verb = "is made to say" if row < n_forced_words(traced) else "says"
        n, french = len(traced.view.target), as_markdown(target[query])
        text = f"Word {row + 1} of {n}: fed {predecessor}, the decoder {verb} **{french}**."
        st.markdown(text)
