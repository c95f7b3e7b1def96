"""What the threads of a server share: locks, in one order that docs/concurrency.md explains, and bounded caches."""

import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any

LOCK_ORDER = (
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


def note_requested(name: str, *, again: bool = False) -> None:
    """Note that this thread is about to take a lock; `again` = one that its holder may take again.

    Raises:
        RuntimeError: the thread holds one that comes later, and order is checked.
    """
    if CHECKED:
        held = _held.__dict__.setdefault("names", [])
        late = [other for other in held if LOCK_ORDER.index(other) >= LOCK_ORDER.index(name)]
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
    note_requested(name)
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
        note_requested(self._name, again=self._again)
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()
        note_released(self._name)


class BoundedCache:
    """Keeps values up to a number of bytes; the least looked at goes first.

    Args:
        most_bytes: all of them together; a value that is larger alone is not kept.
        most: how many.
        size: how many bytes a value takes; without a bound on bytes it need not be known.
    """

    def __init__(
        self, most_bytes: int = sys.maxsize, most: int = sys.maxsize, size: Callable[[Any], int] = lambda value: 0
    ) -> None:
        self.most_bytes, self.most, self.size, self.n_bytes = most_bytes, most, size, 0
        self._door = Lock("cache")
        self._values: OrderedDict[Hashable, tuple[tuple[Any], int]] = OrderedDict()

    def get(self, key: Hashable) -> tuple[Any] | None:
        """Return a kept value in a tuple of its own, or None."""
        with self._door:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def put(self, key: Hashable, value: tuple[Any]) -> None:
        size = self.size(value)
        with self._door:
            if size > self.most_bytes or key in self._values:
                return
            self._values[key] = value, size
            self.n_bytes += size
            while self.n_bytes > self.most_bytes or len(self._values) > self.most:
                self.n_bytes -= self._values.popitem(last=False)[1][1]

    def clear(self) -> None:
        with self._door:
            self._values.clear()
            self.n_bytes = 0
