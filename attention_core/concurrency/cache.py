"""Caches that threads share, within a bound."""

import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from attention_core.concurrency.locks import Lock


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
