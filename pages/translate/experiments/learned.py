"""Who taught it where to look? Alignments of three sentences at a moment of the training."""

import streamlit as st

from attention_core.attention.wording import fine_percent
from attention_core.device import to_array
from attention_core.evaluate.translation_figures import Learning, TrainingAlignment, learning_of
from attention_core.weights import WeightsError
from pages.translate.charts import alignment_chart
from ui.chart import draw_chart
from ui.computed import cached_computation, load_snapshots
from ui.labels import error_markdown
from ui.layout import stop_run
from ui.state import Field, whole_number
from ui.translators import NAME

MOMENT = Field(NAME, "moment", 5, address="moment", parse=whole_number)


@cached_computation()
def _learned_sentences() -> list[Learning]:
    return learning_of(load_snapshots("translator-additive"))


def draw_input() -> list[tuple[Learning, TrainingAlignment]]:
    """Draw the moment of the training; return the sentences, their French given, each with its moment."""
    try:
        sentences = _learned_sentences()
    except WeightsError as error:
        st.info(f"The alignments that were kept in training are not there. {error_markdown(error)}")
        stop_run()
    moments = sentences[0].moments
    MOMENT.clamp(0, len(moments) - 1)
    labels = [f"{moment.step:,}" for moment in moments]
    index = MOMENT.widget(st.select_slider, "Updates so far", range(len(moments)), format_func=labels.__getitem__)
    return [(sentence, sentence.moments[index]) for sentence in sentences]


def answer(sentences: list[tuple[Learning, TrainingAlignment]]) -> str:
    """Say what it learned from, and how sharply it looks by now."""
    mean = sum(moment.sharpness for _, moment in sentences) / len(sentences)
    return f"Nobody: it has seen pairs of sentences alone. Sharpness: **{fine_percent(mean)}** (100%: at one word)."


def draw(sentences: list[tuple[Learning, TrainingAlignment]]) -> None:
    """Draw the alignments of the moment."""
    st.caption("Additive attention; the French is given.")
    columns = st.columns(len(sentences), gap="medium")
    for number, (column, (sentence, moment)) in enumerate(zip(columns, sentences, strict=True)):
        chart = alignment_chart(to_array(moment.weights), sentence.target, sentence.source, size=270)
        alt = f"Alignment {number + 1}"
        draw_chart(chart, width="content", key=f"translate_learning_{number}", alt=alt, container=column)
