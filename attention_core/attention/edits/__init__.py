"""Edits: small values, each a change of attention, which every way of computing it applies in the same way.

A new one is a class in one of the files here, named below; links, pages, models and shown code then know it.
"""

from attention_core.attention.edits.edit import (
    EDITS,
    UNIFORM,
    BlockEdge,
    BlockKeys,
    DropHead,
    Edit,
    EditError,
    Edits,
    NoScale,
    PermuteKeys,
    RunHead,
    SetScore,
    Temperature,
    Uniform,
    blocked_keys,
    drop_heads,
    for_queries,
    refuse_edits,
)
from attention_core.attention.edits.parse import edits_from_plain
from attention_core.attention.edits.replacement import GivenWeights, OutputFrom, PatternFrom, SetWeights, with_runs

__all__ = [
    "EDITS",
    "UNIFORM",
    "BlockEdge",
    "BlockKeys",
    "DropHead",
    "Edit",
    "EditError",
    "Edits",
    "GivenWeights",
    "NoScale",
    "OutputFrom",
    "PatternFrom",
    "PermuteKeys",
    "RunHead",
    "SetScore",
    "SetWeights",
    "Temperature",
    "Uniform",
    "blocked_keys",
    "drop_heads",
    "edits_from_plain",
    "for_queries",
    "refuse_edits",
    "with_runs",
]
