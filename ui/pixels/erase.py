"""Fixed weights, or weights made from the input? Erase ink, and see which numbers change."""

from __future__ import annotations

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
from attention_core.charts import picture, weights_ramp
from attention_core.data.drawing import Drawing
from attention_core.device import device_of, to_array
from attention_core.explain.faithfulness import erase_along, erase_highest, erase_random, ink_mask, mean_total_variation
from ui.canvas import PadState
from ui.chart import draw_chart
from ui.computed import computed
from ui.digits import Answer, ask, ink_image
from ui.models import model_or_stop
from ui.pixels.drawing import NAME
from ui.state import Field, between, choice, whole_number

RANDOM_TRIALS = 20
MOST_LOOKED_AT = "what is looked at most"
ERASED = Field(
    NAME,
    "erased",
    MOST_LOOKED_AT,
    address="erase",
    parse=lambda text: f"stroke {whole_number(text)}",
    text=lambda chosen: chosen.removeprefix("stroke "),
)
N_ERASED = Field(NAME, "erase_n", -1, address="pixels", parse=between(1, 784))


def erase_section(image: Tensor, drawing: Drawing, pad: PadState, before: Answer) -> None:
    """Fixed weights, or weights made from the input? Erase ink and see which numbers change."""
    st.markdown(
        "**Fixed weights, or weights made from the input?** "
        "A feed-forward neuron keeps its weights whatever you draw; pixels meet only in its sum. The attention matrix "
        "is computed from each drawing: erase some ink, and the matrix itself changes."
    )
    trace = before.traces[0]
    importance = trace.summary(0, ink_mask(image).flatten()).received
    n_ink = int(ink_mask(image).sum())
    choices = {MOST_LOOKED_AT: None}
    choices |= {f"stroke {number + 1}": path for number, path in enumerate(pad.strokes)} if len(pad.strokes) > 1 else {}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        chosen = choice("Erase", ERASED, list(choices), wrap=True)
        path = choices.get(chosen)
        if path is None:
            most = max(2, n_ink - 1)
            N_ERASED.value = N_ERASED.among(range(1, most + 1), max(1, n_ink // 4))  # another bound is another slider
            n = st.slider("Ink pixels", 1, most, key=N_ERASED.key, persist_state="session", width=320)
            erased = erase_highest(image, importance, n)
        else:
            erased = erase_along(image, torch.from_numpy(drawing.locate(path)).float())
            n = int(erased.removed.sum())
    after, ffn = ask("pixel-classifier", erased.image), ask("ffn-classifier", erased.image)
    trials = [erase_random(image, n, seed).image for seed in range(RANDOM_TRIALS)]
    at_random = ask_many("pixel-classifier", torch.stack(trials))
    agreeing = int((at_random.argmax(1) == before.digit).sum())
    moved = mean_total_variation(trace, after.traces[0])
    columns = st.columns(4, gap="medium")
    with columns[0]:
        _ink_and_attention(image, trace, "As drawn")
        st.markdown(f"reads **{before.digit}** ({before.confidence:.0%})")
    with columns[1]:
        _ink_and_attention(
            erased.image,
            after.traces[0],
            "Most looked at erased" if path is None else f"Without {chosen}",
        )
        other = "" if after.digit == before.digit else f"; {before.digit}: {after.probabilities[before.digit]:.0%}"
        st.markdown(f"reads **{after.digit}** ({after.confidence:.0%}){other}")
    with columns[2]:
        random_trace = ask("pixel-classifier", trials[0]).traces[0]
        _ink_and_attention(trials[0], random_trace, "As many at random")
        st.markdown(
            f"reads **{before.digit}** in {agreeing} of {RANDOM_TRIALS} draws, on average with "
            f"{at_random[:, before.digit].mean():.0%}"
        )
    with columns[3]:
        st.metric(
            "attention moved",
            f"{moved:.0%}",
            help="Half the summed change of a row of the weights, averaged over all rows, after this erasure.",
        )
        st.metric("feed-forward moved", "0%", help="Its parameters are the same for every input.")
        st.caption(f"The feed-forward network now reads {ffn.digit} ({ffn.confidence:.0%}).")


@computed(by_model=True)
def ask_many(name: str, images: Tensor) -> np.ndarray:
    """Return probabilities (n, 10) of pictures (n, 28, 28)."""
    model = model_or_stop(name)
    return to_array(model(images.to(device_of(model))).logits.softmax(-1))


def _ink_and_attention(image: Tensor, trace: AttentionTrace, title: str) -> None:
    """Draw a picture and below it the attention that each pixel receives."""
    st.markdown(f"**{title}**")
    received = to_array(trace.summary(0, ink_mask(image).flatten()).received).reshape(28, 28)
    glow = picture(received, weights_ramp(trace.n_keys, float(received.max())), title="received", size=140, bar=False)
    with st.container(horizontal=True, gap="small"):
        ink_image(to_array(image), 140, f"{title}: the picture")
        draw_chart(glow, width="content", alt=f"{title}: attention received by each pixel")
