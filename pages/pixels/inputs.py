"""What one changes in an experiment of the page: the drawing, and the attention layer."""

from typing import NamedTuple

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.pixels import first_screen as screen
from ui.canvas import columns_beside_pad, draw_pad
from ui.digits import inked
from ui.player import export_bar
from ui.take_along import take_along


class ReadPad(NamedTuple):
    """What the chosen layer reads on the pad, and the container beside the pad."""

    reading: screen.Reading
    beside: DeltaGenerator

    @property
    def ink(self) -> np.ndarray:
        """The drawing, (28, 28)."""
        return self.reading.drawing.image


def draw_drawing() -> ReadPad:
    """Draw the pad and the choice of the layer; return what is read."""
    pad_column, beside = columns_beside_pad()
    with pad_column:
        reading, _, remark = screen.read_pad(draw_pad(screen.PAD))
        if remark:
            st.info(remark)
        screen.choose_layer()
    take_along(lambda: export_reading(reading))
    return ReadPad(reading, beside)


def export_reading(reading: screen.Reading) -> None:
    """Offer the attention of all pixels, over the drawing."""
    export_bar(reading.trace, screen.NAME, query=reading.query, picture=inked(reading.drawing.image))
