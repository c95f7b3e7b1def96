"""What a sequence of n costs: a recurrent layer, attention with its matrix in memory, and fused attention.

All three read n vectors of width D and return n vectors of width D. The recurrent layer is a GRU with its two
matrices per gate; attention is one head without its projections, which cost the same per position at every n.

Source: Vaswani et al. 2017, table 1; fused kernels: Dao et al. 2022, "FlashAttention"; memory O(n): Rabe and Staats
2021.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from attention_core.files import find_file, read_figures

D = 192
COMMITTED = find_file("benchmarks/results/cost.json")
LAYER_NAMES = {"recurrent": "recurrent (GRU)", "attention": "attention, n × n in memory", "fused": "fused attention"}
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


def measured(rows: Iterable[CostRow], layer: str, field: str) -> list[tuple[int, float]]:
    return sorted((row["n"], row[field]) for row in rows if row["way"] == layer and row[field])


def expected_line(rows: Iterable[CostRow], layer: str, field: str) -> list[tuple[int, float]]:
    """Return (n, value) on the expected slope through the largest n that was measured."""
    points = measured(rows, layer, field)
    if not points:
        return []
    n_last, last = points[-1]
    return [(n, last * (n / n_last) ** SLOPES[field][layer]) for n, _ in points]


class LayerCost(NamedTuple):
    """What a layer costs, each as a formula with its number."""

    work: str  # multiplications
    steps: str  # operations that must wait for each other
    path: str  # steps from any position to the one furthest away
    next_work: str  # multiplications for one more position
    cached: str  # numbers that must be kept for it


def layer_costs(n: int, d: int = D) -> tuple[LayerCost, LayerCost]:
    """Return what a GRU and self-attention cost for n positions of width d.

    A GRU multiplies each input and each state by three d × d matrices, attention each input by four. Its keys and
    values are kept for the next position, and a GRU's state.

    Source: Vaswani et al. 2017, table 1, which leaves constants and projections out.
    """
    gru = LayerCost(f"6nd² = {6 * n * d * d:,}", f"n = {n:,}", f"n = {n:,}", f"6d² = {6 * d * d:,}", f"d = {d:,}")
    attention = LayerCost(
        f"4nd² + 2n²d = {4 * n * d * d + 2 * n * n * d:,}",
        "1",
        "1",
        f"4d² + 2(n+1)d = {4 * d * d + 2 * (n + 1) * d:,}",
        f"2nd = {2 * n * d:,}",
    )
    return gru, attention
