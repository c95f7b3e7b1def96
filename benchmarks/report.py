"""What the benchmarks share: medians, the machine's description, a table on the screen and a JSON file beside it."""

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
_LOAD_BEFORE = os.getloadavg()[0]


def milliseconds_each(calls: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the median processor time of each call in milliseconds; they take turns, so that all meet the same load.

    Processor time of the process, with one thread, not the clock's: other programs on the machine count less.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    for _ in range(rounds):
        for name, call in calls.items():
            began = time.process_time()
            call()
            times[name].append(1000 * (time.process_time() - began))
    return {name: statistics.median(some) for name, some in times.items()}


def in_fresh_process(name: str, *arguments: object) -> Any:
    """Return the value that a benchmark, called with arguments in a process of its own, prints as JSON at last."""
    command = [sys.executable, "-m", f"benchmarks.{name}", *map(str, arguments)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(printed.splitlines()[-1])


def publish(name: str, rows: Sequence[Sequence[str]], figures: dict[str, Any]) -> None:
    """Print rows as a table, the first as its head, and write the figures with machine, load and command.

    The load is that of the minute before the start and before the end: how many processes wanted a core.
    """
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for number, row in enumerate(rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        if number == 0:
            print("  ".join("-" * width for width in widths))
    RESULTS.mkdir(exist_ok=True)
    facts = {
        "command": f"python -m benchmarks.{name}",
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load_before_and_after": [round(load, 1) for load in (_LOAD_BEFORE, os.getloadavg()[0])],
        **figures,
    }
    (RESULTS / f"{name}.json").write_text(json.dumps(facts, indent=2) + "\n")


def reset_peak() -> int:
    """Set the peak of this process's resident memory to what is resident now, and return that in kilobytes (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")
    return _kilobytes("VmRSS")


def peak_kilobytes() -> int:
    """Return the most that was resident since reset_peak (Linux)."""
    return _kilobytes("VmHWM")


def processor_seconds(process: int) -> float:
    """Return the processor time that a process has had; 0 of one that has ended (Linux)."""
    try:
        ticks = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    except OSError:
        return 0.0
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def _kilobytes(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))
