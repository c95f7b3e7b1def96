"""Runs of toy models for the sections about heads."""

import torch

from attention_core.attention.recording import Recording
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Story
from attention_core.hub.model import ModelKind
from attention_core.hub.run import ModelRun


def toy_trace(name: str, queries: Axis, keys: Axis, n_heads: int = 2, **more) -> AttentionTrace:
    generator = torch.Generator().manual_seed(len(name))
    vectors = [torch.randn(n_heads, len(axis), 4, generator=generator) for axis in (queries, keys, keys)]
    story = Story(mechanism="toy", query_axis=queries, key_axis=keys, name=name)
    return AttentionTrace(**dict(zip(("query", "key", "value"), vectors, strict=True)), **more, story=story)


def toy_recording(labels, n_layers: int, stack: str = "encoder", **more) -> Recording:
    axis = Axis("tokens", labels)
    return Recording([toy_trace(f"{stack}.{layer}.self", axis, axis, **more) for layer in range(n_layers)])


def toy_run(recording: Recording, tokens, kind: ModelKind = ModelKind.ENCODER, **more) -> ModelRun:
    return ModelRun("toy", kind, recording, tuple(tokens), **more)
