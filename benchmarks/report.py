"""What the benchmarks share: a table on the screen, and a JSON file with the machine beside it."""

import json
import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
_LOAD_BEFORE = os.getloadavg()[0]


def publish(name: str, rows: Sequence[Sequence[str]], figures: dict[str, Any]) -> None:
    """Print rows as a table, the first as its head, and write the figures with machine, load and command.

    The load is that of the minute before the start and before the end: how many processes wanted a core.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
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
