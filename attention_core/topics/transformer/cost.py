"""What a sequence of n costs: a recurrent layer, attention with its matrix in memory, and fused attention.

All three read n vectors of width D and return n vectors of width D. The recurrent layer is a GRU with its two
matrices per gate; attention is one head without its projections, which cost the same per position at every n.

Source: Vaswani et al. 2017, table 1; fused kernels: Dao et al. 2022, "FlashAttention"; memory O(n): Rabe and Staats
2021.
"""

import math
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_core.files import find_file, written_figures

D = 192
SIZES = (64, 128, 256, 512, 1024, 2048, 4096)
MEGABYTE = 2**20
COMMITTED = find_file("benchmarks/results/cost.json")
MOST_PROFILED_STEPS = 256
"""Recurrent steps whose memory is traced: every step is a dozen allocations to write down."""


@dataclass(frozen=True)
class Way:
    """One way to let n positions know of each other."""

    name: str  # identifier
    title: str  # for people
    time_slope: int  # exponent of n in its time, expected
    memory_slope: int  # exponent of n in its memory, expected


WAYS = {
    way.name: way
    for way in (
        Way("recurrent", "recurrent (GRU)", 1, 1),
        Way("attention", "attention, n × n in memory", 2, 2),
        Way("fused", "fused attention", 2, 1),
    )
}


@dataclass(frozen=True)
class CostRow:
    """What was measured for one way and one n."""

    way: str  # a key of WAYS
    n: int  # positions
    milliseconds: float | None  # processor time of one forward pass, median; None = not measured
    megabytes: float | None  # highest sum of what the pass held at one moment, inputs not counted; None = not measured


@dataclass(frozen=True)
class Progress:
    """Where a measurement stands."""

    share: float  # of the work that is done, 0 to 1
    words: str  # what was just measured or left out, and why
    row: CostRow  # its result


def forward_pass(way: str, n: int, seed: int = 0) -> Callable[[], Tensor]:
    """Return a call that runs one layer over n random vectors, (1, n, D), on the CPU.

    Raises:
        ValueError: no such way.
    """
    generator = torch.Generator().manual_seed(seed)
    if way == "recurrent":
        layer, x = nn.GRU(D, D, batch_first=True), torch.randn(1, n, D, generator=generator)
        return lambda: layer(x)[0]
    query, key, value = torch.randn(3, 1, 1, n, D, generator=generator)
    if way == "attention":
        return lambda: ((query @ key.transpose(-2, -1) / math.sqrt(D)).softmax(-1) @ value)[0]
    if way == "fused":
        return lambda: F.scaled_dot_product_attention(query, key, value)[0]
    raise ValueError(f"way must be one of {', '.join(WAYS)}, got {way!r}")


@torch.inference_mode()
def measure(way: str, n: int, repeats: int = 3, memory: bool = True) -> CostRow:
    """Measure one way at one n: the median processor time of this thread after a first pass, and the memory.

    With one torch thread (OMP_NUM_THREADS=1) the thread's time is what the pass costs, whatever else is running.
    """
    call = forward_pass(way, n)
    call()
    clock = time.thread_time if torch.get_num_threads() == 1 else time.perf_counter
    times = []
    for _ in range(repeats):
        began = clock()
        call()
        times.append(clock() - began)
    traced = memory and (way != "recurrent" or n <= MOST_PROFILED_STEPS)
    return CostRow(way, n, 1000 * statistics.median(times), peak_megabytes(call) if traced else None)


def peak_megabytes(call: Callable[[], object]) -> float:
    """Return the highest sum of bytes that torch's CPU allocator had given out to this thread during a call.

    The public torch.profiler would complain in the server's log when it starts in a visitor's thread; its older
    hooks count the same events quietly.
    """
    import torch._C._autograd as hooks
    from torch._C._profiler import ProfilerConfig, ProfilerState, _ExperimentalConfig

    config = ProfilerConfig(ProfilerState.CPU, False, True, False, False, False, _ExperimentalConfig())
    hooks._enable_profiler_legacy(config)
    try:
        call()
    finally:
        threads = hooks._disable_profiler_legacy()
    now = most = 0
    for event in (event for thread in threads for event in thread if event.kind() == "memory_alloc"):
        now += event.cpu_memory_usage()
        most = max(most, now)
    return most / MEGABYTE


