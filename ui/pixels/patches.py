"""The same drawing in 49 patches, read by a vision transformer."""

import streamlit as st

from attention_core.charts import contact_sheet, overlay, weights_ramp
from attention_core.models.digit_vit import NAME as MODEL
from attention_core.topics import pixels
from ui.chart import draw_chart
from ui.computed import card_or_empty
from ui.digits import by_model, inked
from ui.pixels.first_screen import NAME, Reading
from ui.skeleton import note, paragraph
from ui.state import Field, between

LAYER_SHOWN = Field(NAME, "patch_layer", 4, address="patch_layer", parse=between(1, 4))
read_patches = by_model(pixels.read_patches)


def patches_section(reading: Reading) -> None:
    """Draw what the class token looks at, layer by layer and through all layers, and what is read."""
    seen, figures = read_patches(MODEL, reading.image), card_or_empty(MODEL)
    st.markdown(
        "**784 pixels cost 614,656 scores a head; 49 patches cost 2,500.** A vision transformer cuts the drawing into "
        "7 × 7 patches. One more token, the *class token*, asks all patches in every layer; the answer is made of what "
        "it has collected."
    )
    n_layers, n_heads = seen.maps.shape[:2]
    through, by_head = st.columns([1, 1.8], gap="large")
    with through:
        paragraph("**Through all layers** (rollout)")
        ink = inked(reading.drawing.image).repeat(8, 0).repeat(8, 1)
        words = "What each patch could have contributed to the answer through all layers"
        draw_chart(overlay(ink, seen.rolled, size=224), width="content", alt=words)
        note("The layers' weights multiplied, residuals counted half: what could have reached the class token.")
    with by_head:
        layer = LAYER_SHOWN.widget(st.slider, "Layer", 1, n_layers)
        maps = seen.maps[layer - 1]
        labels = [f"head {head + 1}" for head in range(n_heads)]
        ramp = weights_ramp(50, float(seen.maps.max()))
        sheet = contact_sheet(maps, labels, ramp, title="weight", columns=3, size=128)
        draw_chart(sheet, width="content", alt=f"What the class token looks at in layer {layer}, by head")
        kept = 1 - float(maps.sum((1, 2)).mean())
        st.caption(f"The class token's row in layer {layer}. The rest, {kept:.0%} on average, it gives to itself.")
    right = f" It is right on {figures['test_accuracy']:.1%} of the test digits." if "test_accuracy" in figures else ""
    st.markdown(f"Patches read **{int(seen.probabilities.argmax())}** ({seen.probabilities.max():.0%}).{right}")
