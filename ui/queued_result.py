"""Long computations in portions: in the queue of heavy runs, with a progress bar, kept for all visitors."""

from collections.abc import Callable, Hashable, Iterator
from typing import TypeVar

import streamlit as st

from ui.computed import result_cache
from ui.job_queue import heavy_run

Result = TypeVar("Result")
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
