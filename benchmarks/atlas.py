"""Attention matrices of any size as a map: python -m benchmarks.atlas. README.md says what is measured."""

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


def made_up(n: int, *, is_causal: bool = False) -> Atlas:
    """Return the map of one head over random queries and keys."""
    generator = torch.Generator().manual_seed(0)
    query, key, value = (torch.randn(1, n, D, generator=generator) for _ in range(3))
    return Atlas(trace_of_tensors(query, key, value, is_causal=is_causal))


def seconds(call: Callable[[], object]) -> float:
    """Return how long a call takes by the clock."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def floor_of(atlas: Atlas) -> Callable[[], float]:
    """Return what measures the seconds that q k^T and powers of 2 of all pairs take, from those of a few blocks.

    Of several sizes of block the fastest counts. A power of 2 costs less than one of e and serves as well.
    """
    query, key = atlas.trace.query[0], atlas.trace.key[0]
    share = sum(range(1, atlas.n_tiles(0)[0] + 1)) / atlas.n_tiles(0)[0] ** 2 if atlas.trace.is_causal else 1

    @torch.inference_mode()
    def once(n_rows: int, n_cols: int, n_keys: int) -> float:
        scores, some = query.new_empty(n_cols, n_rows), query[:n_rows].T.contiguous()

        def blocks() -> None:
            for keys in key[:n_keys].split(n_cols):
                torch.mm(keys, some, out=scores[: len(keys)]).exp2_()

        return seconds(blocks) * share * atlas.n_queries / n_rows * atlas.n_keys / n_keys

    sizes = [(256, 256), (256, 512), (512, 512), (128, 1024)]
    best = min(sizes, key=lambda size: min(once(*size, 2**13) for _ in range(5)))
    return lambda: once(*best, min(2**15, len(key)))


def measure_tiles() -> dict[str, Any]:
    """Return milliseconds per tile at n = 131,072, the rise of the memory, and errors against float64."""
    made_up(1000).tile(0, 0, 0)  # the libraries load what they need
    atlas = made_up(LONG)
    before = reset_peak()
    opened = Atlas(atlas.trace)
    first, more, floors, floor = [], [], [], floor_of(opened)
    generator = torch.Generator().manual_seed(1)
    rows = torch.randperm(opened.n_tiles(0)[0], generator=generator)[:BANDS].tolist()
    for row in rows:
        cols = torch.randperm(opened.n_tiles(0)[1], generator=generator)[: TILES_PER_BAND + 1].tolist()
        times = [1000 * seconds(lambda row=row, col=col: opened.tile(0, row, col)) for col in cols]
        first.append(times[0])
        floors.append(1000 * floor() / opened.n_tiles(0)[0])
        more += times[1:]
    rise = (peak_kilobytes() - before) / 1024
    return {
        "first_tile_of_a_band_ms": _summary(first),
        "floor_of_first_tile_ms": _summary(floors),
        "tile_ms": _summary(more),
        "rise_of_memory_mb": round(rise, 1),
        "relative_error": _error(opened, rows[:3]),
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
            wrong = (torch.from_numpy(atlas.tile(0, row, col)) - part).abs() / part
            worst = max(worst, float(wrong.where(part > torch.finfo(torch.float32).tiny, 0).max()))
    return worst


def measure_survey(n: int, *, is_causal: bool = False) -> dict[str, Any]:
    """Return the seconds and the rise of the memory that a survey takes, the longest wait for progress, the floor.

    The floor is measured between the survey's portions, so that both meet the same load.
    """
    list(made_up(1000).survey())
    atlas = made_up(n, is_causal=is_causal)
    floor, floors = floor_of(atlas), []
    before = reset_peak()
    opened = Atlas(atlas.trace)
    waits, last = [], time.perf_counter()
    for _ in opened.survey():
        waits.append(time.perf_counter() - last)
        floors.append(floor())
        last = time.perf_counter()
    largest = float(opened.tile(opened.n_levels - 1, 0, 0).max())
    waits[-1] += time.perf_counter() - last
    return {
        "seconds": round(sum(waits), 2),
        "floor_s": round(statistics.fmean(floors), 2),
        "longest_portion_s": round(max(waits), 3),
        "rise_of_memory_mb": round((peak_kilobytes() - before) / 1024, 1),
        "largest_weight": round(largest, 6),
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
    "causal survey of 131,072": lambda: measure_survey(LONG, is_causal=True),
}


def main() -> None:
    found = {name: in_fresh_process("atlas", name) for name in MEASUREMENTS}
    tiles = found["tiles"]
    first, more = tiles["first_tile_of_a_band_ms"], tiles["tile_ms"]
    rows = [
        ["what", "found", "goal"],
        ["first tile of a band of rows", f"{first['median']} ms, at most {first['most']}", "30 ms"],
        ["its floor", f"{tiles['floor_of_first_tile_ms']['median']} ms", ""],
        ["any other tile of it", f"{more['median']} ms, at most {more['most']}", "30 ms"],
        ["memory above the inputs", f"{tiles['rise_of_memory_mb']} MB", "1,000 MB"],
        ["relative error", f"{tiles['relative_error']:.1e}", "1e-4"],
    ]
    for name in list(found)[1:]:
        figures = found[name]
        goal = {"survey of 16,384": "60 s", "survey of 131,072": "1.5 of its floor, 1,000 MB"}.get(name, "")
        ratio = f", {figures['seconds'] / figures['floor_s']:.2f} of its floor" if "floor_s" in figures else ""
        rows.append([name, f"{figures['seconds']} s{ratio}, {figures['rise_of_memory_mb']} MB", goal])
    publish("atlas", rows, {"n_and_d": [LONG, MIDDLE, D], **found, "torch": torch.__version__})


if __name__ == "__main__":
    print(json.dumps(MEASUREMENTS[sys.argv[1]]())) if len(sys.argv) == 2 else main()
