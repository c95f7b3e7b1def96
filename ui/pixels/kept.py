"""Does V stay close to X? What can be read back out of the query, the key and the value of the drawing's pixels."""

import numpy as np
import streamlit as st
import torch

from attention_core.data.presets import preset_canvas
from attention_core.topics.pixels.readout import read_back
from ui.computed import by_model
from ui.digits import prepared
from ui.layout import figures_table
from ui.pixels.first_screen import LAYER, Reading

CLOSE = 0.9  # R² above which a projection is close to what it projects
ALIKE = 0.01  # mean difference of the ink below which two drawings are one
_read_back = by_model(read_back)


def kept_section(reading: Reading) -> None:
    """Draw what Q, K and V of the chosen layer keep of X, and the answer."""
    drawings = (prepared(preset_canvas(digit)).image for digit in range(10))
    others = [torch.from_numpy(one) for one in drawings if np.abs(one - reading.drawing.image).mean() > ALIKE]
    kept = _read_back(LAYER.value, reading.image, others)
    value = kept["V"]
    words, table = st.columns([1, 1.2], gap="large", vertical_alignment="center")
    with words:
        st.markdown(
            f"**{'Yes' if value.token > CLOSE else 'No'}**: {value.token:.0%} of a pixel's vector X can be read back "
            f"from V. At best, {value.width} numbers would give {value.most:.0%}."
        )
        st.caption("R² of a linear reading, fitted on other drawings.")
    with table:
        figures_table(
            ("", "numbers", "give back", "at best", "ink"),
            *(
                (letter, str(one.width), *(f"{share:.0%}" for share in (one.token, one.most, one.ink)))
                for letter, one in kept.items()
            ),
        )
