"""The first screen: the drawing, and the picture that it becomes."""

import streamlit as st

from attention_core.data.drawing import CanvasRemark, Drawing
from ui.canvas import Pad, digit_presets
from ui.digits import ink_image, query_field
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
