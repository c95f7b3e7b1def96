"""2-simplicial attention against numpy in float64, written out as a sum over i, j, k."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.attention.attend import attend
from attention_core.attention.edits import DropHead
from attention_core.attention.key_pairs import (
    distinct_pairs_mask,
    not_self_mask,
    pair_axis,
    pair_products,
    pair_scores,
    pair_weights,
)
from attention_core.attention.types import Axis
from tests.support.traces import trace_of

sizes = st.integers(1, 7)


def in_numpy(query, keys, values, mask):
    """Context and weights of (n_queries, d), 2 x (n_keys, d_k), 2 x (n_keys, d_v) and a (q, n, n) mask."""
    scores = np.einsum("ih,jh,kh->ijk", query, *keys) / np.sqrt(query.shape[1])
    exponentials = np.exp(scores - scores.max()) * mask
    totals = exponentials.sum((1, 2), keepdims=True)
    weights = np.divide(exponentials, totals, out=np.zeros_like(scores), where=totals > 0)
    return np.einsum("ijk,jd,kd->id", weights, *values), weights


@given(sizes, sizes, st.integers(1, 9), st.integers(1, 5), st.integers(1, 3), st.booleans(), st.integers(0, 999))
def test_context_is_the_sum_over_all_pairs(n_queries, n_keys, d_k, d_v, n_heads, masked, seed):
    source = np.random.default_rng(seed)
    query = source.normal(size=(n_heads, n_queries, d_k))
    keys, values = source.normal(size=(2, n_heads, n_keys, d_k)), source.normal(size=(2, n_heads, n_keys, d_v))
    shape = n_heads, n_queries, n_keys, n_keys
    mask = source.random(shape) < 0.6 if masked else np.ones(shape, bool)
    tensors = [torch.from_numpy(part)[None] for part in (query, *keys, *values)]
    pairs = pair_products(*tensors[1:3]), pair_products(*tensors[3:])
    context = attend(tensors[0], *pairs, mask=torch.from_numpy(mask)[None].flatten(-2)).context[0]
    for head in range(n_heads):
        expected, _ = in_numpy(query[head], keys[:, head], values[:, head], mask[head])
        np.testing.assert_allclose(context[head].numpy(), expected, atol=1e-10)


def test_a_query_without_pairs_gets_zeros_and_an_ablated_head_hands_over_nothing():
    mask = torch.ones(1, 1, 3, 4, 4, dtype=torch.bool)
    mask[..., 1, :, :] = False
    pairs = [pair_products(*torch.randn(2, 1, 1, 4, width)) for width in (5, 2)]
    context = attend(torch.randn(1, 1, 3, 5), *pairs, mask=mask.flatten(-2)).context[0, 0]
    assert (context[1] == 0).all()
    assert not (context[0] == 0).any()
    parts = torch.randn(1, 2, 3, 5)
    context = attend(parts, *(2 * [pair_products(parts, parts)]), edits=(DropHead(1),)).context[0]
    assert (context[1] == 0).all()
    assert (context[0] != 0).all()


def test_slices_of_a_trace_are_the_weights_and_scores_of_one_query():
    source = np.random.default_rng(3)
    query, keys, values = source.normal(size=(3, 5)), source.normal(size=(2, 4, 5)), source.normal(size=(2, 4, 2))
    mask = source.random((3, 4, 4)) < 0.7
    single = Axis.numbered("others", 4)
    vectors = torch.from_numpy(query)[None], *(pair_products(*torch.from_numpy(both))[None] for both in (keys, values))
    trace = trace_of(*vectors, keys=pair_axis(single), mask=torch.from_numpy(mask).flatten(1)[None])
    context, weights = in_numpy(query, keys, values, mask)
    np.testing.assert_allclose(trace.context().numpy(), context, atol=1e-10)
    for place in range(3):
        np.testing.assert_allclose(pair_weights(trace, place).numpy(), weights[place], atol=1e-10)
        scores = pair_scores(trace, place).numpy()
        assert (np.isfinite(scores) == mask[place]).all()
        expected = np.einsum("h,jh,kh->jk", query[place], *keys) / np.sqrt(5)
        np.testing.assert_allclose(scores[mask[place]], expected[mask[place]], atol=1e-10)
    assert trace.story.key_axis.labels[4 * 2 + 3] == "(3, 4)"


def test_pairs_that_are_none_too_many_or_of_unequal_widths_are_refused_in_words():
    part = torch.randn(1, 4, 5)
    with pytest.raises(ValueError, match="not pairs"):
        pair_weights(trace_of(part, part), 0)
    with pytest.raises(ValueError, match="same width, got 3 and 4"):
        pair_products(torch.zeros(5, 3), torch.zeros(5, 4))
    with pytest.raises(ValueError, match="1,000,000 pairs"):
        pair_products(torch.zeros(1000, 1), torch.zeros(1000, 1))


@given(st.integers(1, 6))
def test_masks_leave_out_oneself_and_doubles(n):
    assert not_self_mask(n, 1).tolist() == [[i != j for j in range(n + 1)] for i in range(n)]
    plain, more = distinct_pairs_mask(n), distinct_pairs_mask(n, with_nobody=True)
    assert plain.tolist() == [[[len({i, j, k}) == 3 for k in range(n)] for j in range(n)] for i in range(n)]
    assert (more[:, :n, :n] == plain).all()
    assert more[:, n, n].all()
    assert more.sum() == plain.sum() + n
