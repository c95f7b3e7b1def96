"""Locks in the order that docs/concurrency.md explains."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

LOCK_ORDER = (
    "import libraries",
    "heavy run",
    "start a download",
    "download a model",
    "room on disk",
    "unpack a picture",
    "opened files",
    "load a model",
    "compute",
    "atlas",
    "survey",
    "trace a model",
    "switches of torch",
    "cache",
    "rooms",
)
"""A thread that holds one lock takes only later ones, so that no two threads wait for each other."""
_held = threading.local()
CHECKED = os.environ.get("ATTENTION_CHECK_LOCKS") == "1"
"""Whether the order is checked as locks are taken, as it is in tests."""


def note_requested(name: str, *, again: bool = False) -> None:
    """Note that this thread is about to take a lock; `again` = its holder may take it again.

    Where CHECKED, a RuntimeError if the thread holds a lock that comes later in LOCK_ORDER.
    """
    if CHECKED:
        held = _held.__dict__.setdefault("names", [])
        later = [held_name for held_name in held if LOCK_ORDER.index(held_name) >= LOCK_ORDER.index(name)]
        if later and not (again and name in held):
            raise RuntimeError(f"“{name}” must be taken before “{later[0]}”: see docs/concurrency.md")
        held.append(name)


def note_released(name: str) -> None:
    """Note that this thread has released a lock."""
    if CHECKED:
        _held.names.remove(name)


@contextmanager
def holding(name: str) -> Iterator[None]:
    """Hold something that is no Lock but has a place in LOCK_ORDER, such as a turn in a queue."""
    note_requested(name)
    try:
        yield
    finally:
        note_released(name)


class Lock:
    """A lock with a place in LOCK_ORDER.

    Args:
        name: one of LOCK_ORDER.
        again: whether its holder may take it again.
    """

    def __init__(self, name: str, *, again: bool = False) -> None:
        self._name, self._again = name, again
        self._lock = threading.RLock() if again else threading.Lock()

    def __enter__(self) -> None:
        note_requested(self._name, again=self._again)
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()
        note_released(self._name)
