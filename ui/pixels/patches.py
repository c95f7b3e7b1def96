"""The same drawing in 49 patches, read by a vision transformer."""

import streamlit as st

from attention_core.charts import overlay, overlay_strip
from attention_core.models.digit_vit import NAME as MODEL
from attention_core.topics import pixels
from ui.chart import draw_chart
from ui.computed import by_model
from ui.digits import inked
from ui.glossary import note
from ui.pixels.first_screen import NAME, Reading
from ui.state import Field, between

LAYER_SHOWN = Field(NAME, "patch_layer", 4, address="patch_layer", parse=between(1, 4))
read_patches = by_model(pixels.read_patches)


def patches_section(reading: Reading) -> None:
    """Draw what the class token looks at, layer by layer and through all layers, and what is read."""
    seen = read_patches(MODEL, reading.image)
    st.markdown(
        "**784 pixels cost 614,656 scores a head, 49 patches 2,500.** From what a *class token* has collected from all "
        f"patches, a vision transformer reads **{int(seen.probabilities.argmax())}** ({seen.probabilities.max():.0%})."
    )
    ink = inked(reading.drawing.image).repeat(8, 0).repeat(8, 1)
    through, by_head = st.columns([1, 1.8], gap="large")
    with through:
        st.markdown("**Through all layers**")
        draw_chart(overlay(ink, seen.rolled, size=224), width="content", alt="Patches through all layers")
        note("Rollout: what could have reached the class token.")
    with by_head:
        layer = LAYER_SHOWN.widget(st.slider, "Layer", 1, len(seen.maps))
        maps = seen.maps[layer - 1]
        labels = [f"head {head + 1}" for head in range(len(maps))]
        sheet = overlay_strip(ink, maps, labels, size=150, columns=3)
        draw_chart(sheet, width="content", alt=f"Patches in layer {layer}, by head")
