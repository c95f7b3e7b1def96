"""How the page computes: results kept beside their run, and long work in portions."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import streamlit as st
from streamlit.errors import StreamlitAPIException

from attention_core.hub.run import ModelRun
from ui.computed import computing

MOST_RESULTS = 48
"""Of one run; the oldest go first."""
SECONDS_AT_ONCE = 1.0
Result = TypeVar("Result")
_RESULTS: WeakKeyDictionary[ModelRun, dict[Hashable, Any]] = WeakKeyDictionary()


def kept_with(run: ModelRun, what: Hashable, compute: Callable[[], Result]) -> Result:
    """Return a result of a run, computed at the first call and kept for all visitors for as long as the run lives.

    A run is too large to be told apart by its content, as ui.computed does, and is to be freed when it leaves the cache
    of runs: so neither the result nor `what` it is may hold the run. To compute it, no run and no input may be asked
    for: these wait for their turn with a lock of their own in hand.
    """
    with computing():
        results = _RESULTS.setdefault(run, {})
        if what not in results:
            results[what] = compute()
            while len(results) > MOST_RESULTS:
                del results[next(iter(results))]
        return results[what]


def portion() -> Iterator[None]:
    """Yield until the time of one portion is over, at least once: Streamlit lets no click interrupt a fragment."""
    began = time.monotonic()
    yield
    while time.monotonic() - began < SECONDS_AT_ONCE:
        yield


def run_again() -> bool:
    """Run the fragment around this again for the next portion.

    Returns:
        False where the whole page is being run, because something else was clicked: then the work has to wait.
    """
    try:
        st.rerun(scope="fragment")
    except StreamlitAPIException:
        return False
