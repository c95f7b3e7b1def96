"""Visitors' recordings and tensors in memory, within one budget of the process: what was used longest ago goes first.

Traces hold the tensors of a file weakly, since Streamlit keeps what a fragment, a widget or a callback was given for as
long as its visitor stays. Where they have gone, ReferenceError lets the page run again, which opens the file anew.
"""

import gc
import sys
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import fields
from typing import Any, TypeVar

from torch import Tensor

from attention_core.arrays import BROKEN, FileError, Source, open_npz
from attention_core.attention.recording import TENSOR_NAMES
from attention_core.attention.trace import AttentionTrace
from attention_core.concurrency import Lock
from ui.hosting.bounds import OPENED_BYTES

SECONDS_TO_WAIT = 15.0
"""For pages that are being drawn with files of others."""
FULL = "The server is full of files that others look at. Try again in a few minutes."
OF_FILE = "is_of_opened_file"
"""Marks a tensor that a trace holds weakly, also one with other words."""
Value = TypeVar("Value")
Opened = tuple[Value, Sequence[Tensor], int]
"""What holds tensors weakly, the tensors, and the bytes of its labels."""


class _WeakTrace(AttentionTrace):
    """A trace that holds the tensors of a file weakly, and all else as other traces do."""

    def __init__(self, **values: Any) -> None:
        are_weak = {name: getattr(value, OF_FILE, False) for name, value in values.items()}
        weak = {f"weak_{name}": weakref.ref(value) for name, value in values.items() if are_weak[name]}
        vars(self).update(weak | {name: value for name, value in values.items() if not are_weak[name]})
        self.__post_init__()

    def __getattribute__(self, name: str) -> Any:
        if name not in TENSOR_NAMES or (reference := vars(self).get(f"weak_{name}")) is None:
            return super().__getattribute__(name)
        if (tensor := reference()) is None:
            raise ReferenceError(f"{name} has left the memory")
        return tensor

    def context(self, head: int = 0) -> Tensor:  # which other traces keep, as large as the values
        return self.edited_context(head, self.weighted_sum(head))


def weak_trace(trace: AttentionTrace) -> AttentionTrace:
    """Return a trace that holds its tensors weakly: whoever needs them has to keep them."""
    values = {field.name: getattr(trace, field.name) for field in fields(trace)}
    for name in TENSOR_NAMES:
        if values[name] is not None:
            setattr(values[name], OF_FILE, True)
    return _WeakTrace(**values)


def label_bytes(traces: Iterable[AttentionTrace]) -> int:
    """Return what the labels of traces take in memory, the same ones once; those that are numbers take nothing."""
    axes = (axis for trace in traces for axis in (trace.story.query_axis, trace.story.key_axis))
    each = {id(axis.labels): axis.labels for axis in axes if isinstance(axis.labels, list | tuple)}
    return sum(sum(map(sys.getsizeof, labels)) for labels in each.values())


class OpenedFiles:
    """What was read of files, by keys; counts in `n_bytes` the tensors that are alive, whoever holds them, and labels.

    Labels count until their file leaves, since a page in which nobody does anything may hold them for long.
    """

    def __init__(self) -> None:
        self.n_bytes = 0
        self._values: OrderedDict[Hashable, tuple[Any, Sequence[Tensor]]] = OrderedDict()
        self._sizes: dict[Hashable, int] = {}
        self._labels: dict[Hashable, int] = {}
        self._lock, self._in_use = Lock("opened files"), threading.local()

    def open(
        self, key: Hashable, slot: str, source: Source, max_bytes: int, read: Callable[[], Opened[Value]]
    ) -> Value:
        """Return what `read` makes of a file, whose tensors stay at least for as long as this thread runs.

        FileError where there is no room.

        Args:
            key: of the file, for all visitors.
            slot: where this page shows it; another file of the same slot takes its place.
            source: its path or bytes, of which the size is read first.
            max_bytes: what it takes at most: `read` refuses more.
            read: reads it.
        """
        in_use: dict[str, tuple[Hashable, object]] = vars(self._in_use).setdefault("values", {})
        in_use.pop(slot, None)
        with self._lock:
            if key not in self._values:
                self._make_room(min(_unpacked_bytes(source), max_bytes), {other for other, _ in in_use.values()})
                value, tensors, self._labels[key] = read()
                self._values[key] = value, tensors
                self._change_bytes(self._labels[key])
                self._sizes[key] = sum(map(self._count, {id(tensor): tensor for tensor in tensors}.values()))
            self._values.move_to_end(key)
            in_use[slot] = key, self._values[key]
            return self._values[key][0]

    def _count(self, tensor: Tensor) -> int:
        self._change_bytes(tensor.nbytes)
        weakref.finalize(tensor, self._change_bytes, -tensor.nbytes).atexit = False
        return tensor.nbytes

    def _change_bytes(self, n_bytes: int) -> None:
        self.n_bytes += n_bytes

    def _make_room(self, n_bytes: int, in_use: set[Hashable]) -> None:
        if n_bytes + sum(self._sizes[key] for key in in_use) > OPENED_BYTES.maximum:
            raise FileError(f"All opened files together may take {OPENED_BYTES.millions:,} MB of memory.")
        until = time.monotonic() + SECONDS_TO_WAIT
        while self.n_bytes + n_bytes > OPENED_BYTES.maximum:
            if oldest := next((key for key in self._values if key not in in_use), None):
                del self._values[oldest], self._sizes[oldest]
                self._change_bytes(-self._labels.pop(oldest))
                gc.collect()
            elif time.monotonic() > until:
                raise FileError(FULL)
            else:
                time.sleep(0.05)


def _unpacked_bytes(source: Source) -> int:
    with suppress(*BROKEN), open_npz(source) as file:  # whoever reads it says what is wrong with it
        return file.n_bytes
    return 0


OPENED_FILES = OpenedFiles()
