"""Attention matrices of any size as a map: python -m benchmarks.atlas.

Goals: at n = 131,072 and d = 64 the resident memory rises by at most 1 GB above the inputs, any tile of 256 x 256
cells takes at most 30 ms and is within 1e-4 of float64, relatively; at n = 16,384 the survey, which gives exact block
means, takes at most 60 s on two cores. Against a softmax over all pairs in memory, where that fits.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import torch

from attention_core.atlas import TILE, Atlas, trace_of_tensors
from benchmarks.report import in_fresh_process, peak_kilobytes, publish, reset_peak

LONG, MIDDLE, D = 131_072, 16_384, 64
BANDS = 12
TILES_PER_BAND = 6
LARGE = 40.0
"""Factor on the queries in the second measurement of errors: scores up to some 400, where float32 alone fails."""


def made_up(n: int, device: str = "cpu", factor: float = 1.0) -> Atlas:
    """Return the map of one head over random queries and keys."""
    generator = torch.Generator().manual_seed(0)
    query, key, value = (torch.randn(1, n, D, generator=generator).to(device) for _ in range(3))
    return Atlas(trace_of_tensors(query * factor, key, value))


def seconds(call: Callable[[], object]) -> float:
    """Return how long a call takes by the clock."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def measure_tiles() -> dict[str, Any]:
    """Return milliseconds per tile at n = 131,072, the rise of the memory, and errors against float64."""
    made_up(1000).tile(0, 0, 0)  # the libraries load what they need
    atlas = made_up(LONG)
    before = reset_peak()
    opened = Atlas(atlas.trace)
    first, more = [], []
    generator = torch.Generator().manual_seed(1)
    rows = torch.randperm(opened.n_tiles(0)[0], generator=generator)[:BANDS].tolist()
    for row in rows:
        cols = torch.randperm(opened.n_tiles(0)[1], generator=generator)[: TILES_PER_BAND + 1].tolist()
        times = [1000 * seconds(lambda row=row, col=col: opened.tile(0, row, col)) for col in cols]
        first.append(times[0])
        more += times[1:]
    coarser = {}
    for level in range(1, opened.base_level):
        row = opened.n_tiles(level)[0] // 2
        opened.tile(level, row, 0)  # now the normalisers of its rows are there
        coarser[str(level)] = round(1000 * seconds(lambda level=level, row=row: opened.tile(level, row, 1)), 1)
    rise = (peak_kilobytes() - before) / 1024
    return {
        "first_tile_of_a_band_ms": _summary(first),
        "tile_ms": _summary(more),
        "tile_of_level_ms": coarser,
        "rise_of_memory_mb": round(rise, 1),
        "relative_error": _error(opened, rows[:3]),
        "relative_error_large_scores": _error(made_up(LONG, factor=LARGE), rows[:1]),
    }


def _summary(times: list[float]) -> dict[str, float]:
    return {"median": round(statistics.median(times), 2), "most": round(max(times), 2)}


def _error(atlas: Atlas, rows: list[int]) -> float:
    """Return the largest relative error of some tiles; weights too small for a float32 are left out."""
    trace, worst = atlas.trace, 0.0
    for row in rows:
        band = slice(row * TILE, (row + 1) * TILE)
        exact = (trace.query[0, band].double() @ trace.key[0].double().T / D**0.5).softmax(1)
        for col in (0, row, atlas.n_tiles(0)[1] - 1):
            part = exact[:, col * TILE : (col + 1) * TILE]
            wrong = (torch.from_numpy(atlas.tile(0, row, col).mean) - part).abs() / part
            worst = max(worst, float(wrong.where(part > torch.finfo(torch.float32).tiny, 0).max()))
    return worst


def measure_survey(n: int, device: str = "cpu") -> dict[str, Any]:
    """Return the seconds and the rise of the memory that a survey takes, and the longest wait for progress."""
    list(made_up(1000, device).survey())
    atlas = made_up(n, device)
    before = reset_peak()
    opened = Atlas(atlas.trace)
    waits, last = [], time.perf_counter()
    for _ in opened.survey():
        waits.append(time.perf_counter() - last)
        last = time.perf_counter()
    sums = opened.column_sums
    waits[-1] += time.perf_counter() - last  # on a GPU the last numbers may still be on their way
    return {
        "seconds": round(sum(waits), 2),
        "longest_portion_s": round(max(waits), 3),
        "rise_of_memory_mb": round((peak_kilobytes() - before) / 1024, 1),
        "sum_of_weights_over_n": None if sums is None else round(float(sums.sum()) / n, 6),
    }


def measure_materialised() -> dict[str, Any]:
    """Return what the same overview takes with all weights in memory."""
    trace = made_up(MIDDLE).trace
    before, block = reset_peak(), 32
    began = time.perf_counter()
    with torch.inference_mode():
        weights = (trace.query[0] @ trace.key[0].T / D**0.5).softmax(1)
        blocks = weights.view(MIDDLE // block, block, MIDDLE // block, block)
        blocks.mean((1, 3)), blocks.amax((1, 3)), weights.sum(0), weights.sum(1), weights.amax(1)
        torch.special.entr(weights).sum(1)
    return {
        "seconds": round(time.perf_counter() - began, 2),
        "rise_of_memory_mb": round((peak_kilobytes() - before) / 1024, 1),
    }


MEASUREMENTS: dict[str, Callable[[], dict[str, Any]]] = {
    "tiles": measure_tiles,
    "survey of 16,384": lambda: measure_survey(MIDDLE),
    "all pairs in memory, 16,384": measure_materialised,
    "survey of 131,072": lambda: measure_survey(LONG),
    "survey of 131,072 on a GPU": lambda: measure_survey(LONG, "cuda"),
}


def main() -> None:
    """Measure, print, write results/atlas.json."""
    found: dict[str, dict[str, Any]] = {}
    for name in MEASUREMENTS:
        if "GPU" not in name:
            found[name] = {
                "1 thread": in_fresh_process("atlas", name),
                "2 threads": in_fresh_process("atlas", name, threads=2),
            }
        elif torch.cuda.is_available():
            found[name] = {torch.cuda.get_device_name(): in_fresh_process("atlas", name)}
    rows = [["what", "with", "found", "goal"]]
    for threads, tiles in found["tiles"].items():
        first, more, coarser = (tiles[name] for name in ("first_tile_of_a_band_ms", "tile_ms", "tile_of_level_ms"))
        rows += [
            ["first tile of a band of rows", threads, f"{first['median']} ms, at most {first['most']}", ""],
            ["any other tile of it", threads, f"{more['median']} ms, at most {more['most']}", "30 ms"],
            ["tile of level 1, 2, ...", threads, ", ".join(f"{ms} ms" for ms in coarser.values()), ""],
            ["memory above the inputs", threads, f"{tiles['rise_of_memory_mb']} MB", "1,000 MB"],
            ["relative error", threads, f"{tiles['relative_error']:.1e}", "1e-4"],
            ["with scores up to 400", threads, f"{tiles['relative_error_large_scores']:.1e}", "1e-4"],
        ]
    for name in list(found)[1:]:
        for threads, figures in found[name].items():
            goal = "60 s" if name == "survey of 16,384" else "1,000 MB" if name == "survey of 131,072" else ""
            rows.append([name, threads, f"{figures['seconds']} s, {figures['rise_of_memory_mb']} MB", goal])
    publish("atlas", rows, {"n_and_d": [LONG, MIDDLE, D], **found, "torch": torch.__version__})


if __name__ == "__main__":
    print(json.dumps(MEASUREMENTS[sys.argv[1]]())) if len(sys.argv) == 2 else main()
