"""Does V stay close to X? How much of a pixel's vector can be read back from its query, key and value."""

import numpy as np
import torch

from attention_core.attention.wording import percent
from attention_core.data.presets import preset_canvas
from attention_core.inference import pixel_readout as readout
from pages.pixels import first_screen as screen
from pages.pixels.inputs import ReadPad, draw_drawing
from ui.computed import by_model
from ui.digits import prepared
from ui.layout import figures_table

CLOSE_R2 = 0.9  # R² above which a projection is close to what it projects
SAME_INK = 0.01  # mean difference of the ink below which two drawings are one
_compute_readouts = by_model(readout.compute_readouts)
draw_input = draw_drawing


def answer(pad: ReadPad) -> str:
    """Say how much of X can be read back from V."""
    value = _readouts(pad)["V"]
    return (
        f"**{'Yes' if value.token > CLOSE_R2 else 'No'}**: V gives back {percent(value.token)} of a pixel's vector X; "
        f"at best, {value.width} numbers would give {percent(value.best)}."
    )


def draw(pad: ReadPad) -> None:
    """Draw the same of Q, K and V as a table."""
    with pad.beside:
        figures_table(
            ("", "numbers", "give back (R²)", "at best", "ink"),
            *(
                (letter, str(of_letter.width), *map(percent, (of_letter.token, of_letter.best, of_letter.ink)))
                for letter, of_letter in _readouts(pad).items()
            ),
        )


def _readouts(pad: ReadPad) -> dict[str, readout.Readout]:
    presets = (prepared(preset_canvas(digit)).image for digit in range(10))
    different = (preset for preset in presets if np.abs(preset - pad.ink).mean() > SAME_INK)
    return _compute_readouts(screen.LAYER.value, pad.reading.image, list(map(torch.from_numpy, different)))
