"""Attention, its trace and its charts, without Streamlit.

    from attention_core import load
    model = load("pixel-classifier")
    trace = model.trace(image)

Axes, everywhere in this order: batch, head, query (row), key (column), d. d_k is the width of queries and keys, d_v of
values, d_model of tokens. Masks are bool, True = may attend. Scores are scaled and not yet masked; weights are after
the softmax; context is the weighted sum of the values, per head.
"""

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from attention_core.attention.attend import attend, merge_heads, split_heads
    from attention_core.attention.capture import capture
    from attention_core.attention.edits import (
        UNIFORM,
        BlockEdge,
        BlockKeys,
        DropHead,
        Edit,
        NoScale,
        OutputFrom,
        PatternFrom,
        PermuteKeys,
        RunHead,
        SetScore,
        SetWeights,
        Temperature,
        Uniform,
        with_runs,
    )
    from attention_core.attention.export import trace_to_code, trace_to_frame, trace_to_notebook, trace_to_npz
    from attention_core.attention.recording import Recording, load_recording
    from attention_core.attention.steps import step_of, steps_of
    from attention_core.attention.trace import AttentionTrace, Prediction
    from attention_core.attention.types import AttentionOutput, Axis, Role, Step, Story
    from attention_core.device import choose_device
    from attention_core.hub.tracing import run_model, trace_model
    from attention_core.models import load

_HOMES = {
    "attention.attend": "AttentionOutput, attend, merge_heads, split_heads",
    "attention.capture": "capture",
    "attention.edits": "UNIFORM, BlockEdge, BlockKeys, DropHead, Edit, NoScale, OutputFrom, PatternFrom, PermuteKeys, "
    "RunHead, SetScore, SetWeights, Temperature, Uniform, with_runs",
    "attention.export": "trace_to_code, trace_to_frame, trace_to_notebook, trace_to_npz",
    "attention.interventions": "NO_INTERVENTION, Intervention",  # what edits were before
    "attention.recording": "Recording, load_recording",
    "attention.steps": "step_of, steps_of",
    "attention.trace": "AttentionTrace, Prediction",
    "attention.types": "Axis, Role, Step, Story",
    "device": "choose_device",
    "hub.tracing": "run_model, trace_model",
    "models": "load",
}
"""The module of each public name; a module, and torch with it, is imported when a name of it is first used."""
__all__ = [
    "UNIFORM",
    "AttentionOutput",
    "AttentionTrace",
    "Axis",
    "BlockEdge",
    "BlockKeys",
    "DropHead",
    "Edit",
    "NoScale",
    "OutputFrom",
    "PatternFrom",
    "PermuteKeys",
    "Prediction",
    "Recording",
    "Role",
    "RunHead",
    "SetScore",
    "SetWeights",
    "Step",
    "Story",
    "Temperature",
    "Uniform",
    "attend",
    "capture",
    "choose_device",
    "load",
    "load_recording",
    "merge_heads",
    "run_model",
    "split_heads",
    "step_of",
    "steps_of",
    "trace_model",
    "trace_to_code",
    "trace_to_frame",
    "trace_to_notebook",
    "trace_to_npz",
    "with_runs",
]


_RENAMED = {"Attended": "AttentionOutput"}  # names of 0.1


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        warnings.warn(f"{name} is {_RENAMED[name]} now", DeprecationWarning, 2)
        name = _RENAMED[name]
    for home, names in _HOMES.items():
        if name in names.split(", "):
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
