"""Keeps what is asked for again, within a bound; knows neither what it keeps nor any heavy library."""

import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

from attention_core.locks import Lock


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
