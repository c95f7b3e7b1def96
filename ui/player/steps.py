"""The steps of a trace, built once in each run of a page."""

import threading

from attention_core.attention import steps as core
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Step

MAX_TRACES = 8
"""Traces whose steps are kept for the rest of a run."""


class _Run(threading.local):
    """What the runs of a thread have built; Streamlit ends the thread when no run follows at once."""

    def __init__(self) -> None:
        self.steps: dict[int, tuple[AttentionTrace, tuple[Step, ...]]] = {}


_RUN = _Run()


def steps_of(trace: AttentionTrace) -> tuple[Step, ...]:
    """Return what attention_core.steps_of does."""
    if id(trace) not in _RUN.steps:
        if len(_RUN.steps) == MAX_TRACES:
            _RUN.steps.clear()
        _RUN.steps[id(trace)] = trace, core.steps_of(trace)
    return _RUN.steps[id(trace)][1]


def step_of(trace: AttentionTrace, name: str) -> Step:
    return {step.name: step for step in steps_of(trace)}[name]
