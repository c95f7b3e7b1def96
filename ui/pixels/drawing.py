"""The first screen: the drawing, the picture that it becomes, what is read in it."""

from __future__ import annotations

import streamlit as st
from torch import Tensor

from attention_core.attention.interventions import UNIFORM
from attention_core.charts import probability_bars
from attention_core.data.drawing import CanvasRemark, Drawing
from ui.canvas import Pad, digit_presets
from ui.chart import draw_chart
from ui.digits import Answer, ask, ink_image, query_field
from ui.stepper import Stepper

NAME = "pixels"
PAD = Pad(NAME, digit_presets(), first="7")
QUERY = query_field(NAME)
STEPS = Stepper(NAME)
REMARKS = {
    CanvasRemark.EMPTY: "Draw a digit on the pad, anywhere and in any size, or take one of the ten below it.",
    CanvasRemark.DOT: "That is a dot. Keep drawing: a digit needs a stroke or two.",
    CanvasRemark.SEVERAL: (
        "This looks like several digits side by side. The models read one, and take all ink as part of it."
    ),
}


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


def answers(image: Tensor) -> Answer:
    """Draw what both models read, and what is left without attention; return the attention model's answer."""
    attention, ffn = ask("pixel-classifier", image), ask("ffn-classifier", image)
    blind = ask("pixel-classifier", image, UNIFORM, trace=False)
    probabilities = {"self-attention": attention.probabilities, "feed-forward, no attention": ffn.probabilities}
    draw_chart(
        probability_bars(probabilities, [str(digit) for digit in range(10)], height=215),
        alt="Probabilities of the ten digits by both models",
        on=st.container(key="pixels_answer"),
    )
    st.markdown(
        f"Attention reads **{attention.digit}** ({attention.confidence:.0%}), "
        f"the feed-forward network **{ffn.digit}** ({ffn.confidence:.0%})."
    )
    st.caption(
        f"With every weight set to 1/784 the same attention network would read {blind.digit} "
        f"({blind.confidence:.0%}): without attention the answer is lost."
    )
    return attention
