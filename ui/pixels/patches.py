"""784 pixels or 49 patches: where the class token of a small vision transformer looks in the same drawing."""

from typing import NamedTuple

import numpy as np
import streamlit as st
from torch import Tensor

from attention_core.charts import contact_sheet, overlay, probability_bars, weights_ramp
from attention_core.device import device_of, to_array
from attention_core.models.digit_vit import NAME as MODEL
from attention_core.topics.pixels.patches import class_maps, class_rollout
from ui.chart import draw_chart
from ui.computed import card_or_empty, computed, model_or_stop
from ui.digits import ask, inked
from ui.layout import section
from ui.pixels.drawing import LAYER, NAME
from ui.skeleton import note, say
from ui.state import Field, between

LAYER_SHOWN = Field(NAME, "patch_layer", 4, address="patch_layer", parse=between(1, 4))


class PatchReading(NamedTuple):
    probabilities: np.ndarray  # (10,)
    maps: np.ndarray  # (n_layers, n_heads, 7, 7), what the class token pays to each patch
    rolled: np.ndarray  # (7, 7), what each patch could have contributed to it through all layers


def patches_section(image: Tensor) -> None:
    """Draw what the class token looks at, layer by layer and through all layers, beside the answer."""
    seen, pixels = read_patches(image), ask(LAYER.value, image)
    figures = card_or_empty(MODEL)
    ink = inked(to_array(image)).repeat(8, 0).repeat(8, 1)
    st.markdown(
        "**784 pixels would cost 614,656 scores a head; 49 patches cost 2,500.** A vision transformer cuts the drawing "
        "into 7 × 7 patches of 4 × 4 pixels. One more token, the *class token*, asks all patches in every layer; what "
        "it has collected in the end is the answer."
    )
    n_layers, n_heads = seen.maps.shape[:2]
    through, by_head, answer = st.columns([1, 1.5, 1.1], gap="medium")
    with through:
        say("**Through all layers** (rollout)")
        chart = overlay(ink, seen.rolled, size=224)
        words = "What each patch could have contributed to the answer through all layers"
        draw_chart(chart, width="content", alt=words)
        note("The layers' weights multiplied, residuals counted half: what could have reached the class token.")
    with by_head:
        layer = LAYER_SHOWN.widget(st.slider, "Layer", 1, n_layers, help="Each has a class token's row.")
        maps = seen.maps[layer - 1]
        st.markdown(f"**The class token's row in layer {layer}**, head by head")
        ramp = weights_ramp(50, float(seen.maps.max()))
        sheet = contact_sheet(
            maps, [f"head {head + 1}" for head in range(n_heads)], ramp, title="weight", columns=3, size=104
        )
        draw_chart(sheet, width="content", alt=f"What the class token looks at in layer {layer}, by head")
        kept = 1 - float(maps.sum((1, 2)).mean())
        st.caption(f"The rest, {kept:.0%} of its weight on average, the class token gives to itself.")
    with answer:
        section("Answer")
        probabilities = {"49 patches": seen.probabilities, "784 pixels": pixels.probabilities}
        draw_chart(
            probability_bars(probabilities, [str(digit) for digit in range(10)], height=190),
            alt="Probabilities of the ten digits by patches and by pixels",
        )
        digit = int(seen.probabilities.argmax())
        st.markdown(f"Patches read **{digit}** ({seen.probabilities.max():.0%}).")
        if "test_accuracy" in figures:
            st.caption(
                f"On test digits patches are right in {figures['test_accuracy']:.1%}, on digits of a pen in "
                f"{figures['held_out_stroke_accuracy']:.1%}."
            )


@computed(by_model=True)
def read_patches(image: Tensor) -> PatchReading:
    model = model_or_stop(MODEL)
    traces = model.traces(image)
    probabilities = model(image[None].to(device_of(model))).logits[0].softmax(-1)
    return PatchReading(to_array(probabilities), to_array(class_maps(traces)), to_array(class_rollout(traces)))
