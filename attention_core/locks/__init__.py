"""The locks of the project by name, in the order in which a thread may take them; docs/concurrency.md explains each."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

ORDER = (
    "import libraries",
    "heavy run",
    "start a download",
    "download a model",
    "room on disk",
    "unpack a picture",
    "load a model",
    "compute",
    "atlas",
    "survey",
    "trace a model",
    "exchange functions of torch",
    "surveyor",
    "cache",
)
"""Whoever holds one takes later ones only, so that no two threads wait for each other."""
_held = threading.local()
CHECKED = os.environ.get("ATTENTION_CHECK_LOCKS") == "1"
"""Whether the order is checked as locks are taken, as it is in tests."""


def note_acquired(name: str, *, again: bool = False) -> None:
    """Note that this thread is about to take a lock; `again` = one that its holder may take again.

    Raises:
        RuntimeError: the thread holds one that comes later, and order is checked.
    """
    if CHECKED:
        held = _held.__dict__.setdefault("names", [])
        late = [other for other in held if ORDER.index(other) >= ORDER.index(name)]
        if late and not (again and name in held):
            raise RuntimeError(f"“{name}” must be taken before “{late[0]}”: see docs/concurrency.md")
        held.append(name)


def note_released(name: str) -> None:
    """Note that this thread has given a lock back."""
    if CHECKED:
        _held.names.remove(name)


@contextmanager
def holding(name: str) -> Iterator[None]:
    """Hold what is no Lock and has a place in the order all the same, such as a turn in a queue."""
    note_acquired(name)
    try:
        yield
    finally:
        note_released(name)


class Lock:
    """A lock with a place in the order.

    Args:
        name: one of ORDER.
        again: whether its holder may take it again.
    """

    def __init__(self, name: str, *, again: bool = False) -> None:
        self._name, self._again = name, again
        self._lock = threading.RLock() if again else threading.Lock()

    def __enter__(self) -> None:
        note_acquired(self._name, again=self._again)
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()
        note_released(self._name)
