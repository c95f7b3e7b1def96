"""The queue of heavy runs: one at a time on a device, the addresses in turn; who waits sees the place and may leave."""

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
from ui.inside_streamlit import running_session
from ui.layout import end_here
from ui.state import APP, Field, widget_value

GRACE, BEAT = 0.3, 0.2  # seconds before a visitor is told of the queue, and then from one look at it to the next
CANCEL = Field(APP, "queue_cancel", "queue_cancel")
"""The key of the button that was drawn last."""
Result = TypeVar("Result")
_BUTTONS = count()
_FULL = "Many visitors are waiting for a model already. Try again in a moment."


class Queue:
    """Threads of which one runs. The addresses take turns; threads of one address run in the order of their requests.

    A lecture hall may have one address, as a single visitor has. So an address may have any number of places while
    there is room: for `most_waiting` behind the one that runs. Without room the address with the most places gives one
    up to an address with fewer.
    """

    def __init__(self, most_waiting: int) -> None:
        self.most_waiting = most_waiting
        self._line: dict[int, tuple[str, str]] = {}
        """Session and address of each thread, in the order of asking."""
        self._runs = 0
        self._turns, self._last_turn = count(1), dict[str, int]()
        self._moved = threading.Condition()

    def __contains__(self, thread: int) -> bool:
        return thread in self._line

    def join(self, thread: int, session: str = "", address: str = "") -> bool:
        """Join the queue; returns False where too many wait. Of a session one thread waits, the last one."""
        with self._moved:
            waiting = self._order()[1:]
            removed = [one for one in waiting if session and self._line[one][0] == session]
            if not removed and len(self._line) > self.most_waiting:
                places = Counter(address for _, address in self._line.values())
                removed = [one for one in waiting if places[self._line[one][1]] > places[address] + 1]
                removed = sorted(removed, key=lambda one: places[self._line[one][1]])[-1:]
                if not removed:
                    return False
            for one in removed:
                del self._line[one]
            self._line[thread] = session, address
            self._start(self._runs or thread)
            return True

    def wait(self, thread: int, seconds: float) -> int | None:
        """Wait for so long at most; returns how many are before, 0 = it is one's turn, None = the place is lost."""
        with self._moved:
            self._moved.wait_for(lambda: self._runs == thread or thread not in self._line, seconds)
            return self._order().index(thread) if thread in self._line else None

    def leave(self, thread: int) -> None:
        """Make room for those behind, after the run or instead of it."""
        with self._moved:
            self._line.pop(thread, None)
            self._start(next(iter(self._order()), 0))

    def _start(self, thread: int) -> None:
        there = {address for _, address in self._line.values()}
        self._last_turn = {one: turn for one, turn in self._last_turn.items() if one in there}
        if thread != self._runs:
            self._runs = thread
            if thread:
                self._last_turn[self._line[thread][1]] = next(self._turns)
        self._moved.notify_all()

    def _order(self) -> list[int]:
        """Return the thread that runs, and then the others as they come."""
        numbers, orders = Counter[str](), dict[int, tuple[bool, int, int]]()
        for thread, (_, address) in self._line.items():
            orders[thread] = (thread != self._runs, numbers[address], self._last_turn.get(address, 0))
            numbers[address] += thread != self._runs
        return sorted(orders, key=orders.__getitem__)


@cache
def queue_of(device: str, what: str = "") -> Queue:
    """Return the queue of a device, one for all visitors; or of what else is done one at a time there."""
    return Queue(QUEUE.most)


@contextmanager
def background_turn(address: str) -> Iterator[bool]:
    """Take a turn of the device in a thread that has no page, for a portion of a second; False = too many wait."""
    queue, thread = queue_of(choose_device()), threading.get_ident()
    if not queue.join(thread, "", address):
        yield False
        return
    try:
        while before := queue.wait(thread, BEAT):
            pass
        with holding("heavy run"):
            yield before == 0
    finally:
        queue.leave(thread)


def asking() -> tuple[str, str]:
    """Return the session whose page runs in this thread, and the address that it comes from; "" = unknown."""
    session = running_session()
    address = st.context.ip_address if session else None
    return session, address if isinstance(address, str) else ""


@contextmanager
def heavy_run(spinner: str = "") -> Iterator[None]:
    """Run a block that takes seconds when it is this visitor's turn, beside the light computations of ui.computed.

    Not to be entered while computing or in a cached function. A visitor who cancels, goes elsewhere or closes the tab
    is gone from the queue with Streamlit's next look at the thread, which is every BEAT. The spinner's words stand
    there while it runs; "" = none.
    """
    queue, thread = queue_of(choose_device()), threading.get_ident()
    if thread in queue:
        yield
        return
    session, address = asking()
    if widget_value(CANCEL.value) is True:  # in the run that the click began
        _refuse("You have left the queue.")
    if not queue.join(thread, session, address):
        _refuse(_FULL)
    try:
        if queue.wait(thread, GRACE) != 0:
            _wait_in_line(queue, thread)
        with holding("heavy run"), st.spinner(spinner) if spinner else nullcontext(), torch.inference_mode():
            yield
    finally:
        queue.leave(thread)


def run_once(cache: BoundedCache, key: Hashable, compute: Callable[[], Result], spinner: str = "") -> Result:
    """Return a value of a cache, computed in a heavy run if nobody has: it is kept for all visitors."""
    kept = cache.get(key)
    if kept is None:
        with heavy_run(spinner):
            kept = cache.get(key) or ComputedValue(compute())  # a visitor before may have asked for the same
            cache.put(key, kept.value)
    return kept.value


def _wait_in_line(queue: Queue, thread: int) -> None:
    spot = st.empty()
    with spot.container(horizontal=True, vertical_alignment="center"):
        words = st.empty()
        CANCEL.value = f"queue_cancel_{next(_BUTTONS)}"
        st.button("Cancel", key=CANCEL.value)
    while before := queue.wait(thread, BEAT):
        words.markdown(f"{before} visitors are before you." if before > 1 else "One visitor is before you.")
    spot.empty()
    if before is None:
        _refuse(_FULL)


def _refuse(words: str) -> None:
    """Say why nothing is computed, and end here until the visitor asks again."""
    st.info(words)
    st.button("Try again", key=f"queue_again_{next(_BUTTONS)}")
    end_here()


Portions = Callable[[], Iterator[tuple[float, Result]]]


def result_on_demand(
    key: Hashable,
    label: str,
    button: str,
    portions: Portions[Result],
    draw: Callable[[Result], object] | None = None,
) -> Result | None:
    """Return what portions come to; a button asks for it, and None = nobody has asked yet.

    Portions yield, after each step, the share that is done and what it has come to; `draw` shows it meanwhile.
    """
    place = st.empty()
    if not result_cache().get(key) and not place.button(label, key=button, type="primary"):
        return None
    place.empty()
    return queued_result(key, portions, draw)


def queued_result(key: Hashable, portions: Portions[Result], draw: Callable[[Result], object] | None = None) -> Result:
    """Return what portions come to at last; `draw` shows what is known meanwhile."""
    bar, shown = st.empty(), st.empty()
    if known := result_cache().get(key):
        return known.value
    with heavy_run():
        known = result_cache().get(key)  # a visitor before may have asked for the same
        if known:
            return known.value
        for share, result in portions():
            bar.progress(share)
            if draw and share < 1:
                with shown.container():
                    draw(result)
    result_cache().put(key, result)
    bar.empty()
    shown.empty()
    return result
