"""Heavy runs: one at a time on a device, in the order of asking; who waits sees the place and may leave."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from itertools import count

import streamlit as st
import torch

from attention_core.bounds import QUEUE
from attention_core.device import choose_device
from ui.layout import end_here

GRACE, BEAT = 0.3, 0.2
"""Seconds that somebody waits without being told, and then from one look at the queue to the next."""
BREATH = 0.01
"""Seconds between two portions, in which whoever waits for the same locks has them."""
CANCEL = "queue_cancel"
"""Holds the key of the button that was drawn last."""
_BUTTONS = count()


class Queue:
    """Threads in the order in which they asked; the first one runs.

    Args:
        most_waiting: behind the first.
    """

    def __init__(self, most_waiting: int) -> None:
        self.most_waiting = most_waiting
        self._line: list[int] = []
        self._moved = threading.Condition()

    def __contains__(self, thread: int) -> bool:
        return thread in self._line

    def join(self, thread: int) -> bool:
        """Stand behind the others; returns False where too many wait."""
        with self._moved:
            if len(self._line) > self.most_waiting:
                return False
            self._line.append(thread)
            return True

    def wait(self, thread: int, seconds: float) -> int:
        """Wait for so long at most; returns how many are before, 0 = it is this one's turn."""
        with self._moved:
            self._moved.wait_for(lambda: self._line[0] == thread, seconds)
            return self._line.index(thread)

    def leave(self, thread: int) -> None:
        """Make room for those behind, after the run or instead of it."""
        with self._moved:
            self._line.remove(thread)
            self._moved.notify_all()


@cache
def queue_of(device: str) -> Queue:
    """Return the queue of a device, one for all visitors."""
    return Queue(QUEUE.most)


@contextmanager
def heavy(spinner: str = "") -> Iterator[None]:
    """Run a block that takes seconds when it is this visitor's turn, beside the light computations of ui.computed.

    Not to be entered while computing or in a cached function. A visitor who cancels, goes elsewhere or closes the tab
    is gone from the queue with Streamlit's next look at the thread, which is every BEAT.

    Args:
        spinner: what to say while it runs; "" = nothing.
    """
    queue, thread = queue_of(choose_device()), threading.get_ident()
    if thread in queue:
        yield
        return
    if st.session_state.get(st.session_state.get(CANCEL, CANCEL)) is True:  # in the run that the click began
        _stop("You have left the queue.")
    if not queue.join(thread):
        _stop(f"{queue.most_waiting} visitors are waiting for a model already. Try again in a moment.")
    try:
        if queue.wait(thread, GRACE):
            _stand(queue, thread)
        with st.spinner(spinner) if spinner else nullcontext(), torch.inference_mode():
            yield
    finally:
        queue.leave(thread)


def in_portions(portion: Callable[[], object], is_wanted: Callable[[], bool]) -> None:
    """Run one portion after another as long as more is wanted, each when its turn has come among the heavy runs.

    For a thread of its own: no visitor's run waits for it, none is interrupted by it.

    Args:
        portion: a fraction of a second.
        is_wanted: asked before each.
    """
    queue, thread = queue_of(choose_device()), threading.get_ident()
    while is_wanted():
        if queue.join(thread):
            try:
                while queue.wait(thread, BEAT) and is_wanted():
                    pass
                if is_wanted():
                    portion()
            finally:
                queue.leave(thread)
        time.sleep(BREATH)


def _stand(queue: Queue, thread: int) -> None:
    spot = st.empty()
    with spot.container(horizontal=True, vertical_alignment="center"):
        words = st.empty()
        st.session_state[CANCEL] = f"{CANCEL}_{next(_BUTTONS)}"
        st.button("Cancel", key=st.session_state[CANCEL])
    while before := queue.wait(thread, BEAT):
        words.markdown(f"{before} visitors are before you." if before > 1 else "One visitor is before you.")
    spot.empty()


def _stop(words: str) -> None:
    """Say why nothing is computed, and end here until the visitor asks again."""
    st.info(words)
    st.button("Try again", key=f"queue_again_{next(_BUTTONS)}")
    end_here()
