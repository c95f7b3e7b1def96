"""What a sequence of n costs: a recurrent layer, attention with its matrix in memory, and fused attention.

All three read n vectors of width D and return n vectors of width D. The recurrent layer is a GRU with its two
matrices per gate; attention is one head without its projections, which cost the same per position at every n.

Source: Vaswani et al. 2017, table 1; fused kernels: Dao et al. 2022, "FlashAttention"; memory O(n): Rabe and Staats
2021.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from attention_core.files import find_file, read_figures

D = 192
COMMITTED = find_file("benchmarks/results/cost.json")


@dataclass(frozen=True)
class SequenceLayer:
    title: str  # for people
    time_slope: int  # exponent of n in its time, expected
    memory_slope: int  # exponent of n in its memory, expected


WAYS = {
    "recurrent": SequenceLayer("recurrent (GRU)", 1, 1),
    "attention": SequenceLayer("attention, n × n in memory", 2, 2),
    "fused": SequenceLayer("fused attention", 2, 1),
}


@dataclass(frozen=True)
class CostRow:
    """What was measured for one way and one n."""

    way: str  # a key of WAYS
    n: int  # positions
    milliseconds: float | None  # processor time of one forward pass, median; None = not measured
    megabytes: float | None  # highest sum of what the pass held at one moment, inputs not counted; None = not measured


def expected_slope(way: str, field: str) -> int:
    """Return the expected exponent of n in a way's "milliseconds" or "megabytes"; ValueError for other fields."""
    if field not in ("milliseconds", "megabytes"):
        raise ValueError(f"field must be milliseconds or megabytes, got {field!r}")
    return WAYS[way].time_slope if field == "milliseconds" else WAYS[way].memory_slope


def measured(rows: Iterable[CostRow], way: str, field: str) -> list[tuple[int, float]]:
    return sorted((row.n, getattr(row, field)) for row in rows if row.way == way and getattr(row, field))


def expected_line(rows: Iterable[CostRow], way: str, field: str) -> list[tuple[int, float]]:
    """Return (n, value) on the expected slope through the largest n that was measured."""
    points = measured(rows, way, field)
    if not points:
        return []
    n_last, last = points[-1]
    return [(n, last * (n / n_last) ** expected_slope(way, field)) for n, _ in points]


class TrainingTime(NamedTuple):
    """How long two layers of equal size train on the same sentences."""

    n: int  # positions of a sentence
    recurrent: float  # seconds of a pass over the sentences, a GRU
    attention: float  # the same, a transformer's layer


class MeasuredFigures(NamedTuple):
    rows: list[CostRow]  # what was measured
    when: str  # date
    training: list[TrainingTime]
    sentences: int  # in a pass of the training


def committed_figures() -> MeasuredFigures:
    found = read_figures(COMMITTED)
    if found is None:
        return MeasuredFigures([], "", [], 0)
    trained = found["training"]
    times = [TrainingTime(**one) for one in trained["seconds_of_a_pass"]]
    return MeasuredFigures([CostRow(**row) for row in found["rows"]], found["when"][:10], times, trained["sentences"])


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
