"""What the cache of a language model keeps."""

import json
from collections.abc import Sequence

import numpy as np

from attention_core.attention.types import Role
from attention_core.charts.design import Chart, Columns, alt
from attention_core.charts.layers import corners, fixed, rectangles
from attention_core.charts.marks import haloed, images, mouse_cells
from attention_core.charts.palette import ROLE_COLOURS, VIRIDIS, Ramp
from attention_core.charts.raster import png_url
from attention_core.charts.scale import colour_bar_layer, from_to

MOST_TOOLTIPS = 4000  # cells beyond which an image answers the mouse no more


def kept_chart(
    lengths: np.ndarray,
    n_key_heads: Sequence[int],
    tokens: Sequence[str],
    *,
    role: Role,
    width: int = 560,
    height: int = 300,
) -> Chart:
    """Draw what a cache keeps: a column per token, a row per layer and key head, the newest column framed.

    Lengths are those of the kept vectors, (n_layers * n_key_heads, n_tokens), NaN = forgotten, a grey cell; the
    number of key heads is that of each layer, and the role, key or value, decides the frame's colour.
    """
    n_rows, n_cols = lengths.shape
    ramp = Ramp(VIRIDIS, 0.0, float(np.nanmax(lengths, initial=1e-6)))
    tops = np.concatenate([[0], np.cumsum(n_key_heads)[:-1]]).astype(int)
    names = {int(top): f"layer {layer + 1}" for layer, top in enumerate(tops)}
    every = -(-len(tops) // max(1, height // 16))
    labels = {str(col): token for col, token in enumerate(tokens)}
    step = -(-n_cols // max(1, width // 26))
    columns = {"values": [col + 0.5 for col in range(0, n_cols, step)], "labelAngle": -45, "labelLimit": 70}
    columns["labelExpr"] = f"{json.dumps(labels)}[floor(datum.value)]"
    rows = {"values": tops[::every].tolist(), "labelBaseline": "top", "tickSize": 4}
    rows["labelExpr"] = f"{json.dumps(names)}[datum.value]"
    x_axis = alt.Axis(labelOverlap=False, grid=False, ticks=False, domain=False, **columns)
    y_axis = alt.Axis(grid=False, domain=False, **rows)
    x = alt.X("left:Q", title="tokens so far", scale=from_to(0, n_cols), axis=x_axis)
    y = alt.Y("top:Q", title=None, scale=from_to(n_rows, 0), axis=y_axis)
    space = corners(n_cols, n_rows, x=x, y=y)
    layers = [
        colour_bar_layer(ramp, f"length of the kept {role.value}", min(width, 220)),
        images(rectangles(0, 0, n_cols, n_rows, url=png_url(lengths, ramp)), space),
        *haloed(rectangles(n_cols - 1, 0, 1, n_rows), space, (5, 3), ROLE_COLOURS[role]),
    ]
    if lengths.size <= MOST_TOOLTIPS:
        place, length = ("where:N", "kept in"), ("length:N", f"length of the {role.value}")
        layers.append(mouse_cells(_cells(lengths, n_key_heads, tokens), space, "token:N", place, length))
    return fixed(layers, width, height)


def _cells(lengths: np.ndarray, n_key_heads: Sequence[int], tokens: Sequence[str]) -> Columns:
    rows, cols = np.indices(lengths.shape).reshape(2, -1)
    heads = [f"layer {layer + 1}, key head {head + 1}" for layer, n in enumerate(n_key_heads) for head in range(n)]
    frame = rectangles(cols, rows, token=[tokens[col] for col in cols], where=[heads[row] for row in rows])
    frame["length"] = ["forgotten" if np.isnan(length) else f"{length:.3g}" for length in lengths.ravel()]
    return frame
