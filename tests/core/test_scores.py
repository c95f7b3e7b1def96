"""Each scoring function, and attention with it, masks and heads, against numpy float64 written out in loops."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.attention.attend import attend
from attention_core.attention.scores import (
    Additive,
    Concat,
    Cosine,
    Dot,
    General,
    Location,
    ScaledDot,
    all_scores,
    printed_concat,
)
from tests.traces import trace_of

TOLERANCE = 1e-10
SCORE_NAMES = ("dot", "scaled dot", "general", "cosine", "additive", "concat", "location", "L2 distance")
TWO_WIDTHS = ("general", "additive", "concat")  # functions whose queries and keys may have widths of their own
N_POSITIONS = 40
sizes = st.integers(1, 32)
seeds = st.integers(0, 2**32 - 1)


def parameters(generator, d_q, d_k, d_a=3):
    shapes = {
        "general.W": (d_q, d_k),
        "additive.W_q": (d_a, d_q),
        "additive.W_k": (d_a, d_k),
        "additive.v": (d_a,),
        "concat.W": (d_a, d_q + d_k),
        "concat.v": (d_a,),
        "location.W": (N_POSITIONS, d_q),
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


def score_with(name, p):
    return all_scores({key: torch.from_numpy(value) for key, value in p.items()})[name]


def numbers(seed, *shapes):
    """Random float64 arrays of these shapes."""
    generator = np.random.default_rng(seed)
    return [generator.normal(size=shape) for shape in shapes]


def tensors(*arrays):
    return [torch.from_numpy(array) for array in arrays]


def assert_equal(scores, expected):
    assert tuple(scores.shape) == expected.shape
    assert np.abs(scores.numpy() - expected).max() < TOLERANCE


@pytest.mark.parametrize("name", SCORE_NAMES)
@given(sizes, sizes, sizes, sizes, sizes, seeds)
def test_every_function_is_its_printed_formula(name, n_queries, n_keys, d_q, d_k, d_a, seed):
    d_k = d_k if name in TWO_WIDTHS else d_q
    q, k = numbers(seed, (n_queries, d_q), (n_keys, d_k))
    p = parameters(np.random.default_rng(seed + 1), d_q, d_k, d_a)
    expected = [[score_of_a_pair(name, one, other, place, p) for place, other in enumerate(k)] for one in q]
    scores = score_with(name, p)(*tensors(q, k))
    assert_equal(scores, np.array(expected))
    if name == "scaled dot":
        assert_equal(ScaledDot(scale=0.3)(*tensors(q, k)), q @ k.T * 0.3)
    if name == "location":
        assert torch.equal(scores, score_with(name, p)(*tensors(q, 7 * k + 1))), "it never looks at the keys"


@given(sizes, sizes, sizes, sizes, seeds)
def test_the_formula_without_w_gives_every_query_the_same_weights(n_queries, n_keys, d_q, d_k, seed):
    q, k, v = numbers(seed, (n_queries, d_q), (n_keys, d_k), (d_q + d_k,))
    scores = printed_concat(torch.from_numpy(v))(*tensors(q, k))
    expected = np.array([[v @ np.tanh(np.concatenate([one, other])) for other in k] for one in q])
    assert_equal(scores, expected)
    weights = scores.softmax(-1).numpy()
    assert np.abs(weights - weights[:1]).max() < TOLERANCE


@pytest.mark.parametrize("d", [1, 2, 5])
def test_stages_end_in_the_scores_of_the_call(d):
    q, k, w, v = tensors(*numbers(3, (4, d), (6, d), (7, 2 * d), (7,)))
    for score in (
        Dot(),
        ScaledDot(),
        Cosine(),
        General(w[:d, :d]),
        Concat(w, v),
        Additive(w[:, :d], w[:, d:], v),
        Location(w[:, :d]),
    ):
        assert torch.equal(score.stages(d)[-1].compute(q, k), score(q, k)), score.name


def test_a_vector_of_zeros_has_cosine_zero_not_nan():
    scores = Cosine()(torch.zeros(1, 3), torch.tensor([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]))
    assert torch.equal(scores, torch.zeros(1, 2))


@pytest.mark.parametrize(
    ("score", "words"),
    [
        (Dot(), "same d_k, got 2 and 3"),
        (Cosine(), "same d_k, got 2 and 3"),
        (General(torch.zeros(3, 2)), r"\(2, 3\), got \(3, 2\)"),
        (Concat(torch.zeros(4, 4), torch.zeros(4)), r"5 columns for \[q; k\], got 4"),
        (Location(torch.zeros(1, 2)), "know 1 positions, got 2 keys"),
    ],
)
def test_shapes_that_do_not_fit_are_named(score, words):
    with pytest.raises(ValueError, match=words):
        score(torch.zeros(1, 2), torch.zeros(2, 3))


def attention_by_hand(name, q, k, v, mask, p):
    """Weights and context of one head; a query that sees nobody gets zeros."""
    weights = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        seen = np.flatnonzero(mask[i])
        powers = np.array([np.exp(score_of_a_pair(name, q[i], k[j], j, p)) for j in seen])
        weights[i, seen] = powers / powers.sum() if len(seen) else 0
    return weights, weights @ v


@pytest.mark.parametrize("name", SCORE_NAMES)
@given(st.integers(1, 4), st.integers(1, 8), sizes, st.integers(1, 6), seeds)
def test_weights_and_context_of_every_head_agree(name, n_heads, n_queries, n_keys, d, seed):
    generator = np.random.default_rng(seed)
    p = parameters(generator, d, d)
    q, k, v = (generator.normal(size=(n_heads, n, d)) for n in (n_queries, n_keys, n_keys))
    mask = generator.random((n_heads, n_queries, n_keys)) < 0.7
    mask[0, 0] = False  # a query that may attend to nobody
    score = score_with(name, p)
    query, key, value, allowed = (torch.from_numpy(array) for array in (q, k, v, mask))
    trace = trace_of(query, key, value, score=score, mask=allowed)
    context = attend(query[None], key[None], value[None], score=score, mask=allowed[None]).context[0]
    for head in range(n_heads):
        weights, expected = attention_by_hand(name, q[head], k[head], v[head], mask[head], p)
        assert np.abs(trace.weights(head).numpy() - weights).max() < TOLERANCE
        assert np.abs(trace.context(head).numpy() - expected).max() < TOLERANCE
        assert np.abs(context[head].numpy() - expected).max() < TOLERANCE
    sums = torch.stack([trace.weights(head).sum(-1) for head in range(n_heads)])
    assert torch.allclose(sums, allowed.any(-1).to(sums), atol=1e-12, rtol=0)
    assert trace.weights(0)[0].tolist() == [0] * n_keys
