"""Attention, its trace and its charts, without Streamlit.

    from attention_core import load
    model = load("pixel-classifier")
    trace = model.trace(image)

Axes, everywhere in this order: batch, head, query (row), key (column), d. d_k is the width of queries and keys, d_v of
values, d_model of tokens. Masks are bool, True = may attend. Scores are scaled and not yet masked; weights are after
the softmax; context is the weighted sum of the values, per head.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from attention_core.attention.attend import attend as attend
    from attention_core.attention.attend import merge_heads as merge_heads
    from attention_core.attention.attend import split_heads as split_heads
    from attention_core.attention.capture import capture as capture
    from attention_core.attention.edits import UNIFORM as UNIFORM
    from attention_core.attention.edits import BlockEdge as BlockEdge
    from attention_core.attention.edits import BlockKeys as BlockKeys
    from attention_core.attention.edits import CellEdit as CellEdit
    from attention_core.attention.edits import DropHead as DropHead
    from attention_core.attention.edits import Edit as Edit
    from attention_core.attention.edits import HeadEdit as HeadEdit
    from attention_core.attention.edits import HeadRef as HeadRef
    from attention_core.attention.edits import NoScale as NoScale
    from attention_core.attention.edits import OutputFrom as OutputFrom
    from attention_core.attention.edits import PatternFrom as PatternFrom
    from attention_core.attention.edits import PermuteKeys as PermuteKeys
    from attention_core.attention.edits import QueryEdit as QueryEdit
    from attention_core.attention.edits import SetScore as SetScore
    from attention_core.attention.edits import SetWeights as SetWeights
    from attention_core.attention.edits import Temperature as Temperature
    from attention_core.attention.edits import Uniform as Uniform
    from attention_core.attention.edits import with_runs as with_runs
    from attention_core.attention.export import trace_to_code as trace_to_code
    from attention_core.attention.export import trace_to_frame as trace_to_frame
    from attention_core.attention.export import trace_to_notebook as trace_to_notebook
    from attention_core.attention.export import trace_to_npz as trace_to_npz
    from attention_core.attention.recording import Recording as Recording
    from attention_core.attention.recording import load_recording as load_recording
    from attention_core.attention.steps import step_of as step_of
    from attention_core.attention.steps import steps_of as steps_of
    from attention_core.attention.trace import AttentionTrace as AttentionTrace
    from attention_core.attention.trace import Prediction as Prediction
    from attention_core.attention.types import AttentionOutput as AttentionOutput
    from attention_core.attention.types import Axis as Axis
    from attention_core.attention.types import Role as Role
    from attention_core.attention.types import Step as Step
    from attention_core.attention.types import Story as Story
    from attention_core.attention.view.scene import show_scene as show_scene
    from attention_core.device import choose_device as choose_device
    from attention_core.hub.tracing import run_model as run_model
    from attention_core.hub.tracing import trace_model as trace_model
    from attention_core.models import load as load

_HOMES = {
    "attention.attend": "AttentionOutput, attend, merge_heads, split_heads",
    "attention.capture": "capture",
    "attention.edits": "UNIFORM, BlockEdge, BlockKeys, CellEdit, DropHead, Edit, HeadEdit, HeadRef, NoScale, "
    "OutputFrom, PatternFrom, PermuteKeys, QueryEdit, SetScore, SetWeights, Temperature, Uniform, with_runs",
    "attention.export": "trace_to_code, trace_to_frame, trace_to_notebook, trace_to_npz",
    "attention.recording": "Recording, load_recording",
    "attention.steps": "step_of, steps_of",
    "attention.trace": "AttentionTrace, Prediction",
    "attention.types": "Axis, Role, Step, Story",
    "attention.view.scene": "show_scene",
    "device": "choose_device",
    "hub.tracing": "run_model, trace_model",
    "models": "load",
}
"""The module of each public name; a module, and torch with it, is imported when a name of it is first used."""
__all__ = [name for names in _HOMES.values() for name in names.split(", ")]


_RENAMED = {"RunHead": "HeadRef"}
"""The public names of the version before, by their old names."""


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        from attention_core.deprecated import warn_renamed

        warn_renamed(f"{__name__}.{name}", _RENAMED[name])
        name = _RENAMED[name]
    for home, names in _HOMES.items():
        if name in names.split(", "):
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
