"""The first screen: the drawing, the picture that it becomes, and the attention layers that can be looked at."""

from typing import NamedTuple

import numpy as np
import streamlit as st
from torch import Tensor

from attention_core.attention.edits import UNIFORM
from attention_core.attention.trace import AttentionTrace
from attention_core.charts import Ramp, signed_ramp, weights_ramp
from attention_core.data.drawing import CanvasRemark, Drawing
from attention_core.explain.faithfulness import ink_mask
from attention_core.topics.pixels import Answer
from ui.canvas import Pad, digit_presets
from ui.digits import digit_bars, ink_image, read_image
from ui.player import Stepper
from ui.state import Field, one_of

NAME = "pixels"
PAD = Pad(NAME, digit_presets(), first="7")
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


GUIDED, PLAIN, INK_ONLY, NO_SOFTMAX = "pixel-classifier", "pixel-notes", "pixel-notes-ink", "pixel-notes-product"
LAYERS = {
    GUIDED: "with a head start",
    PLAIN: "plain: ink and position",
    INK_ONLY: "plain: ink only",
    NO_SOFTMAX: "plain, without softmax",
}
LAYER = Field(NAME, "layer", GUIDED, address="layer", parse=one_of(LAYERS))


class LayerNote(NamedTuple):
    value: str  # what a pixel hands over
    here: str  # the same in the page's own words, one sentence
    start: str  # what the layer was given before it had learned anything
    try_this: str  # an action and its surprise, HTML
    done_in: str = ""  # the tab in which that is seen, if opening it is all


OF_PLAIN = LayerNote(
    "its ink and its position, projected",
    "Here every pixel asks all 784, and each hands over its ink and its position.",
    "Nothing was given: the ink's vector, the 784 positions and the three projections were random.",
    "Open <i>How it was learned</i>: without any attention the network on top reads almost as well.",
    "learned",
)
ABOUT = {
    GUIDED: LayerNote(
        "only the pixel's position. The drawing can influence the answer only through the weights",
        "Here every pixel asks all 784, and each hands over its position.",
        "Much was given: before the first batch its scores already prefer near pixels and ink, and its values hold no "
        "ink, so that nothing can pass the attention by.",
        "Open <i>Try: erase ink</i>, drag <i>Ink pixels</i> to 60: two thirds of the ink is gone, yet it reads 7.",
    ),
    PLAIN: OF_PLAIN,
    INK_ONLY: LayerNote(
        "its ink alone",
        "Here every pixel asks all 784, and nobody knows where it stands: a pixel is its ink and nothing else.",
        "Nothing was given: the ink's vector and the three projections were random.",
        "Open <i>What Q and K say</i>: the whole matrix of scores is your drawing times itself, times one number.",
        "parts",
    ),
    NO_SOFTMAX: OF_PLAIN._replace(
        here="Here the scores themselves, Q Kᵀ divided by 784, weigh the values: no softmax, and a weight may be "
        "negative.",
        try_this="Open <i>One pixel</i>: without softmax a pixel also takes away what others hand over.",
        done_in="pixel",
    ),
}


def answers(image: Tensor) -> Answer:
    """Draw what two models read, and what is left without attention; return the chosen layer's answer."""
    name = LAYER.value
    attention, ffn = read_image(name, image), read_image("ffn-classifier", image)
    probabilities = {"self-attention": attention.probabilities, "feed-forward, no attention": ffn.probabilities}
    digit_bars(probabilities, 215, "by both models", on=st.container(key="pixels_answer"))
    st.markdown(
        f"Attention reads **{attention.digit}** ({attention.confidence:.0%}), "
        f"the feed-forward network **{ffn.digit}** ({ffn.confidence:.0%})."
    )
    blind = read_image(name, image, UNIFORM, trace=False)
    alike = "1/784" if attention.traces[0].has_softmax else "0"
    became = "without attention the answer is lost"
    if blind.digit == attention.digit:
        became = "for this drawing it does not need to choose where to look"
    elif name != GUIDED:
        became = "the network on top then reads the same vector 784 times, which it never met in training"
    st.caption(
        f"With every weight set to {alike} the same attention network would read {blind.digit} "
        f"({blind.confidence:.0%}): {became}."
    )
    return attention


def received(trace: AttentionTrace, image: Tensor) -> Tensor:
    """Return how much each pixel is looked at by the ink queries on average, (28, 28)."""
    return trace.summary(0, ink_mask(image).flatten()).received.reshape(image.shape).cpu()


def ramp_of(trace: AttentionTrace, *values: np.ndarray) -> Ramp:
    """Return the colours of a trace's weights, one scale for all of these: without softmax they have signs."""
    if trace.has_softmax:
        return weights_ramp(trace.n_keys, float(max(one.max() for one in values)))
    return signed_ramp(np.concatenate([one.ravel() for one in values]))
