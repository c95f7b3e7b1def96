"""Each scoring function against an independent computation in numpy float64."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.attention.scores import (
    Additive,
    Concat,
    Cosine,
    Dot,
    General,
    Location,
    ScaledDot,
    printed_concat,
)

TOLERANCE = 1e-10
sizes = st.integers(1, 32)
seeds = st.integers(0, 2**32 - 1)


def numbers(seed, *shapes):
    """Random float64 arrays of these shapes."""
    generator = np.random.default_rng(seed)
    return [generator.normal(size=shape) for shape in shapes]


def tensors(*arrays):
    return [torch.from_numpy(array) for array in arrays]


def assert_equal(scores, expected):
    assert tuple(scores.shape) == expected.shape
    assert np.abs(scores.numpy() - expected).max() < TOLERANCE


@given(sizes, sizes, sizes, seeds)
def test_dot_is_the_sum_of_products(n_queries, n_keys, d, seed):
    q, k = numbers(seed, (n_queries, d), (n_keys, d))
    assert_equal(Dot()(*tensors(q, k)), np.einsum("id,jd->ij", q, k))


@given(sizes, sizes, sizes, seeds)
def test_scaled_dot_divides_by_the_root_of_the_width(n_queries, n_keys, d, seed):
    q, k = numbers(seed, (n_queries, d), (n_keys, d))
    assert_equal(ScaledDot()(*tensors(q, k)), np.einsum("id,jd->ij", q, k) / np.sqrt(d))
    assert_equal(ScaledDot(scale=0.3)(*tensors(q, k)), np.einsum("id,jd->ij", q, k) * 0.3)


@given(sizes, sizes, sizes, sizes, seeds)
def test_general_puts_a_matrix_between_query_and_key(n_queries, n_keys, d_q, d_k, seed):
    q, k, w = numbers(seed, (n_queries, d_q), (n_keys, d_k), (d_q, d_k))
    assert_equal(General(tensors(w)[0])(*tensors(q, k)), np.einsum("id,de,je->ij", q, w, k))


@given(sizes, sizes, sizes, seeds)
def test_cosine_divides_by_both_lengths(n_queries, n_keys, d, seed):
    q, k = numbers(seed, (n_queries, d), (n_keys, d))
    lengths = np.sqrt((q**2).sum(1))[:, None] * np.sqrt((k**2).sum(1))[None]
    assert_equal(Cosine()(*tensors(q, k)), np.einsum("id,jd->ij", q, k) / lengths)


@given(sizes, sizes, sizes, sizes, sizes, seeds)
def test_additive_is_a_small_network_of_query_and_key(n_queries, n_keys, d_q, d_k, d_a, seed):
    q, k, w_q, w_k, v = numbers(seed, (n_queries, d_q), (n_keys, d_k), (d_a, d_q), (d_a, d_k), (d_a,))
    expected = np.array([[v @ np.tanh(w_q @ one + w_k @ other) for other in k] for one in q])
    assert_equal(Additive(*tensors(w_q, w_k, v))(*tensors(q, k)), expected)


@given(sizes, sizes, sizes, sizes, sizes, seeds)
def test_concat_is_a_small_network_of_both_laid_end_to_end(n_queries, n_keys, d_q, d_k, d_a, seed):
    q, k, w, v = numbers(seed, (n_queries, d_q), (n_keys, d_k), (d_a, d_q + d_k), (d_a,))
    expected = np.array([[v @ np.tanh(w @ np.concatenate([one, other])) for other in k] for one in q])
    assert_equal(Concat(*tensors(w, v))(*tensors(q, k)), expected)


@given(sizes, sizes, sizes, st.integers(0, 8), seeds)
def test_location_never_looks_at_the_keys(n_queries, n_keys, d, more, seed):
    q, k, w = numbers(seed, (n_queries, d), (n_keys, d), (n_keys + more, d))
    scores = Location(tensors(w)[0])(*tensors(q, k))
    assert_equal(scores, np.einsum("id,jd->ij", q, w[:n_keys]))
    assert torch.equal(scores, Location(tensors(w)[0])(*tensors(q, 7 * k + 1)))


@given(sizes, sizes, sizes, sizes, seeds)
def test_the_formula_without_w_gives_every_query_the_same_weights(n_queries, n_keys, d_q, d_k, seed):
    q, k, v = numbers(seed, (n_queries, d_q), (n_keys, d_k), (d_q + d_k,))
    scores = printed_concat(tensors(v)[0])(*tensors(q, k))
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
