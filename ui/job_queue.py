"""The queue of heavy runs: one at a time on a device, the addresses in turn; a waiting visitor may leave."""

import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from itertools import count
from typing import TypeVar

import streamlit as st
import torch

from attention_core.concurrency import BoundedCache, ComputedValue, holding
from attention_core.device import choose_device
from ui.computed import result_cache
from ui.hosting.bounds import QUEUE
from ui.layout import stop_run
from ui.state import APP, Field, running_visitor, widget_value

SECONDS_TO_NOTICE, POLL_SECONDS = 0.3, 0.2  # before a visitor reads of the queue, and between two updates of that
CANCEL_KEY = Field(APP, "queue_cancel", "queue_cancel")
"""The widget key of the Cancel button that was drawn last."""
Result = TypeVar("Result")
_BUTTONS = count()
_FULL = "Many visitors are waiting for a model already. Try again in a moment."


class Queue:
    """Threads of which one runs. The addresses take turns; threads of one address run in the order of their requests.

    A lecture hall may have one address, as a single visitor has. So an address may have any number of places while
    there is room: for `max_waiting` behind the one that runs. Without room the address with the most places gives one
    up to an address with at least two fewer.
    """

    def __init__(self, max_waiting: int) -> None:
        self.max_waiting = max_waiting
        self._line: dict[int, tuple[str, str]] = {}
        """Session and address of each thread, in the order of their requests."""
        self._running = 0  # the thread, 0 = none
        self._turns, self._last_turn = count(1), dict[str, int]()
        self._has_changed = threading.Condition()

    def __contains__(self, thread: int) -> bool:
        return thread in self._line

    def join(self, thread: int, session: str = "", address: str = "") -> bool:
        """Join the queue; returns False where too many wait. Of a session one thread waits, the last one."""
        with self._has_changed:
            waiting = self._order()[1:]
            removed = [waiter for waiter in waiting if session and self._line[waiter][0] == session]
            if not removed and len(self._line) > self.max_waiting:
                n_of = Counter(owner for _, owner in self._line.values())
                crowded = [waiter for waiter in waiting if n_of[self._line[waiter][1]] > n_of[address] + 1]
                removed = sorted(crowded, key=lambda waiter: n_of[self._line[waiter][1]])[-1:]
                if not removed:
                    return False
            for waiter in removed:
                del self._line[waiter]
            self._line[thread] = session, address
            self._start(self._running or thread)
            return True

    def wait(self, thread: int, seconds: float) -> int | None:
        """Wait at most so many seconds; returns how many are ahead, 0 = its turn, None = it was removed."""
        with self._has_changed:
            self._has_changed.wait_for(lambda: self._running == thread or thread not in self._line, seconds)
            return self._order().index(thread) if thread in self._line else None

    def leave(self, thread: int) -> None:
        """Make room for those behind, after the run or instead of it."""
        with self._has_changed:
            self._line.pop(thread, None)
            self._start(next(iter(self._order()), 0))

    def _start(self, thread: int) -> None:
        """Let this thread run, 0 = none; forget the turns of addresses that have left."""
        addresses = {address for _, address in self._line.values()}
        self._last_turn = {address: turn for address, turn in self._last_turn.items() if address in addresses}
        if thread != self._running:
            self._running = thread
            if thread:
                self._last_turn[self._line[thread][1]] = next(self._turns)
        self._has_changed.notify_all()

    def _order(self) -> list[int]:
        """Return the thread that runs, then the others: an address's first thread before another's second one."""
        n_before, ranks = Counter[str](), dict[int, tuple[bool, int, int]]()
        for thread, (_, address) in self._line.items():
            ranks[thread] = (thread != self._running, n_before[address], self._last_turn.get(address, 0))
            n_before[address] += thread != self._running
        return sorted(ranks, key=ranks.__getitem__)


@cache
def queue_of(device: str, task: str = "") -> Queue:
    """Return the queue of a device, one for all visitors; of another task there, its own queue."""
    return Queue(QUEUE.maximum)


