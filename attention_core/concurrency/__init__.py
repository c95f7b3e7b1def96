"""What the threads of a server share: locks, in the order that docs/concurrency.md explains, and bounded caches."""

import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

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
        later = [other for other in held if LOCK_ORDER.index(other) >= LOCK_ORDER.index(name)]
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


class ComputedValue(NamedTuple):
    """A value that is there, which may itself be None; where there is none, None stands instead of a ComputedValue."""

    value: Any


class BoundedCache:
    """Keeps values up to a number of bytes; the least recently used goes first.

    Args:
        max_bytes: of all values together; a value that is larger alone is not kept.
        max_items: how many values.
        size: returns how many bytes a value takes; not needed without a bound on bytes.
    """

    def __init__(
        self, max_bytes: int = sys.maxsize, max_items: int = sys.maxsize, size: Callable[[Any], int] = lambda value: 0
    ) -> None:
        self.max_bytes, self.max_items, self.size, self.n_bytes = max_bytes, max_items, size, 0
        self._lock = Lock("cache")
        self._values: OrderedDict[Hashable, tuple[ComputedValue, int]] = OrderedDict()

    def get(self, key: Hashable) -> ComputedValue | None:
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def put(self, key: Hashable, value: Any) -> None:
        size = self.size(value)
        with self._lock:
            if size > self.max_bytes or key in self._values:
                return
            self._values[key] = ComputedValue(value), size
            self.n_bytes += size
            while self.n_bytes > self.max_bytes or len(self._values) > self.max_items:
                self.n_bytes -= self._values.popitem(last=False)[1][1]

    def clear(self) -> None:
        with self._lock:
            self._values.clear()
            self.n_bytes = 0
