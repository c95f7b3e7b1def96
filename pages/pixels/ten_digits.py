"""Ten digits at once: the ink that their pixels take, and what is read, as learned and with every weight equal."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import streamlit as st
import torch

from attention_core import UNIFORM
from attention_core.attention.edits import Edits
from attention_core.charts.overlay import image_png
from attention_core.device import to_array
from attention_core.faithfulness.subjects import ink_mask
from pages.pixels import first_screen as screen
from ui.canvas import render_strokes, set_strokes
from ui.chart import picture_address
from ui.component import component
from ui.digits import inked, prepared, read_image
from ui.fragments import with_rerun
from ui.lecture.mode import LECTURE
from ui.state import component_message
from ui.try_this import TryThis

KEY = "pixels_ten"
NOTE, HINT = (
    "A picture shows how much ink its pixels take; with equal weights all take the same.",
    " Click one to see how.",
)
_ten_digits = component("ten_digits", folder="pages/pixels")


def draw_ten_digits() -> None:
    """Draw all ten digits with both weights; a click takes one to the pad."""
    presets = list(screen.PAD.presets)
    learned, equal = ([_read(label, edits) for label in presets] for edits in ((), UNIFORM))

    def on_choose() -> None:
        chosen = component_message(KEY, "chosen") or {}
        digit, is_even = chosen.get("digit"), chosen.get("even")
        if isinstance(digit, int) and 0 <= digit < len(presets):
            set_strokes(screen.PAD, screen.PAD.presets[presets[digit]](), preset=presets[digit])
            screen.IS_EVEN.value = is_even is True

    rows = (("Weights as learned", learned), (f"Every weight {screen.equal_weight()}", equal))
    data = {
        "claim": describe_equal([digit for _, digit in equal]),
        "rows": [{"title": title, "pictures": pictures, "digits": digits} for title, (pictures, digits) in
                 ((title, zip(*row, strict=True)) for title, row in rows)],
        "note": NOTE + HINT * (not LECTURE.value),  # whose first screen has no scene
    }  # fmt: skip
    with st.container(key="pixels_ten_digits"):
        _ten_digits(key=KEY, data=data, default={"chosen": None}, on_chosen_change=with_rerun(on_choose))
        st.caption(screen.worth_text())


def _read(label: str, edits: Edits) -> tuple[str, int]:
    """Return a picture of the ink that each pixel takes in a ready digit, and the digit that is read."""
    canvas = render_strokes(screen.PAD.presets[label](), screen.PAD.size, "light")
    image = torch.from_numpy(prepared(canvas).image)
    answer = read_image(screen.LAYER.value, image, edits)
    mixtures = to_array(screen.ink_of_mixtures(answer.traces[0], ink_mask(image).flatten())).reshape(image.shape)
    return picture_address(image_png(inked(np.abs(mixtures).clip(0, 1)))), answer.digit


def describe_equal(digits: Sequence[int]) -> str:
    """Say what becomes of the ten digits with equal weights, of which these are read."""
    ((common, n),) = Counter(digits).most_common(1)
    exception = next(((drawn, digit) for drawn, digit in enumerate(digits) if digit != common), None)
    text = f"With every weight {screen.equal_weight()}, {n} of these 10 digits become {_article(common)}"
    return f"{text}, and the {exception[0]} {_article(exception[1])}." if exception and n == 9 else f"{text}."


def _article(digit: int) -> str:
    return f"an {digit}" if digit == 8 else f"a {digit}"


def train_without() -> TryThis:
    """Return the page's surprise: how much is read by a network in which no pixel looks at another."""
    learned, control = screen.card_or_empty(screen.LAYER.value).get("test_accuracy", 0.0), screen.control_accuracy()

    def outcome() -> tuple[int, str]:
        if control is None:
            return -1, "Its figures are not here."
        option = 0 if control < 0.3 else 1 if control < 0.8 else 2
        return option, (
            f"{control:.0%}, and with attention {learned:.0%}. For a digit it is enough that each pixel's ink stays in "
            "its place. Equal weights lose the place."
        )

    return TryThis(
        "Train a network in which no pixel looks at another",
        "Another network is trained in which no pixel looks at another. How many of 100 new digits will it read?",
        ("About 10, by luck", "About half", "Nearly as many as with attention"),
        None,
        outcome,
        "pixels_ten_digits",
        subject=screen.LAYER.value,
    )