@contextmanager
def background_turn(address: str) -> Iterator[bool]:
    """Take a turn of the device in a thread that has no page, for a portion of a second; False = too many wait."""
    queue, thread = queue_of(choose_device()), threading.get_ident()
    if not queue.join(thread, "", address):
        yield False
        return
    try:
        while n_ahead := queue.wait(thread, POLL_SECONDS):
            pass
        with holding("heavy run"):
            yield n_ahead == 0
    finally:
        queue.leave(thread)


@contextmanager
def heavy_run(spinner: str = "") -> Iterator[None]:
    """Run a block that takes seconds when it is this visitor's turn, beside the light computations of ui.computed.

    Not to be entered while computing or in a cached function. A visitor who cancels, goes elsewhere or closes the tab
    leaves the queue within POLL_SECONDS, when Streamlit ends the thread. The spinner is a text for the time of the run,
    "" = none.
    """
    queue, thread = queue_of(choose_device()), threading.get_ident()
    if thread in queue:
        yield
        return
    session, address = running_visitor()
    if widget_value(CANCEL_KEY.value) is True:  # in the run that the click began
        _refuse("You have left the queue.")
    if not queue.join(thread, session, address):
        _refuse(_FULL)
    try:
        if queue.wait(thread, SECONDS_TO_NOTICE) != 0:
            _wait_in_line(queue, thread)
        with holding("heavy run"), st.spinner(spinner) if spinner else nullcontext(), torch.inference_mode():
            yield
    finally:
        queue.leave(thread)


def run_once(cache: BoundedCache, key: Hashable, compute: Callable[[], Result], spinner: str = "") -> Result:
    """Return a cached value, computed in a heavy run if it is not there; all visitors share it."""
    cached = cache.get(key)
    if cached is None:
        with heavy_run(spinner):
            cached = cache.get(key) or ComputedValue(compute())  # a visitor before may have asked for the same
            cache.put(key, cached.value)
    return cached.value


def _wait_in_line(queue: Queue, thread: int) -> None:
    slot = st.empty()
    with slot.container(horizontal=True, vertical_alignment="center"):
        caption = st.empty()
        CANCEL_KEY.value = f"queue_cancel_{next(_BUTTONS)}"
        st.button("Cancel", key=CANCEL_KEY.value)
    while n_ahead := queue.wait(thread, POLL_SECONDS):
        caption.markdown(f"{n_ahead} visitors are before you." if n_ahead > 1 else "One visitor is before you.")
    slot.empty()
    if n_ahead is None:
        _refuse(_FULL)


def _refuse(reason: str) -> None:
    """Say why nothing is computed, and end here until the visitor asks again."""
    st.info(reason)
    st.button("Try again", key=f"queue_again_{next(_BUTTONS)}")
    stop_run()


Portions = Callable[[], Iterator[tuple[float, Result]]]


def result_on_demand(
    key: Hashable,
    label: str,
    button: str,
    portions: Portions[Result],
    draw: Callable[[Result], object] | None = None,
) -> Result | None:
    """Return the last result of portions, once a visitor has pressed the button; None before.

    Portions yield, after each step, the share that is done and the result so far; `draw` shows it meanwhile.
    """
    slot = st.empty()
    if not result_cache().get(key) and not slot.button(label, key=button, type="primary"):
        return None
    slot.empty()
    return queued_result(key, portions, draw)


def queued_result(key: Hashable, portions: Portions[Result], draw: Callable[[Result], object] | None = None) -> Result:
    """Return the last result of portions, see result_on_demand."""
    bar, preview = st.empty(), st.empty()

    def compute() -> Result:
        for share, result in portions():
            bar.progress(share)
            if draw and share < 1:
                with preview.container():
                    draw(result)
        return result

    result = run_once(result_cache(), key, compute)
    bar.empty()
    preview.empty()
    return result
