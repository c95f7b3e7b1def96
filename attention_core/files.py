"""Finds the files that are read while the app runs, in the repository or in an installed package."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent
ROOTS = (HERE / "bundled", HERE.parent)
"""Where they may lie: inside the package, as a wheel brings them, or beside it, as in the repository."""
IS_INSTALLED = not (HERE.parent / "pyproject.toml").exists()
"""Whether this is an installed package and no repository."""


def find_file(place: str) -> Path:
    """Return where a file or folder such as "weights" of the repository lies; in the repository if it is nowhere."""
    return next((root / place for root in ROOTS if (root / place).exists()), ROOTS[-1] / place)
