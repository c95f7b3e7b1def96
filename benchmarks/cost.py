"""What n costs a recurrent layer, attention and fused attention: python -m benchmarks.cost [ROUNDS].

The figures that the page "Inside a transformer" shows before anybody measures. Goals: time grows with n for the
recurrent layer and with n x n for both kinds of attention; memory with n, n x n and n.
"""

import statistics
import sys
from dataclasses import asdict

import torch

from attention_core.topics.transformer import cost
from benchmarks.report import publish

SIZES = (*cost.SIZES, 8192)
ROUNDS = 5


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
    cost.MOST_PROFILED_STEPS = 4096
    torch.manual_seed(0)
    taken: dict[tuple[str, int], list[cost.CostRow]] = {}
    for turn in range(rounds):
        for n in SIZES:
            for way in cost.WAYS:
                taken.setdefault((way, n), []).append(cost.measure(way, n, repeats=3, memory=turn == 0))
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
