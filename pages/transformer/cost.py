"""What a sequence of n costs: a recurrent layer, attention with its matrix in memory, and fused attention.

All three read n vectors of width D and return n vectors of width D. The recurrent layer is a GRU with its two
matrices per gate; attention is one head without its projections, which cost the same per position at every n.

Source: Vaswani et al. 2017, table 1; fused kernels: Dao et al. 2022, "FlashAttention"; memory O(n): Rabe and Staats
2021.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from attention_core.charts import vega as vl
from attention_core.files import find_file, read_figures

D = 192
COMMITTED = find_file("benchmarks/results/cost.json")
WAYS = {"recurrent": "recurrent (GRU)", "attention": "attention, n × n in memory", "fused": "fused attention"}
"""Titles for people."""
SLOPES = {
    "milliseconds": {"recurrent": 1, "attention": 2, "fused": 2},
    "megabytes": {"recurrent": 1, "attention": 2, "fused": 1},
}
"""Expected exponents of n in the processor time of one forward pass, and in the most that it holds at one moment."""
CostRow = Mapping[str, Any]
"""What was measured for one of the WAYS and one n: "way", "n", and fields of SLOPES; None = not measured."""


def committed_figures() -> dict[str, Any]:
    """Return "rows", each a CostRow, "training" and "when", the date; {} if the file is missing."""
    return read_figures(COMMITTED)


def measured(rows: Iterable[CostRow], way: str, field: str) -> list[tuple[int, float]]:
    return sorted((row["n"], row[field]) for row in rows if row["way"] == way and row[field])


def expected_line(rows: Iterable[CostRow], way: str, field: str) -> list[tuple[int, float]]:
    """Return (n, value) on the expected slope through the largest n that was measured."""
    points = measured(rows, way, field)
    if not points:
        return []
    n_last, last = points[-1]
    return [(n, last * (n / n_last) ** SLOPES[field][way]) for n, _ in points]


class LayerCost(NamedTuple):
    """What a layer costs, each as a formula with its number."""

    work: str  # multiplications
    steps: str  # operations that must wait for each other
    path: str  # steps from any position to the one furthest away
    next_work: str  # multiplications for one more position
    kept: str  # numbers that must be kept for it


def layer_costs(n: int, d: int = D) -> tuple[LayerCost, LayerCost]:
    """Return what a GRU and self-attention cost for n positions of width d.

    A GRU multiplies each input and each state by three d × d matrices, attention each input by four. Its keys and
    values are kept for the next position, and a GRU's state.

    Source: Vaswani et al. 2017, table 1, which leaves constants and projections out.
    """
    gru = LayerCost(f"6 n d² = {6 * n * d * d:,}", f"n = {n:,}", f"n = {n:,}", f"6 d² = {6 * d * d:,}", f"d = {d:,}")
    attention = LayerCost(
        f"4 n d² + 2 n² d = {4 * n * d * d + 2 * n * n * d:,}",
        "1",
        "1",
        f"4 d² + 2 (n + 1) d = {4 * d * d + 2 * (n + 1) * d:,}",
        f"2 n d = {2 * n * d:,}",
    )
    return gru, attention


COLOURS = ("#6B7785", "#D55E00", "#0072B2")
UNITS = {"milliseconds": "time (ms)", "megabytes": "memory (MB)"}
LINE = "#1B6CA8"


def cost_chart(rows: Sequence[CostRow], field: str) -> vl.Chart:
    """Draw "milliseconds" or "megabytes" over n for all ways, measured as lines with points, expected slopes dashed."""
    points, slopes = (
        [(WAYS[way], n, value) for way in WAYS for n, value in pairs(rows, way, field)]
        for pairs in (measured, expected_line)
    )
    sizes = sorted({row["n"] for row in rows})
    x_axis = dict(values=sizes, format="~s" if max(sizes, default=0) > 99999 else "d", grid=False)
    y_axis = dict(values=[10.0**power for power in range(-4, 7)], format="~g")
    space = {
        "x": vl.field("n:Q", title="n, positions", scale=dict(type="log", base=2, nice=False), axis=x_axis),
        "y": vl.field("value:Q", title=UNITS[field], scale=dict(type="log"), axis=y_axis),
        "color": vl.series_colour("way", [*WAYS.values()], COLOURS, offset=2, columns=1, labelLimit=260),
    }
    dashed = {"strokeDash": [4, 4], "strokeWidth": 1.3, "opacity": 0.75}
    tooltip = "way:N", ("n:Q", "", ","), ("value:Q", UNITS[field], ".3g")
    return vl.layer(
        vl.mark("line", _columns(slopes), space, **dashed),
        vl.mark("line", _columns(points), space, *tooltip, strokeWidth=2, point={"size": 34}),
        height=350,
    )


def _columns(rows: Sequence[tuple[str, int, float]]) -> dict[str, list]:
    return {name: [row[place] for row in rows] for place, name in enumerate(("way", "n", "value"))}


def distance_chart(distances: np.ndarray, products: np.ndarray, title: str) -> vl.Chart:
    """Draw a dot product over the distance of two positions."""
    line = {
        "x": vl.field("distances:Q", title="distance j - i", axis=dict(grid=False, tickCount=9)),
        "y": vl.field("products:Q", title=title, axis=dict(tickCount=4)),
    }
    data = {"distances": distances, "products": products}
    tooltip = ("distances:Q", "distance"), ("products:Q", "", ".4g")
    return vl.layer(vl.mark("line", data, line, *tooltip, color=LINE, strokeWidth=2), height=270)
