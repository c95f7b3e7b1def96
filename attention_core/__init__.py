"""Attention, its trace and its charts, without Streamlit.

    from attention_core import load
    model = load("pixel-classifier")
    trace = model.trace(image)

Axes, everywhere in this order: batch, head, query (row), key (column), d. d_k is the width of queries and keys, d_v of
values, d_model of tokens. Masks are bool, True = may attend. Scores are scaled and not yet masked; weights are after
the softmax; context is the weighted sum of the values, per head.
"""

from attention_core.attention.attend import Attended, attend, merge_heads, split_heads
from attention_core.attention.capture import capture
from attention_core.attention.export import trace_to_frame, trace_to_npz
from attention_core.attention.interventions import NO_INTERVENTION, UNIFORM, Intervention
from attention_core.attention.recording import Recording, load_recording
from attention_core.attention.script import trace_to_code, trace_to_notebook
from attention_core.attention.steps import step_of, steps_of
from attention_core.attention.trace import AttentionTrace, Prediction
from attention_core.attention.types import Axis, Role, Step, Story
from attention_core.device import choose_device
from attention_core.hub.tracing import run_model, trace_model
from attention_core.models import load

__all__ = [
    "NO_INTERVENTION",
    "UNIFORM",
    "Attended",
    "AttentionTrace",
    "Axis",
    "Intervention",
    "Prediction",
    "Recording",
    "Role",
    "Step",
    "Story",
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
]
