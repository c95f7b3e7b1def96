"""What the heads of a recording do, in numbers: where they look and how alike they are.

from attention_core.explain.heads import distances_from, groups, rollout, summaries
layers = groups(trace_model(model, **inputs))["encoder self"]
summaries(layers)[3][5].previous
"""

from attention_core.explain.heads.similarity import (
    Distances,
    FarLook,
    Rollout,
    distances_from,
    distances_head_for_head,
    far_look,
    rollout,
)
from attention_core.explain.heads.summary import (
    METRICS,
    HeadSummary,
    PatchGrid,
    describe_head,
    groups,
    is_of_itself,
    norm_based_weights,
    summaries,
    summarise,
    without_keys,
)

__all__ = [
    "METRICS",
    "Distances",
    "FarLook",
    "HeadSummary",
    "PatchGrid",
    "Rollout",
    "describe_head",
    "distances_from",
    "distances_head_for_head",
    "far_look",
    "groups",
    "is_of_itself",
    "norm_based_weights",
    "rollout",
    "summaries",
    "summarise",
    "without_keys",
]
