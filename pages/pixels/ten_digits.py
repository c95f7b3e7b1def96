"""Ten digits at once: as drawn, and the ink that their pixels take as learned and with every weight equal."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st
import torch

from attention_core import UNIFORM
from attention_core.attention.edits import Edits
from attention_core.attention.wording import percent
from attention_core.charts.overlay import image_png
from attention_core.device import to_array
from attention_core.faithfulness.subjects import ink_mask
from attention_core.inference.digits import ask_many
from pages.pixels import first_screen as screen
from ui.canvas import render_strokes, set_strokes
from ui.chart import picture_address
from ui.component import component
from ui.computed import by_model
from ui.digits import inked, prepared, read_image
from ui.fragments import with_rerun
from ui.lecture.mode import LECTURE
from ui.state import component_message
from ui.try_this import TryThis, is_answered, is_guessing

KEY = "pixels_ten"
HINT = "Click a digit to see how."
LESSON = "Attention learned to keep the drawing; it pays in “Ask a photograph”."
TRACED, N_SOURCES = "7", 2
"""The digit of which one pixel's mixture is traced to the pixels that it takes most from."""
_read_many = by_model(ask_many)
_ten_digits = component("ten_digits", folder="pages/pixels")


def draw_ten_digits() -> None:
    """Draw all ten digits, and with both weights; a click takes one to the pad."""
    presets = list(screen.PAD.presets)
    learned, equal = ([_read(label, edits) for label in presets] for edits in ((), UNIFORM))

    def on_choose() -> None:
        chosen = component_message(KEY, "chosen") or {}
        digit, is_even = chosen.get("digit"), chosen.get("even")
        if isinstance(digit, int) and 0 <= digit < len(presets):
            set_strokes(screen.PAD, screen.PAD.presets[presets[digit]](), preset=presets[digit])
            screen.IS_EVEN.value = is_even is True

    card, alone = screen.card_or_empty(screen.LAYER.value), screen.control_accuracy()
    shares = [card.get("test_accuracy"), card.get("test_accuracy_with_uniform_attention"), alone]
    shares = shares if None not in shares else [None] * 3  # one measure for all rows
    has_control, is_guess = is_answered(screen.NAME) and alone is not None, is_guessing(screen.NAME)
    traced = None if has_control else _trace_pixel()
    drawn = [(_picture(to_array(_image(label))), None) for label in presets]
    rows = [
        _row("Drawn, and read by a network in which no pixel looks at another", _read_alone(presets), shares[2])
        if has_control
        else _row("Drawn", drawn, None),
        _row("Mixed by learned weights", learned, shares[0]) | {"note": traced["note"] if traced else ""},
        _row(f"Mixed with every weight {screen.equal_weight()}", equal, shares[1])
        | {"even": True, "note": "" if has_control or is_guess else _from_start()},
    ]
    data = {
        "claim": LESSON if has_control else "" if is_guess else _describe_equal(equal),
        "rows": rows,
        "hint": "" if LECTURE.value else HINT,  # a lecture's first screen has no scene
        "plays": not (has_control or is_guess),
        "traced": traced,
    }
    with st.container(key="pixels_ten_digits"):
        _ten_digits(key=KEY, data=data, default={"chosen": None}, on_chosen_change=with_rerun(on_choose))


def _row(title: str, digits: Sequence[tuple[str, int | None]], accuracy: float | None) -> dict[str, Any]:
    """Return what ten_digits.js draws as a row, from a picture of each digit, what is read, and how often rightly."""
    figure = "" if accuracy is None else f"{accuracy:.0%} of 10,000 new digits read"
    pictures, read = zip(*digits, strict=True)
    return {"title": title, "pictures": pictures, "digits": read, "figure": figure}


def _from_start() -> str:
    """Say how much a network reads that was trained with equal weights, of the layer that is like it."""
    share = screen.card_or_empty(screen.EQUAL_FROM_START).get("test_accuracy")
    return (
        f"Even trained on such greys, a network reads {share:.0%}."
        if share and screen.LAYER.value == screen.PLAIN
        else ""
    )


def _trace_pixel() -> dict[str, Any] | None:
    """Return a pixel of one of the digits, and those from which it takes most, with their weights."""
    image = _image(TRACED)
    trace, pixel = read_image(screen.LAYER.value, image, ()).traces[0], screen.central_pixel(to_array(image))
    if not trace.has_softmax:
        return None
    weights, pixels = trace.weights(0, [pixel])[0].topk(N_SOURCES)
    sources = [(source, percent(weight)) for source, weight in zip(pixels.tolist(), weights.tolist(), strict=True)]
    takes = f"one pixel takes; {trace.n_keys - N_SOURCES} others {percent(1 - float(weights.sum()))}"
    return {"digit": int(TRACED), "pixel": pixel, "sources": sources, "note": takes}


def _image(label: str) -> torch.Tensor:
    """Return a ready digit as the networks see it, (28, 28)."""
    return torch.from_numpy(prepared(render_strokes(screen.PAD.presets[label](), screen.PAD.size, "light")).image)


def _read_alone(presets: Sequence[str]) -> list[tuple[str, int]]:
    """Return the ready digits as they are drawn, and what the control reads in them."""
    images = torch.stack([_image(label) for label in presets])
    read = _read_many(screen.control(), images).argmax(1).tolist()
    return [(_picture(image), digit) for image, digit in zip(to_array(images), read, strict=True)]


def _picture(ink: np.ndarray) -> str:
    return picture_address(image_png(inked(ink)))


def _read(label: str, edits: Edits) -> tuple[str, int]:
    """Return a picture of the ink that each pixel takes in a ready digit, and the digit that is read."""
    image = _image(label)
    answer = read_image(screen.LAYER.value, image, edits)
    mixtures = to_array(screen.ink_of_mixtures(answer.traces[0], ink_mask(image).flatten())).reshape(image.shape)
    return _picture(np.abs(mixtures).clip(0, 1)), answer.digit


def _describe_equal(equal: Sequence[tuple[str, int]]) -> str:
    """Say what becomes of the ten digits with equal weights."""
    digits = [digit for _, digit in equal]
    ((common, n),) = Counter(digits).most_common(1)
    exception = next(((drawn, digit) for drawn, digit in enumerate(digits) if digit != common), None)
    text = f"With every weight {screen.equal_weight()}, {n} of these 10 digits are read as {_article(common)}"
    return f"{text}, and the {exception[0]} as {_article(exception[1])}." if exception and n == 9 else f"{text}."


def _article(digit: int) -> str:
    return f"an {digit}" if digit == 8 else f"a {digit}"


def train_without() -> TryThis:
    """Return the page's surprise: how much is read by a network in which no pixel looks at another."""
    learned, control = screen.card_or_empty(screen.LAYER.value).get("test_accuracy", 0.0), screen.control_accuracy()

    def outcome() -> tuple[int, str]:
        if control is None:
            return -1, "Its figures are not here."
        option = 0 if control < 0.3 else 1 if control < 0.8 else 2
        return option, f"{control:.0%}, with attention {learned:.0%}: here attention buys nothing."

    return TryThis(
        "let no pixel look at another",
        "Another network is trained in which no pixel looks at another. How many of 100 new digits will it read?",
        ("About 10, by luck", "About half", "Just as many as with attention"),
        None,
        outcome,
        "pixels_ten_digits",
        subject=screen.LAYER.value,
    )
