"""What this process has tried to read and could not: without it, it should not be asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

MISSING: set[str] = set()
"""What failed when it was tried last: torch, a file of the weights."""


@contextmanager
def needed(what: str) -> Iterator[None]:
    """Note that reading or importing something has failed in this block, or that it has not any more."""
    try:
        yield
    except Exception:
        MISSING.add(what)
        raise
    MISSING.discard(what)
