"""Traces of given or random vectors, for tests that need no model."""

import torch

from attention_core.attention.capture.trace_builder import from_weights
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Story


def trace_of(query, key, value=None, *, queries="queries", keys="keys", mechanism="a test", name="", **more):
    """Return a trace of vectors (n_heads, n, d), whose values are the keys if none are given.

    Axes are numbered where they are names; one name for both is one axis.
    """
    query_axis = queries if isinstance(queries, Axis) else Axis.numbered(queries, query.shape[-2])
    key_axis = keys if isinstance(keys, Axis) else Axis.numbered(keys, key.shape[-2])
    story = Story(mechanism=mechanism, query_axis=query_axis, key_axis=key_axis, name=name)
    return AttentionTrace(query=query, key=key, value=key if value is None else value, story=story, **more)


def random_trace(query, key, value, *, seed=0, dtype=torch.float32, **more):
    """Return a trace of random vectors of these shapes, (n_heads, n, d)."""
    generator = torch.Generator().manual_seed(seed)
    return trace_of(*(torch.randn(*shape, generator=generator).to(dtype) for shape in (query, key, value)), **more)


def of_weights(weights, name="", mechanism="toy", note=""):
    """Return a trace with exactly these weights, (n_heads, n_queries, n_keys)."""
    return from_weights(torch.as_tensor(weights, dtype=torch.float32), name=name, note=note, mechanism=mechanism)


N_HEADS, D_K, D_V = 2, 3, 5


def make_trace(n_queries=11, n_keys=13, seed=0, **more) -> AttentionTrace:
    shapes = (N_HEADS, n_queries, D_K), (N_HEADS, n_keys, D_K), (N_HEADS, n_keys, D_V)
    return random_trace(*shapes, seed=seed, **more)
