"""Alignments, and many states in, one vector out: drawn to scale, and what laying them end to end would have cost."""

from collections.abc import Callable, Sequence

import numpy as np

from attention_core.attention.types import Axis, Role
from attention_core.charts.design import (
    FILL,
    ROLE_COLOURS,
    VIRIDIS,
    Chart,
    Ramp,
    alt,
    corners,
    fixed,
    from_to,
    images,
    long_form,
    mark,
    rectangles,
    series_colour,
    signed_ramp,
    texts,
    weights_ramp,
    word,
    wrapping,
)
from attention_core.charts.heatmap import matrix_chart, png_url

QUERY_TITLE = "French word being written (query)"
KEY_TITLE = "keys: the encoder's state at"
ROW = 13  # screen pixels of one vector
WAYS = ("attention: one vector", "all states end to end")


def alignment_chart(
    weights: np.ndarray,
    target: Sequence[str],
    keys: Sequence[str],
    *,
    size: int = 420,
    marked: int | None = None,
    key_title: str = KEY_TITLE,
) -> Chart:
    """Draw an alignment, (n_target, n_keys); all have the same colours from 0 to 1, so that any two can be compared.

    Source: Bahdanau et al. 2015, figure 3.
    """
    ramp = weights_ramp(len(keys)) if len(keys) > 1 else Ramp(VIRIDIS, 0.0, 1.0)
    axes = Axis(QUERY_TITLE, list(target)), Axis(key_title, list(keys))
    return matrix_chart(
        weights, *axes, Role.WEIGHTS, title="weight", size=size, marked_row=marked, ramp=ramp, hover_rows=True
    )


def collapse_chart(
    words: Sequence[str],
    states: np.ndarray,
    weights: np.ndarray,
    context: np.ndarray,
    *,
    width: int = 520,
    multiplied: bool = False,
) -> Chart:
    """Draw n states (n, d) as rows, the weight of each beside it, and below them the one vector that became of them.

    The weights (n,) sum to 1, the context is (d,), and there is a word per state; a vector is so wide on the screen.
    States that are multiplied by their weights already come with the shares that they have in the context instead.
    """
    n, ramp = len(words), signed_ramp(states)
    below = n + 2
    urls = [png_url(rows, ramp) for rows in (states, context[None])]
    bar_room = 0.22 * width
    shares = np.array(weights, dtype=float)
    reach = bar_room * shares / max(1.0, float(shares.max() - shares.min(initial=0)))
    zero = width + 8.0 - min(0.0, float(reach.min()))
    tops, long = np.arange(n) + 0.15, np.maximum(1.0, np.abs(reach))
    bars = rectangles(zero + np.minimum(0, reach), tops, long, 0.7, word=list(words), weight=shares)
    x = alt.X("left:Q", axis=None, scale=from_to(-86, width + 16 + bar_room))
    space = corners(width, below + 1, x=x)
    result, colours = ROLE_COLOURS[Role.CONTEXT], [ROLE_COLOURS[Role.KEY]] * n
    names = rectangles(-6.0, [*np.arange(n) + 0.5, below + 0.5], text=[*words, "context"], fill=[*colours, result])
    told = ("word:N", "encoder's state at"), ("weight:Q", "of the context" if multiplied else "", ".1%")
    look: dict = {"fontSize": 11, "baseline": "middle"}
    sum_of = f"{'sum' if multiplied else 'weighted sum'} of {n}  ↓"
    layers = [
        images(rectangles(0.0, [0.0, below], width, [n, 1], url=urls), space),
        mark("rect", bars, space, *told, color=ROLE_COLOURS[Role.CONTEXT if multiplied else Role.WEIGHTS]),
        texts(names, space, color=FILL, align="right", limit=78, **look),
        word(sum_of, width / 2, n + 1.0, space, color=result, **look),
    ]
    return fixed(layers, round(width + 102 + bar_room), ROW * (below + 1))


def cost_chart(attention: Callable[[int], int], concatenation: Callable[[int], int], most: int, chosen: int) -> Chart:
    """Draw how many numbers are handed over for 1 to `most` states, with the chosen number of states marked.

    Attention and concatenation say how many for n states.
    """
    counts = zip(WAYS, (attention, concatenation), strict=True)
    series = {name: [count(n + 1) for n in range(most)] for name, count in counts}
    here = {name: numbers[chosen - 1 : chosen] for name, numbers in series.items()}
    colours = ROLE_COLOURS[Role.CONTEXT], ROLE_COLOURS[Role.KEY]
    fields = "way", "n", "numbers"
    space = {
        "x": alt.X("n:Q", title="states n", scale=from_to(1, most)),
        "y": alt.Y("numbers:Q", title="numbers handed over", axis=alt.Axis(format="~s", tickCount=4)),
        "color": series_colour("way", WAYS, colours, labelLimit=240, columns=wrapping(WAYS)),
    }
    told = "way:N", "n:Q", ("numbers:Q", "", ",")
    return alt.layer(
        mark("line", long_form(fields, series, range(1, most + 1)), space, strokeWidth=2.5, aria=True),
        mark("point", long_form(fields, here, [chosen]), space, *told, size=70, filled=True, opacity=1),
        height=230,
    )
