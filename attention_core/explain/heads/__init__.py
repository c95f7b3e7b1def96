"""What the heads of a recording do, in numbers: where they look, how alike they are, what they hand over.

from attention_core.explain.heads import distances, groups, rollout, summaries
layers = groups(trace_model(model, **inputs))["encoder self"]
summaries(layers)[3][5].previous
"""

import warnings
from typing import Any

from attention_core.explain.heads.similarity import (
    Distances,
    FarLook,
    Rollout,
    distances,
    distances_from,
    distances_head_for_head,
    far_look,
    rollout,
)
from attention_core.explain.heads.summary import (
    METRICS,
    PLAIN,
    HeadDisplay,
    HeadSummary,
    PatchGrid,
    groups,
    habit,
    handed_over,
    has_values,
    is_of_itself,
    matrix_for,
    summaries,
    summarise,
    without_sinks,
)

__all__ = [
    "METRICS",
    "PLAIN",
    "Distances",
    "FarLook",
    "HeadDisplay",
    "HeadSummary",
    "PatchGrid",
    "Rollout",
    "distances",
    "distances_from",
    "distances_head_for_head",
    "far_look",
    "groups",
    "habit",
    "handed_over",
    "has_values",
    "is_of_itself",
    "matrix_for",
    "rollout",
    "summaries",
    "summarise",
    "without_sinks",
]

_BEFORE = {"Look": "HeadDisplay", "Patches": "PatchGrid"}  # names of 0.1


def __getattr__(name: str) -> Any:
    if name not in _BEFORE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn(f"{name} is {_BEFORE[name]} now", DeprecationWarning, 2)
    return globals()[_BEFORE[name]]
