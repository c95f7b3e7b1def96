"""Trainings that a visitor asks for: in the queue of heavy runs, with a progress bar, kept for all visitors."""

from collections.abc import Callable, Hashable, Iterator
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.computed import result_cache
from ui.job_queue import heavy_run

Result = TypeVar("Result")


def trained(
    name: Hashable, label: str, button: str, steps: Callable[[], Iterator[tuple[float, Result]]]
) -> Result | None:
    """Return what a training came to; a button asks for it, and None = nobody has asked yet.

    Args:
        name: tells it from other trainings.
        label: of the button.
        button: its key.
        steps: trains; after each step, the share that is done and what it has come to.
    """
    key, place = ("trained", name), st.empty()
    known = result_cache().get(key)
    if known:
        return known.value
    if not place.button(label, key=button, type="primary"):
        return None
    with heavy_run():
        known = result_cache().get(key)  # a visitor before may have asked for the same
        result = known.value if known else _last(steps(), place)
    result_cache().put(key, result)
    place.empty()
    return result


def _last(steps: Iterator[tuple[float, Result]], place: DeltaGenerator) -> Result:
    for step in steps:
        place.progress(step[0])
    return step[1]
