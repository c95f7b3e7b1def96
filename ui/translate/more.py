"""Parts of the page of translations that stand on their own: attention being learned, and the collapse of any size."""

from __future__ import annotations

from typing import cast

import streamlit as st

from attention_core.attention.types import Role
from attention_core.charts.alignment import alignment_chart
from attention_core.charts.collapse import collapse_chart, cost_chart
from attention_core.data.sentence_presets import TRANSLATE
from attention_core.device import to_array
from attention_core.models import Translator
from attention_core.topics.translate.collapse import LONGEST, Collapse, collapse, cost
from attention_core.topics.translate.learned import Learning, learning_of
from attention_core.weights import WeightsError
from ui.layout import section
from ui.models import COMPUTE, load_snapshots, model_or_none
from ui.translate.state import NAME

MODEL = "translator-additive"


def _additive() -> tuple[Translator | None, str]:
    model, why = model_or_none(MODEL)
    return cast(Translator | None, model), why


@st.cache_resource(max_entries=1, show_spinner=False)
def _learned() -> list[Learning]:
    return learning_of(load_snapshots(MODEL))


def learning_part() -> None:
    """Draw the alignments of three sentences at eight moments of the additive model's training."""
    section("Attention being learned", Role.WEIGHTS)
    try:
        learned = _learned()
    except WeightsError as error:
        st.info(f"The alignments that were kept in training are not there. {error}")
        return
    moments = learned[0].moments
    state, key = st.session_state, f"{NAME}_moment"
    if state.get(key) not in range(len(moments)):
        state[key] = min(5, len(moments) - 1)
    words, slider = st.columns([1, 1.4], gap="large", vertical_alignment="center")
    with slider:
        number = st.select_slider(
            "Updates of the parameters so far",
            range(len(moments)),
            key=key,
            format_func=lambda place: f"{moments[place].step:,}",
            persist_state="session",
        )
    mean = sum(one.moments[number].sharpness for one in learned) / len(learned)
    words.markdown(
        "Nobody tells the model which words belong together: the alignment appears because it helps to say the next "
        f"word. Sharpness now: **{mean:.0%}** (0 % looks everywhere alike, 100 % at one word each)."
    )
    for place, (column, one) in enumerate(zip(st.columns(len(learned), gap="medium"), learned, strict=True)):
        column.altair_chart(
            alignment_chart(to_array(one.moments[number].weights), one.target, one.source, size=270),
            width="content",
            key=f"{NAME}_learning_{place}",
            alt=f"Alignment after {one.moments[number].step:,} updates: {' '.join(one.source[:-1])}",
        )
    st.caption("The additive model, the French given. Weights kept at eight moments of its training.")


def collapse_part() -> None:
    """Draw n encoder states, the one vector that becomes of them, and what laying them end to end would cost."""
    section("Any number of states in, one vector out", Role.CONTEXT)
    model, why = _additive()
    if model is None:
        st.info(f"The additive model is not there. {why}")
        return
    text = st.session_state.get(f"{NAME}_reading") or next(iter(TRANSLATE.values()))
    state, key = st.session_state, f"{NAME}_n"
    if state.get(key) not in range(1, LONGEST + 1):
        state[key] = 8
    picture, numbers = st.columns([1.35, 1], gap="large")
    with picture:
        n = st.slider("Words of the source, n", 1, LONGEST, key=key, persist_state="session")
        one = _collapsed(text, n)
        st.altair_chart(
            collapse_chart(one.words, to_array(one.states), to_array(one.weights), to_array(one.context), width=430),
            width="content",
            key=f"{NAME}_collapse",
            alt=f"{len(one.words)} encoder states and their weighted sum",
        )
        st.caption(
            "Your sentence, word by word, and from its beginning again when it ends. Each row is one encoder state; "
            "the bars are the weights of the decoder's first state. Both are the additive model's own, to scale."
        )
    with numbers:
        d, d_out = model.config.d_state, model.config.d_embedding
        price = cost(n, d, d_out)
        st.html(
            '<table style="width:100%;border-collapse:collapse;font-variant-numeric:tabular-nums" class="costs">'
            f"<tr><th></th><th>attention</th><th>end to end</th></tr>"
            f"<tr><td>numbers handed over</td><td>{price.attention:,}</td><td>{price.concatenation:,}</td></tr>"
            f"<tr><td>parameters of the read-out</td><td>{price.attention_matrix:,}</td>"
            f"<td>{price.concatenation_matrix:,}</td></tr></table>"
            "<style>.costs th,.costs td{border:none;border-bottom:1px solid #8a93a033;padding:4px 6px;text-align:right}"
            ".costs td:first-child{text-align:left}.costs th{font-weight:600}</style>"
        )
        st.altair_chart(
            cost_chart(lambda m: cost(m, d, d_out).attention, lambda m: cost(m, d, d_out).concatenation, LONGEST, n),
            width="stretch",
            key=f"{NAME}_cost",
            alt="Numbers handed over against the number of states",
        )
        st.caption(
            f"{n} x {d} numbers in, {d} out, for every n. Laid end to end, all states would need a read-out matrix "
            "that grows with the sentence and fits one length only; what it learned about the third place would be no "
            "use at the fourth."
        )


@st.cache_resource(max_entries=200, show_spinner=False)
def _collapsed(text: str, n: int) -> Collapse:
    with COMPUTE:
        made = collapse(cast(Translator, _additive()[0]), text, n)
        return Collapse(made.words, made.states.cpu(), made.weights.cpu(), made.context.cpu())
