"""All weights of traces of every kind in float64, and an atlas held against them."""

import math

import numpy as np
import torch

from attention_core.atlas import Atlas
from attention_core.attention.edits import BlockKeys, SetScore, Uniform
from attention_core.attention.scores import Additive, Cosine, General, Location, ScaledDot
from tests.support.traces import random_trace

N_QUERIES, N_KEYS, D, HEADS = 530, 610, 5, 4


def trace_of(n_queries=N_QUERIES, n_keys=N_KEYS, *, heads=HEADS, key_heads=None, size=1.0, **more):
    keys = (key_heads or heads, n_keys, D)
    trace = random_trace((heads, n_queries, D), keys, keys, seed=7, **more)
    trace.query.mul_(size)
    return trace


def dense(trace, head, score=None):
    """Return all weights of a head, in float64 throughout, with nothing of the atlas."""
    query, key = trace.query[head].double(), trace.key_of(head).double()
    scores = (query @ key.T / math.sqrt(D)) if score is None else score(query, key)
    if trace.bias is not None:
        scores = scores + trace.bias.double().expand(HEADS, *scores.shape)[head]
    scores = scores * (0 if Uniform() in trace.edits else 1)
    for edit in trace.edits:
        if isinstance(edit, SetScore) and edit.head == head:
            scores[edit.query, edit.key] = edit.score
    allowed = torch.ones_like(scores, dtype=torch.bool)
    if trace.mask is not None:
        allowed = allowed & trace.mask.expand(HEADS, *scores.shape)[head]
    if trace.is_causal:
        allowed = allowed.tril()
    allowed[:, [key for edit in trace.edits for key in edit.blocked()]] = False
    scores = scores.masked_fill(~allowed, -math.inf)
    if trace.sinks is not None:
        sinks = trace.sinks.double().expand(HEADS, len(scores))[head][:, None]
        return torch.cat([scores, sinks], 1).softmax(1)[:, :-1].numpy()
    return scores.softmax(1).nan_to_num().numpy()


def whole(atlas, level):
    n_rows, n_cols = atlas.n_tiles(level)
    return np.block([[atlas.tile(level, row, col) for col in range(n_cols)] for row in range(n_rows)])


def blocks(weights, block):
    """Return the maximum of each block, those at the edges over the cells that there are."""
    tops, lefts = range(0, weights.shape[0], block), range(0, weights.shape[1], block)
    return np.maximum.reduceat(np.maximum.reduceat(weights, tops, 0), lefts, 1)


def assert_within(got, expected, relative=1e-4):
    assert got.shape == expected.shape
    assert got.dtype == np.float32
    representable = expected > 1e-37
    np.testing.assert_allclose(got[representable], expected[representable], rtol=relative)
    assert (got[expected == 0] == 0).all()


def assert_blocks(atlas, level, weights):
    assert_within(whole(atlas, level), blocks(weights, 2**level))


def assert_survey(atlas, weights):
    """Hold the blocks that the survey kept against all weights, whether or not a tile would be made of them."""
    with torch.inference_mode():
        kept = atlas._survey.pooled(slice(0, atlas.n_queries), slice(0, atlas.n_keys), 2**atlas.base_level)
    assert_within(kept.numpy(), blocks(weights, 2**atlas.base_level))


def surveyed(trace, head=0):
    atlas = Atlas(trace, head)
    assert list(atlas.survey())[-1] == 1
    return atlas


def window(width):
    distance = torch.arange(N_QUERIES)[:, None] - torch.arange(N_KEYS)
    return ((distance >= 0) & (distance < width))[None]


GENERATOR = torch.Generator().manual_seed(1)
SOME = torch.rand(HEADS, N_QUERIES, N_KEYS, generator=GENERATOR) > 0.4
PADDING = torch.arange(N_KEYS).expand(1, 1, -1) < 333
BIAS = torch.randn(HEADS, N_QUERIES, N_KEYS, generator=GENERATOR)
BLIND = torch.ones(1, N_QUERIES, N_KEYS, dtype=torch.bool)
BLIND[:, 200:300] = False
TRACES = {
    "plain": trace_of(),
    "causal": trace_of(is_causal=True),
    "mask": trace_of(mask=SOME),
    "mask and causal": trace_of(mask=SOME, is_causal=True),
    "sliding window": trace_of(mask=window(100)),
    "padding": trace_of(mask=PADDING),
    "blind queries": trace_of(mask=BLIND),
    "bias": trace_of(bias=BIAS),
    "bias of a row": trace_of(bias=BIAS[:1, :1]),
    "bias of all heads": trace_of(bias=40 * BIAS[0]),
    "sinks": trace_of(sinks=BIAS[:, :1, 0]),
    "grouped keys": trace_of(key_heads=2),
    "half": trace_of(dtype=torch.float16),
    "bfloat16": trace_of(dtype=torch.bfloat16),
    "double": trace_of(dtype=torch.float64),
    "large scores": trace_of(size=300.0),
    "large scores, causal, with sinks": trace_of(size=300.0, is_causal=True, sinks=100 * BIAS[:, :, 0]),
    "at the edge of what is computed in float32": trace_of(size=7.0),
    "large bias": trace_of(bias=200 * BIAS),
    "blocked keys": trace_of(edits=(BlockKeys((3, 300, 609)),)),
    "blocked keys and a mask": trace_of(mask=SOME, edits=(BlockKeys((3, 300, 609)),)),
    "uniform": trace_of(edits=(Uniform(),)),
    "an edited score": trace_of(edits=(SetScore(400, 500, 9.0, head=1), SetScore(3, 3, 5.0, head=0))),
}
W = torch.randn(D, D, generator=GENERATOR)
SCORES = {
    "cosine": (Cosine(), Cosine()),
    "general": (General(W), General(W.double())),
    "additive": (Additive(W, 2 * W, W[0]), Additive(W.double(), 2 * W.double(), W[0].double())),
    "location": (Location(BIAS[0, :D].T), Location(BIAS[0, :D].T.double())),
    "another scale": (ScaledDot(0.9), ScaledDot(0.9)),
    "softcap": (ScaledDot(cap=2.0), ScaledDot(cap=2.0)),
}
