"""Attention with each of the eight functions, masks and heads, against numpy float64 written out in loops."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.attention.attend import attend
from attention_core.attention.scores import all_scores
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Story

TOLERANCE = 1e-10
SCORE_NAMES = ("dot", "scaled dot", "general", "cosine", "additive", "concat", "location", "L2 distance")
D_A, N_POSITIONS = 3, 32


def parameters(generator, d):
    shapes = {
        "general.W": (d, d),
        "additive.W_q": (D_A, d),
        "additive.W_k": (D_A, d),
        "additive.v": (D_A,),
        "concat.W": (D_A, 2 * d),
        "concat.v": (D_A,),
        "location.W": (N_POSITIONS, d),
    }
    return {name: generator.normal(size=shape) for name, shape in shapes.items()}


def score_of_a_pair(name, q, k, place, p):
    """One score, by the formula as it is printed."""
    return {
        "dot": lambda: q @ k,
        "scaled dot": lambda: q @ k / len(q) ** 0.5,
        "general": lambda: q @ p["general.W"] @ k,
        "cosine": lambda: q @ k / (np.sqrt(q @ q) * np.sqrt(k @ k)),
        "additive": lambda: p["additive.v"] @ np.tanh(p["additive.W_q"] @ q + p["additive.W_k"] @ k),
        "concat": lambda: p["concat.v"] @ np.tanh(p["concat.W"] @ np.concatenate([q, k])),
        "location": lambda: p["location.W"][place] @ q,
        "L2 distance": lambda: -sum((a - b) ** 2 for a, b in zip(q, k, strict=True)) / 2,
    }[name]()


def attention_by_hand(name, q, k, v, mask, p):
    """Weights and context of one head; a query that sees nobody gets zeros."""
    weights = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        seen = np.flatnonzero(mask[i])
        powers = np.array([np.exp(score_of_a_pair(name, q[i], k[j], j, p)) for j in seen])
        weights[i, seen] = powers / powers.sum() if len(seen) else 0
    return weights, weights @ v


@pytest.mark.parametrize("name", SCORE_NAMES)
@given(st.integers(1, 4), st.integers(1, 8), st.integers(1, 32), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_weights_and_context_of_every_head_agree(name, n_heads, n_queries, n_keys, d, seed):
    generator = np.random.default_rng(seed)
    p = parameters(generator, d)
    q, k, v = (generator.normal(size=(n_heads, n, d)) for n in (n_queries, n_keys, n_keys))
    mask = generator.random((n_heads, n_queries, n_keys)) < 0.7
    mask[0, 0] = False  # a query that may attend to nobody
    score = all_scores({key: torch.from_numpy(value) for key, value in p.items()})[name]
    query, key, value, allowed = (torch.from_numpy(array) for array in (q, k, v, mask))
    trace = AttentionTrace(
        query=query,
        key=key,
        value=value,
        score=score,
        mask=allowed,
        story=Story(
            mechanism=name, query_axis=Axis.numbered("queries", n_queries), key_axis=Axis.numbered("keys", n_keys)
        ),
    )
    context = attend(query[None], key[None], value[None], score=score, mask=allowed[None]).context[0]
    for head in range(n_heads):
        weights, expected = attention_by_hand(name, q[head], k[head], v[head], mask[head], p)
        assert np.abs(trace.weights(head).numpy() - weights).max() < TOLERANCE
        assert np.abs(trace.context(head).numpy() - expected).max() < TOLERANCE
        assert np.abs(context[head].numpy() - expected).max() < TOLERANCE
    sums = torch.stack([trace.weights(head).sum(-1) for head in range(n_heads)])
    assert torch.allclose(sums, allowed.any(-1).to(sums), atol=1e-12, rtol=0)
    assert trace.weights(0)[0].tolist() == [0] * n_keys
