"""What the pages about digits share: predictions, how a drawing became a picture, erasing, learning."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from attention_core.attention.interventions import NO_INTERVENTION, UNIFORM, Intervention
from attention_core.attention.trace import AttentionTrace
from attention_core.charts import picture, weights_ramp
from attention_core.charts.palette import INK_RAMP
from attention_core.data.drawing import Drawing
from attention_core.device import to_array
from attention_core.explain.faithfulness import erase_along, erase_highest, erase_random, ink_mask, mean_total_variation
from attention_core.models import attention_at_snapshot
from attention_core.weights import WeightsError
from ui.canvas import PadState
from ui.layout import section
from ui.models import COMPUTE, load_snapshots, model_or_stop

RANDOM_TRIALS = 20
FRAME = (200, 205, 211)


@dataclass(frozen=True, eq=False)
class Answer:
    """What a model says about one picture.

    Attributes:
        probabilities: float (10,).
        traces: one per attention layer.
    """

    probabilities: np.ndarray
    traces: tuple[AttentionTrace, ...]

    @property
    def digit(self) -> int:
        """The most probable digit."""
        return int(self.probabilities.argmax())

    @property
    def confidence(self) -> float:
        """Its probability."""
        return float(self.probabilities.max())


def ask(name: str, image: Tensor, intervention: Intervention = NO_INTERVENTION, trace: bool = True) -> Answer:
    """Let a model read one picture, float (28, 28)."""
    model = model_or_stop(name)
    with COMPUTE, torch.inference_mode():
        device = next(model.parameters()).device
        prediction = model(image[None].to(device), intervention=intervention, trace=trace)
        return Answer(to_array(prediction.logits.softmax(-1)[0]), prediction.traces)


def read_digit(image: np.ndarray) -> Answer:
    """Return what the attention model says about a prepared picture, float (28, 28)."""
    return ask("pixel-classifier", torch.from_numpy(image))


def predict(image: Tensor) -> tuple[Answer, Answer, Answer]:
    """Return the answers of the attention model, the feed-forward network, and attention with uniform weights."""
    blind = ask("pixel-classifier", image, UNIFORM, trace=False)
    return ask("pixel-classifier", image), ask("ffn-classifier", image), blind


def ink_image(image: np.ndarray, size: int, words: str) -> None:
    """Draw a 28 x 28 picture as a plain image with a thin frame: nothing in it answers the mouse, so it is cheap."""
    factor = size // image.shape[0]
    pixels = INK_RAMP.lookup()[np.rint(image * 255).astype(int)].repeat(factor, 0).repeat(factor, 1)
    for edge in (pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]):
        edge[:] = FRAME
    st.image(pixels.astype(np.uint8), width=size, output_format="PNG", alt=words)


def preparation_section(drawing: Drawing) -> None:
    """Show the 28 x 28 picture and how the drawing became it."""
    ink_image(drawing.image, 252, "The 28 x 28 picture that the models see")
    top, bottom, left, right = drawing.box
    rows, cols = drawing.fitted.shape
    st.caption(
        f"How it became this: the ink's box, {right - left} × {bottom - top} canvas pixels, was scaled to "
        f"{cols} × {rows} (the longer side is 20) and laid into 28 × 28 with its centre of mass in the middle, "
        "as MNIST was made."
    )


@st.fragment
def erase_section(image: Tensor, drawing: Drawing, pad: PadState, before: Answer) -> None:
    """Explicit against implicit: erase ink and see which numbers change."""
    section("Explicit against implicit")
    st.markdown(
        "A feed-forward neuron keeps its weights whatever you draw; pixels meet only in its sum. The attention matrix "
        "is made anew from every drawing: erase some ink and the matrix itself changes."
    )
    trace = before.traces[0]
    importance = trace.summary(0, ink_mask(image).flatten()).received
    n_ink = int(ink_mask(image).sum())
    choices = {"what is looked at most": None}
    choices |= {f"stroke {number + 1}": path for number, path in enumerate(pad.strokes)} if len(pad.strokes) > 1 else {}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        chosen = st.segmented_control(
            "Erase", list(choices), default="what is looked at most", required=True, key="erase_what"
        )
        path = choices.get(chosen)
        if path is None:
            n = st.slider("Ink pixels", 1, max(2, n_ink - 1), max(1, n_ink // 4), key="erase_n", width=320)
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
            f"Without {chosen}" if path is not None else f"Without its {n} most looked-at pixels",
        )
        st.markdown(
            f"reads **{after.digit}** ({after.confidence:.0%}); {before.digit}: {after.probabilities[before.digit]:.0%}"
        )
    with columns[2]:
        random_trace = ask("pixel-classifier", trials[0]).traces[0]
        _ink_and_attention(trials[0], random_trace, f"Without {n} ink pixels at random")
        st.markdown(
            f"reads **{before.digit}** in {agreeing} of {RANDOM_TRIALS} draws; {before.digit}: "
            f"{at_random[:, before.digit].mean():.0%} on average"
        )
    with columns[3]:
        st.metric(
            "attention that moved",
            f"{moved:.0%}",
            help="Half the summed change of a row of the weights, averaged over all rows, after this erasure.",
        )
        st.metric("feed-forward weights that moved", "0 %", help="Its parameters are the same for every input.")
        st.caption(f"The feed-forward network now reads {ffn.digit} ({ffn.confidence:.0%}).")


def ask_many(name: str, images: Tensor) -> np.ndarray:
    """Return probabilities (n, 10) of pictures (n, 28, 28)."""
    model = model_or_stop(name)
    with COMPUTE, torch.inference_mode():
        return to_array(model(images.to(next(model.parameters()).device)).logits.softmax(-1))


def _ink_and_attention(image: Tensor, trace: AttentionTrace, title: str) -> None:
    """Draw a picture and below it the attention that each pixel receives."""
    st.markdown(f"**{title}**")
    received = to_array(trace.summary(0, ink_mask(image).flatten()).received).reshape(28, 28)
    glow = picture(received, weights_ramp(trace.n_keys, float(received.max())), title="received", size=140, bar=False)
    with st.container(horizontal=True, gap="small"):
        ink_image(to_array(image), 140, f"{title}: the picture")
        st.altair_chart(glow, width="content", alt=f"{title}: attention received by each pixel")


@st.fragment
def learning_section(image: Tensor, query: int) -> None:
    """Attention being learned: the person's drawing seen by eight moments of the training."""
    section("Attention being learned")
    model = model_or_stop("pixel-classifier")
    try:
        snapshots = load_snapshots("pixel-classifier")
    except WeightsError as error:
        st.info(f"The snapshots of the training are not here. {error}")
        return
    steps = sorted(int(name.split(".")[0]) for name in snapshots if name.endswith(".step"))
    number = st.select_slider(
        "Moment of the training",
        steps,
        value=steps[-1],
        format_func=lambda one: f"batch {int(snapshots[f'{one}.step']):,}",
        key="snapshot",
        persist_state="session",
    )
    with COMPUTE:
        trace = attention_at_snapshot(model, snapshots, number, image)[0]
    summary = trace.summary(0, ink_mask(image).flatten())
    looks_at = to_array(trace.weights(0, [query])[0]).reshape(28, 28)
    received = to_array(summary.received).reshape(28, 28)
    left, middle, right = st.columns([1, 1, 1], gap="large")
    ink = to_array(image)
    with left:
        st.markdown("**The chosen pixel looks at**")
        ramp = weights_ramp(trace.n_keys, float(looks_at.max()))
        chart = picture(looks_at, ramp, title="weight", size=250, marked=query, outline=ink)
        st.altair_chart(chart, width="content", alt="Where the chosen pixel looks at this moment")
    with middle:
        st.markdown("**Received on average, over the ink queries**")
        chart = picture(
            received, weights_ramp(trace.n_keys, float(received.max())), title="weight", size=250, outline=ink
        )
        st.altair_chart(chart, width="content", alt="Attention received at this moment")
    with right:
        st.metric(
            "mean entropy of a row",
            f"{float(summary.entropy.mean()):.1f} bits",
            help="log2(784) = 9.6 bits means looking everywhere alike.",
        )
        st.metric("largest weight", f"{float(summary.largest.max()):.3f}")
        st.caption("From the first batch to the last: the same drawing, the attention parameters of that moment.")
