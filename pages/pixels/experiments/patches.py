"""Why patches instead of pixels? The attention of a vision transformer's class token, layer by layer."""

from typing import NamedTuple

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention_core.attention.wording import percent
from attention_core.charts.overlay import overlay, overlay_strip
from attention_core.inference import digits as core
from attention_core.models.digit_vit import NAME as MODEL
from pages.pixels import first_screen as screen
from pages.pixels.inputs import draw_drawing
from ui.chart import draw_chart
from ui.computed import by_model
from ui.digits import inked
from ui.labels import paragraph
from ui.state import Field, between

PATCH_LAYER = Field(screen.NAME, "patch_layer", 4, address="patch_layer", parse=between(1, 4))
read_patches = by_model(core.read_patches)


class ReadPatches(NamedTuple):
    """What is read in the drawing's patches, and the container beside the pad."""

    patches: core.PatchReading
    ink: np.ndarray  # uint8 (224, 224, 3)
    beside: DeltaGenerator


def draw_input() -> ReadPatches:
    """Draw the pad."""
    reading, beside = draw_drawing()
    ink = inked(reading.drawing.image).repeat(8, 0).repeat(8, 1)
    return ReadPatches(read_patches(MODEL, reading.image), ink, beside)


def answer(read: ReadPatches) -> str:
    """Say what they cost, and what is read."""
    digit, certainty = int(read.patches.probabilities.argmax()), percent(float(read.patches.probabilities.max()))
    return (
        "784 pixels cost 614,656 scores a head, 49 patches and a class token 2,500: a vision "
        f"transformer reads **{digit}** ({certainty})."
    )


def draw(read: ReadPatches) -> None:
    """Draw the attention of the class token through all layers, and in one of them by head."""
    rollout_column, head_column = read.beside.columns([1, 1.8], gap="large")
    with rollout_column:
        title = "Through all layers (rollout)"
        paragraph(title)
        chart = overlay(read.ink, read.patches.rolled, size=224)
        draw_chart(chart, width="content", alt=title)
    with head_column:
        layer = PATCH_LAYER.widget(st.slider, "Layer", 1, len(read.patches.maps))
        maps = read.patches.maps[layer - 1]
        labels = [f"head {head + 1}" for head in range(len(maps))]
        sheet = overlay_strip(read.ink, maps, labels, size=150, columns=3)
        draw_chart(sheet, width="content", alt=f"Layer {layer}, by head")
