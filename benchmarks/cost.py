"""What n costs a recurrent layer, attention and fused attention, and a training: python -m benchmarks.cost [ROUNDS]."""

import itertools
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
TRAINED, TRAINED_SIZES, SENTENCES, BATCH = ("recurrent", "attention"), (16, 64, 256), 1_000, 25


def forward_pass(way: str, n: int) -> Callable[[], Tensor]:
    """Return a call that runs one layer over n random vectors, (1, n, D), on the CPU."""
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


def training_layer(way: str) -> nn.Module:
    """Return a GRU, or attention with a feed-forward network that makes it as large, both of width D."""
    if way == "recurrent":
        return nn.GRU(cost.D, cost.D, batch_first=True)
    return nn.TransformerEncoderLayer(cost.D, 6, dim_feedforward=cost.D, dropout=0.0, batch_first=True)


def training_batch(way: str, n: int) -> tuple[nn.Module, Callable[[], None]]:
    """Return a layer, and a call that trains it on a batch of random sentences of n vectors: both passes, an update."""
    layer, generator = training_layer(way), torch.Generator().manual_seed(0)
    x, target = torch.randn(2, BATCH, n, cost.D, generator=generator)
    optimiser = torch.optim.AdamW(layer.parameters())

    def train() -> None:
        found = layer(x)
        loss = F.mse_loss(found[0] if way == "recurrent" else found, target)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()

    return layer, train


def training_times(rounds: int) -> list[cost.TrainingTime]:
    """Return the seconds of a pass over SENTENCES, from the fastest of the batches, which took turns."""
    found = []
    for n in TRAINED_SIZES:
        calls = {way: training_batch(way, n)[1] for way in TRAINED}
        times: dict[str, list[float]] = {way: [] for way in TRAINED}
        for _ in range(rounds):
            for way, call in calls.items():
                times[way].append(milliseconds(call))
        seconds = {way: round(min(some) / 1000 * SENTENCES / BATCH, 2) for way, some in times.items()}
        found.append(cost.TrainingTime(n, **seconds))
    return found


def milliseconds(call: Callable[[], object]) -> float:
    """Return the processor time of this thread for a call, the median of three after a first one."""
    call()
    times = []
    for _ in range(3):
        began = time.thread_time()
        call()
        times.append(1000 * (time.thread_time() - began))
    return statistics.median(times)


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


def main(rounds: int = ROUNDS) -> None:
    torch.manual_seed(0)
    trained = training_times(rounds)
    with torch.inference_mode():
        measure(rounds, trained)


def measure(rounds: int, trained: list[cost.TrainingTime]) -> None:
    """Measure forward passes, and publish them beside the trainings."""
    times: dict[tuple[str, int], list[float]] = {}
    memory: dict[tuple[str, int], float] = {}
    for turn in range(rounds):
        for place in itertools.product(cost.WAYS, SIZES):
            call = forward_pass(*place)
            times.setdefault(place, []).append(milliseconds(call))
            if turn == 0 and (place[0] != "recurrent" or place[1] <= MAX_PROFILED_STEPS):
                memory[place] = round(peak_megabytes(call), 4)
    rows = [cost.CostRow(*place, round(statistics.median(some), 4), memory.get(place)) for place, some in times.items()]
    table = [["n", *(f"{way.title}" for way in cost.WAYS.values())]]
    for n in SIZES:
        here = [row for row in rows if row.n == n]
        table.append([f"{n:,}", *(f"{row.milliseconds:.2f} ms, {row.megabytes or math.nan:.2f} MB" for row in here)])
    slopes = {
        field: {way: round(cost.fitted_slope(rows, way, field) or 0, 2) for way in cost.WAYS}
        for field in ("milliseconds", "megabytes")
    }
    for field, found in slopes.items():
        wanted = [f"{found[way]} (expected {cost.expected_slope(way, field)})" for way in found]
        table.append([f"slope of {field}", *wanted])
    table += [[f"trained, {one.n}", f"{one.recurrent:.2f} s", f"{one.attention:.2f} s", ""] for one in trained]
    figures = {
        "width": cost.D,
        "rounds": rounds,
        "time": "processor time of one thread, median over rounds of the median of 3 passes",
        "memory": "highest sum of bytes given out by torch's allocator in one pass, inputs not counted",
        "slopes_of_the_three_largest_n": slopes,
        "training": {
            "parameters": {way: sum(map(torch.numel, training_layer(way).parameters())) for way in TRAINED},
            "sentences": SENTENCES,
            "batch": BATCH,
            "time": "processor time of one thread, the fastest batch times the number of batches",
            "seconds_of_a_pass": [one._asdict() for one in trained],
        },
        "rows": [asdict(row) for row in rows],
        "torch": torch.__version__,
    }
    publish("cost", table, figures)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
