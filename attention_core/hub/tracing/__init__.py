"""The attention of any transformers model: `p = trace_model(model, **inputs)`, then `p.traces`.

The model runs once, with an attention function of ours that the library calls with query, key, value, mask and scale
after positions are applied. It computes the context with torch's fused kernel and keeps what a trace needs; no matrix
over all pairs is built. Each layer is checked against the model's own written-out attention on two of its queries.
`run_model` also returns the model's own output, and can edit the attention inside the run.

Traces are numbered by the calls of attention that a model makes, in order. Layers without attention (convolutions,
state spaces and other parts of hybrid models) make no call and have no number; a model that decides by its input which
layers run, or that a cache spares a call, has other numbers then.
Source: https://huggingface.co/docs/transformers/attention_interface
"""

from attention_core.hub.tracing.attention import UnsupportedError
from attention_core.hub.tracing.running import run_ablations, run_model, trace_model

__all__ = ["UnsupportedError", "run_ablations", "run_model", "trace_model"]
