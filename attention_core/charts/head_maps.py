"""Numbers of heads as maps: one cell per layer and head, and the distances between all heads."""

from collections.abc import Sequence

import numpy as np

from attention_core.attention.types import Axis, Role
from attention_core.charts.design import Chart, alt
from attention_core.charts.heatmap import matrix_chart
from attention_core.charts.palette import VIRIDIS, Ramp
from attention_core.device import to_array
from attention_core.explain.heads.similarity import Distances

CELL = 38  # screen pixels of a cell where there is room: its number can be read
WIDEST = 560


def layer_head_map(
    values: Sequence[Sequence[float]],
    *,
    title: str,
    chosen: tuple[int, int],
    select: str | None = None,
    high: float | None = None,
    widest: int = WIDEST,
    exponent: float = 1.0,
) -> Chart:
    """Draw one number per head, layers downwards, heads to the right, and frame the chosen (layer, head).

    Layers may differ in heads; nan = no number. The highest possible number, else the largest, ends the colours; an
    exponent below 1 spreads small numbers. A point selection over heads has the fields row and col.
    """
    n_heads = max(map(len, values))
    matrix = np.full((len(values), n_heads), np.nan)
    for layer, row in enumerate(values):
        matrix[layer, : len(row)] = row
    largest = float(np.nanmax(matrix)) if np.isfinite(matrix).any() else 1.0
    return matrix_chart(
        matrix,
        *head_axes(*matrix.shape),
        Role.WEIGHTS,
        title=title,
        size=min(widest, CELL * max(matrix.shape)),
        ramp=Ramp(VIRIDIS, 0.0, high or largest or 1.0, exponent),
        marked_row=chosen[0],
        marked_col=chosen[1],
        select=select,
        font_size=10,
    )


def head_axes(n_layers: int, n_heads: int) -> tuple[Axis, Axis]:
    """Return the axes of a map of heads, both counted from 1."""
    layers, heads = ([str(number + 1) for number in range(n)] for n in (n_layers, n_heads))
    return Axis("layer", layers), Axis("head", heads)


def distance_chart(
    found: Distances, n_heads: Sequence[int], chosen: int, *, size: int = 430, select: str | None = None
) -> Chart:
    """Draw the distances of all heads to all heads, layer by layer; the chosen head's row is marked.

    There are so many heads in each layer; the chosen one is counted through all layers. A point selection over cells
    (fields row and col) works up to MAX_RECT_SIDE heads.
    """
    names = [f"{layer + 1} · {head + 1}" for layer, n in enumerate(n_heads) for head in range(n)]
    axis = Axis("heads, layer by layer", names)
    starts = np.concatenate([[0], np.cumsum(n_heads)[:-1]]).tolist()
    every = -(-len(starts) // 12)
    text = f"'layer ' + (indexof({starts}, datum.value) + 1)"
    return matrix_chart(
        to_array(found.matrix),
        axis,
        axis,
        Role.WEIGHTS,
        title="Jensen-Shannon distance",
        size=size,
        marked_row=chosen,
        select=select,
        ramp=Ramp(tuple(reversed(VIRIDIS)), 0.0, 1.0),
        numbers=alt.Axis(values=starts[::every], labelExpr=text, grid=False),
    )
