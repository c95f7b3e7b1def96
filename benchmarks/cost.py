"""What n costs a recurrent layer, attention and fused attention: python -m benchmarks.cost [ROUNDS].

The figures that the page "Inside a transformer" shows. Goals: time grows with n for the
recurrent layer and with n x n for both kinds of attention; memory with n, n x n and n.
"""

import math
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_core.topics.transformer import cost
from benchmarks.report import publish

SIZES = (64, 128, 256, 512, 1024, 2048, 4096, 8192)
ROUNDS = 5
MAX_PROFILED_STEPS = 4096
"""Recurrent steps whose memory is traced: every step is a dozen allocations to write down."""


def forward_pass(way: str, n: int) -> Callable[[], Tensor]:
    """Return a call that runs one layer over n random vectors, (1, n, D), on the CPU.

    Raises:
        ValueError: no such way.
    """
    generator = torch.Generator().manual_seed(0)
    if way == "recurrent":
        layer, x = nn.GRU(cost.D, cost.D, batch_first=True), torch.randn(1, n, cost.D, generator=generator)
        return lambda: layer(x)[0]
    query, key, value = torch.randn(3, 1, 1, n, cost.D, generator=generator)
    if way == "attention":
        return lambda: ((query @ key.transpose(-2, -1) / math.sqrt(cost.D)).softmax(-1) @ value)[0]
    if way == "fused":
        return lambda: F.scaled_dot_product_attention(query, key, value)[0]
    raise ValueError(f"way must be one of {', '.join(cost.WAYS)}, got {way!r}")


@torch.inference_mode()
def measure(way: str, n: int, repeats: int = 3, memory: bool = True) -> cost.CostRow:
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
    traced = memory and (way != "recurrent" or n <= MAX_PROFILED_STEPS)
    return cost.CostRow(way, n, 1000 * statistics.median(times), peak_megabytes(call) if traced else None)


def peak_megabytes(call: Callable[[], object]) -> float:
    """Return the highest sum of bytes that torch's CPU allocator had given out to this thread during a call."""
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
    return most / 2**20


def median_row(rows: list[cost.CostRow]) -> cost.CostRow:
    """Return the median of the same measurement, taken several times."""
    times = [row.milliseconds for row in rows if row.milliseconds is not None]
    sizes = [row.megabytes for row in rows if row.megabytes is not None]
    return cost.CostRow(
        rows[0].way,
        rows[0].n,
        round(statistics.median(times), 4),
        round(statistics.median(sizes), 4) if sizes else None,
    )


def main(rounds: int = ROUNDS) -> None:
    torch.manual_seed(0)
    taken: dict[tuple[str, int], list[cost.CostRow]] = {}
    for turn in range(rounds):
        for n in SIZES:
            for way in cost.WAYS:
                taken.setdefault((way, n), []).append(measure(way, n, repeats=3, memory=turn == 0))
    rows = [median_row(some) for some in taken.values()]
    table = [["n", *(f"{way.title}" for way in cost.WAYS.values())]]
    for n in SIZES:
        here = {row.way: row for row in rows if row.n == n}
        memory = {way: "-" if row.megabytes is None else f"{row.megabytes:.2f}" for way, row in here.items()}
        table.append([f"{n:,}", *(f"{here[way].milliseconds:.2f} ms, {memory[way]} MB" for way in here)])
    slopes = {
        field: {way: round(cost.fitted_slope(rows, way, field) or 0, 2) for way in cost.WAYS}
        for field in ("milliseconds", "megabytes")
    }
    for field, found in slopes.items():
        wanted = [f"{found[way]} (expected {cost.expected_slope(way, field)})" for way in found]
        table.append([f"slope of {field}", *wanted])
    figures = {
        "width": cost.D,
        "rounds": rounds,
        "time": "processor time of one thread, median over rounds of the median of 3 passes",
        "memory": "highest sum of bytes given out by torch's allocator in one pass, inputs not counted",
        "slopes_of_the_three_largest_n": slopes,
        "rows": [asdict(row) for row in rows],
        "torch": torch.__version__,
    }
    publish("cost", table, figures)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