def expected_megabytes(way: str, n: int) -> float:
    """Return roughly what a forward pass will hold in memory, to decide whether to try."""
    return (2 * 4 * n * n if way == "attention" else 5 * 4 * n * D) / MEGABYTE


def measure_all(
    sizes: Sequence[int] = SIZES,
    *,
    repeats: int = 3,
    most_seconds: float = 10.0,
    most_megabytes: float = 300.0,
) -> Iterator[Progress]:
    """Measure all ways, small n first, and say after each how far it is.

    What would take the whole beyond most_seconds, or one pass beyond most_megabytes, is left out.

    Args:
        sizes: values of n.
        repeats: timed passes of each.
        most_seconds: for all together.
        most_megabytes: for one pass.
    """
    began, last = time.perf_counter(), dict[str, tuple[int, float]]()
    total = len(sizes) * len(WAYS)
    for number, (n, way) in enumerate((n, way) for n in sorted(sizes) for way in WAYS.values()):
        left = most_seconds - (time.perf_counter() - began)
        known_n, known = last.get(way.name, (n, 0.0))
        if expected_megabytes(way.name, n) > most_megabytes:
            row, words = CostRow(way.name, n, None, None), "left out, it would take too much memory"
        elif known * (n / known_n) ** way.time_slope > left:
            row, words = CostRow(way.name, n, None, None), "left out, it would take too long"
        else:
            row = measure(way.name, n, repeats)
            last[way.name] = (n, (row.milliseconds or 0.0) * (repeats + 1) / 1000)
            words = f"{row.milliseconds:.3g} ms"
        yield Progress((number + 1) / total, f"{way.title}, n = {n:,}: {words}", row)


def expected_slope(way: str, field: str) -> int:
    """Return the exponent of n that is expected of a way's "milliseconds" or "megabytes".

    Raises:
        ValueError: no such field.
    """
    if field not in ("milliseconds", "megabytes"):
        raise ValueError(f"field must be milliseconds or megabytes, got {field!r}")
    return WAYS[way].time_slope if field == "milliseconds" else WAYS[way].memory_slope


def measured(rows: Iterable[CostRow], way: str, field: str) -> list[tuple[int, float]]:
    """Return (n, value) of one way, in the order of n, without what was not measured."""
    return sorted((row.n, getattr(row, field)) for row in rows if row.way == way and getattr(row, field))


def fitted_slope(rows: Iterable[CostRow], way: str, field: str, n_largest: int = 3) -> float | None:
    """Return the slope of the largest n on log axes (least squares), or None with fewer than two of them."""
    points = measured(rows, way, field)[-n_largest:]
    if len(points) < 2:
        return None
    x, y = torch.tensor(points, dtype=torch.float64).log().T
    x, y = x - x.mean(), y - y.mean()
    return float((x * y).sum() / x.square().sum())


def expected_line(rows: Iterable[CostRow], way: str, field: str) -> list[tuple[int, float]]:
    """Return (n, value) on the expected slope through the largest n that was measured."""
    points = measured(rows, way, field)
    if not points:
        return []
    n_last, last = points[-1]
    return [(n, last * (n / n_last) ** expected_slope(way, field)) for n, _ in points]


class Committed(NamedTuple):
    """Figures that were measured beforehand."""

    rows: list[CostRow]  # what was measured
    when: str  # date
    torch: str  # its version


def committed() -> Committed:
    """Return the figures that `python -m benchmarks.cost` wrote; none if its file is missing."""
    found = written_figures(COMMITTED)
    if found is None:
        return Committed([], "", "")
    return Committed([CostRow(**row) for row in found["rows"]], found["when"][:10], found["torch"])


class LayerCost(NamedTuple):
    """What one layer costs a sentence of n, counted, not measured."""

    title: str  # of the way
    work: str  # multiplications, as a formula and as a number
    steps: str  # operations that must wait for each other
    path: str  # steps from any position to the one furthest away


def layer_costs(n: int, d: int = D) -> list[LayerCost]:
    """Return table 1 of Vaswani et al. 2017 for the recurrent layer and for self-attention, with n and d filled in."""
    return [
        LayerCost("recurrent", f"n d² = {n * d * d:,}", f"n = {n:,}", f"n = {n:,}"),
        LayerCost("self-attention", f"n² d = {n * n * d:,}", "1", "1"),
    ]
