"""A recording with every kind of trace that a page of its own has to draw, for the tests of the view."""

from dataclasses import replace

import torch

from attention_core.attention.recording import Recording
from attention_core.attention.scores import Cosine, ScaledDot
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis
from tests.support.traces import of_weights, trace_of

NASTY = "</script><script>ran=1</script><img src=x onerror=ran=1>"
SOURCE = Axis("source <b>tokens</b>", ["[CLS]", "the", "cat", "[SEP]", "it", NASTY, "[SEP]"])
TARGET = Axis("target tokens", ["<s>", " Die", " Kat", "ze", " —"])
PATCHES = Axis("patches", ["[CLS]", *(f"patch {row}, {column}" for row in (1, 2) for column in (1, 2, 3))])


def made(name: str, queries: Axis, keys: Axis, n_heads: int = 2, kv_heads: int | None = None, **more) -> AttentionTrace:
    generator = torch.Generator().manual_seed(len(name))
    shapes = (n_heads, len(queries), 8), (kv_heads or n_heads, len(keys), 8), (kv_heads or n_heads, len(keys), 3)
    query, key, value = (torch.randn(*shape, generator=generator) * 1.5 for shape in shapes)
    return trace_of(query, key, value, queries=queries, keys=keys, name=name, **more)


def every_kind() -> Recording:
    """Return traces with masks, biases, sinks, caps, shared keys, other scores, no softmax, and weights alone."""
    generator = torch.Generator().manual_seed(0)
    m = len(SOURCE)
    blind = torch.rand(2, m, m, generator=generator) > 0.3
    blind[:, 2] = False
    bias = torch.randn(1, m, m, generator=generator)
    weights = of_weights(torch.rand(2, m, m, generator=generator).softmax(-1).tril(), "alone.0.self")
    return Recording(
        [
            made("encoder.0.self", SOURCE, SOURCE),
            made("encoder.1.self", SOURCE, SOURCE, mask=blind, sinks=torch.randn(2, 1, generator=generator)),
            made("decoder.0.self", TARGET, TARGET, is_causal=True, n_heads=4, kv_heads=2),
            made("decoder.0.cross", TARGET, SOURCE, score=ScaledDot(0.7, cap=2.0)),
            made("biased.0.self", SOURCE, SOURCE, bias=bias, mask=torch.ones(1, 1, m, dtype=torch.bool)),
            made("cosine.0.cross", TARGET, SOURCE, score=Cosine()),
            made("linear.0.self", SOURCE, SOURCE, has_softmax=False, is_causal=True),
            replace(weights, story=replace(weights.story, query_axis=SOURCE, key_axis=SOURCE)),
            made("vision.0.self", PATCHES, PATCHES),
            made("half.0.cross", TARGET, Axis.numbered("keys", 300), n_heads=1),
        ],
        "A note with <i>signs</i>.",
    )
