"""Words as a picture: running text, each word shaded by a number; or the weights between two sentences."""

import unicodedata
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from attention_core.attention.types import Axis, Role
from attention_core.charts import layers
from attention_core.charts.chart import Chart, compiled
from attention_core.charts.columns import rectangles
from attention_core.charts.layers import FILL, QUIET, Bar, named
from attention_core.charts.matrix import matrix_chart
from attention_core.charts.ramps import DARK_COLOUR, Ramp, mix_with_white

LETTERS = {
    191: "'", 222: "ijl", 260: "|", 278: " !,./:;I[\\]ft", 333: "()-`r", 334: "{}", 355: '"', 389: "*", 469: "^",
    500: "Jcksvxyz", 584: "+<=>~", 611: "FTZ", 667: "&ABEKPSVXY", 722: "CDHNRUw", 778: "GOQ", 833: "Mm", 889: "%",
    944: "W", 1015: "@",
}  # fmt: skip
WIDTHS = {letter: width for width, letters in LETTERS.items() for letter in letters}
"""Thousandths of its size that a letter takes up in Helvetica, and in whatever was made to fit in its place."""
DEFAULT_WIDTH, WIDE = 556, 1000  # letters beyond these, and those of scripts that are written in squares
SIZE, PAD, LINE, WIDTH = 14, 4, 26, 640
"""Screen pixels: letters, room beside a word in its box, from one line to the next, of running text."""
STRONGEST = 0.8  # how much of its colour the strongest shade has; the rest is paper, so that words stay readable


def text_width(text: str) -> float:
    """Return how many screen pixels a text is long in letters of SIZE."""
    letters = [letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter)]
    defaults = [WIDE if unicodedata.east_asian_width(letter) in "WF" else DEFAULT_WIDTH for letter in letters]
    return SIZE * sum(map(WIDTHS.get, letters, defaults)) / 1000


def shaded_words(
    words: Sequence[str],
    shades: Sequence[float],
    colours: Sequence[str],
    *,
    bar: tuple[Ramp, str] | None = None,
    glued: Sequence[bool] = (),
    chosen: int | None = None,
) -> Chart:
    """Draw words as running text, each shaded by one number, 0 to 1, in its colour.

    The bar is the ramp of a colour bar below, and its title, where the shades have a common scale. A glued word follows
    the one before without a gap; the chosen word is framed.
    """
    left, top, lefts, tops = 1.0, 1.0, [], []
    lengths = [text_width(text) + 2 * PAD for text in words]
    for position, (text, length) in enumerate(zip(words, lengths, strict=True)):
        left += 0 if left == 1 or (glued and glued[position]) else 2
        if left > 1 and left + length > WIDTH:
            left, top = 1.0, top + LINE
        lefts.append(left)
        tops.append(top)
        left, top = (1.0, top + LINE) if text.endswith("↵") else (left + length, top)
    fills = [mix_with_white(colour, STRONGEST * shade) for colour, shade in zip(colours, shades, strict=True)]
    boxes = rectangles(lefts, tops, lengths, LINE - 4, text=list(words), fill=fills)
    high, wide = int(boxes["bottom"].max(initial=LINE)) + 2, max(WIDTH, int(boxes["right"].max(initial=0)) + 2)
    middles = {"left": boxes["left"] + np.array(lengths) / 2, "top": boxes["top"] + LINE / 2 - 2, "text": boxes["text"]}
    data = {"boxes": boxes, "middles": middles}
    if is_framed := chosen is not None and chosen < len(words):
        data["chosen"] = {side: boxes[side][[chosen]] for side in ("left", "right", "top", "bottom")}
    if bar:
        data["bar"] = layers.bar_data(bar[0])
    return Chart(_shaded_words(Bar.of(*bar, 200) if bar else None, is_framed, wide, high), data)


@compiled
def _shaded_words(bar: Bar | None, is_framed: bool, width: int, height: int) -> alt.LayerChart:
    space = layers.corners(width, height)
    drawing = [
        named("boxes").mark_rect(**QUIET, cornerRadius=3).encode(**space, color=FILL),
        layers.texts("middles", space, fontSize=SIZE, color=DARK_COLOUR, baseline="middle"),
    ]
    if is_framed:
        drawing.append(layers.outlined("chosen", space, 2, cornerRadius=3))
    if bar:
        drawing.append(layers.bar_layer(bar))
    return layers.fixed_size(drawing, width, height)


def shade_ramp(colour: str, high: float, exponent: float = 1.0) -> Ramp:
    """Return the ramp from paper to a colour's strongest shade, for numbers from 0."""
    return Ramp((mix_with_white(colour, 0), mix_with_white(colour, STRONGEST)), 0.0, high, exponent)


def word_weights(source: Sequence[str], target: Sequence[str], weights: Any, row: int, single: str) -> Chart:
    """Draw weights (n_target, n_source), or (n_target, 1) of what is `single`, with one row framed, -1 = none."""
    keys, marked = Axis("source words", [single] if single else source), row if row >= 0 else None
    axes = Axis("target words", target), keys
    return matrix_chart(np.asarray(weights), *axes, Role.WEIGHTS, title="weight", marked_row=marked)
