"""What holds for every word: n states collapse into one vector, and attention being learned."""

from typing import cast

import streamlit as st

from attention_core.device import to_array
from attention_core.models import Translator
from attention_core.topics.translate.charts import alignment_chart, collapse_chart
from attention_core.topics.translate.collapse import LONGEST, collapse
from attention_core.topics.translate.training import Learning, learning_of
from attention_core.weights import WeightsError
from ui.chart import draw_chart
from ui.computed import cached_computation, load_snapshots, model_or_none
from ui.labels import error_markdown
from ui.layout import figures_table
from ui.state import Field, between, whole_number
from ui.translate.models import NAME

MODEL = "translator-additive"
_collapsed = cached_computation(by_model=True)(collapse)
N_STATES = Field(NAME, "n", 8, address="n", parse=between(1, LONGEST))
MOMENT = Field(NAME, "moment", 5, address="moment", parse=whole_number)


def any_length(text: str) -> None:
    """Draw n encoder states, the one vector that becomes of them, and what laying them end to end would cost."""
    model, why = model_or_none(MODEL)
    if model is None:
        st.info(f"The additive model is not there. {why}")
        return
    picture, numbers = st.columns([1.35, 1], gap="large")
    with picture:
        n = N_STATES.widget(st.slider, "Words of the source, n", 1, LONGEST)
        found = _collapsed(model, text, n)
        states, weights, context = map(to_array, (found.states, found.weights, found.context))
        chart = collapse_chart(found.words, states, weights, context, width=430)
        words = f"{len(found.words)} encoder states and their weighted sum"
        draw_chart(chart, width="content", key="translate_collapse", alt=words)
        st.caption("Rows: encoder states. Bars: their weights before the first French word.")
    with numbers:
        d, d_out = states.shape[1], cast(Translator, model).config.d_embedding
        vector, read_out = f"{d:,}", f"{2 * d * d_out:,}"  # the read-out takes the decoder's state, too
        figures_table(
            ("", "attention", "added", "end to end"),
            ("numbers handed over", vector, vector, f"{n * d:,}"),
            ("parameters of the read-out", read_out, read_out, f"{(1 + n) * d * d_out:,}"),
        )
        st.caption(
            "Attention gives one vector, however long the sentence. So does adding up, but then no word counts more. "
            "Laid end to end, states fit one length."
        )


def training_tab() -> None:
    """Draw the alignments of three sentences, their French given, at a moment of the additive model's training."""
    try:
        learned = _learned()
    except WeightsError as error:
        st.info(f"The alignments that were kept in training are not there. {error_markdown(error)}")
        return
    moments = learned[0].moments
    MOMENT.clamp(0, len(moments) - 1)
    words, slider = st.columns([1, 1.4], gap="large", vertical_alignment="center")
    with slider:
        number = MOMENT.widget(
            st.select_slider,
            "Updates so far",
            range(len(moments)),
            format_func=lambda place: f"{moments[place].step:,}",
        )
    mean = sum(pair.moments[number].sharpness for pair in learned) / len(learned)
    words.markdown(
        "Nobody tells the model which words belong together. "
        f"Sharpness: **{mean:.0%}** (0% looks everywhere alike, 100% at one word)."
    )
    for place, (column, pair) in enumerate(zip(st.columns(len(learned), gap="medium"), learned, strict=True)):
        chart = alignment_chart(to_array(pair.moments[number].weights), pair.target, pair.source, size=270)
        alt = f"Alignment after {pair.moments[number].step:,} updates: {' '.join(pair.source[:-1])}"
        draw_chart(chart, width="content", key=f"translate_learning_{place}", alt=alt, on=column)


@cached_computation()
def _learned() -> list[Learning]:
    return learning_of(load_snapshots(MODEL))
