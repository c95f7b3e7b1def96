"""Does it forget more of a longer sentence? Translation quality by length, without attention and with it."""

import streamlit as st

from attention_core.attention.wording import format_count
from attention_core.evaluate.translation_figures import bleu_by_length, group_of
from pages.memory import first_screen as screen
from pages.memory.charts import length_chart
from ui.chart import draw_chart
from ui.labels import note

draw_input = screen.draw_sentence


def answer(text: str) -> str:
    """Say how much of the words of the sentence, and of its beginning, one vector loses."""
    loss = screen.describe_loss(text)
    return f"Yes. {loss}" if loss else "Yes."


def draw(text: str) -> None:
    """Draw BLEU by the length of the sentence, without attention and with it."""
    figures = bleu_by_length(tuple(screen.LABELS))
    if not figures.scores:
        st.info("The figures are not there.")
        return
    lengths = map(screen.n_words, (screen.shorter(text), text))
    marked = {group_of(figures.groups, n): format_count(n, "words") for n in lengths}
    chart = length_chart(figures, width=620, height=300, called=screen.LABELS, marked=marked)
    draw_chart(chart, width="content", key="memory_lengths", alt="BLEU by length")
    note("BLEU after five passes of training.")
