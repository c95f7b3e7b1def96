"""Attention's mathematics against PyTorch's own, over shapes, masks and heads that hypothesis chooses."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from attention_core import UNIFORM, BlockKeys, attend, merge_heads, split_heads
from attention_core.attention.scores import Cosine, Dot, ScaledDot


@st.composite
def problems(draw, with_mask=None):
    """Query, key, value and perhaps a mask; every axis has its own size, so that no swapped axis can pass."""
    batch, heads, n_queries, n_keys, d_k, d_v = draw(
        st.lists(st.integers(1, 24), min_size=6, max_size=6, unique=True).map(tuple)
    )
    generator = torch.Generator().manual_seed(draw(st.integers(0, 10_000)))
    query, key = (torch.randn(batch, heads, n, d_k, generator=generator) for n in (n_queries, n_keys))
    value = torch.randn(batch, heads, n_keys, d_v, generator=generator)
    mask = None
    if with_mask or (with_mask is None and draw(st.booleans())):
        shape = draw(st.sampled_from([(n_queries, n_keys), (heads, n_queries, n_keys), (batch, 1, n_queries, n_keys)]))
        mask = torch.rand(shape, generator=generator) < 0.6
    return query, key, value, mask


@given(problems())
def test_context_equals_torch_s_with_equal_weights_and_blocked_keys_too(problem):
    query, key, value, mask = problem
    expected = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    assert_close(attend(query, key, value, mask=mask).context, expected)
    seen = torch.ones(*query.shape[:3], key.shape[2]) if mask is None else mask.expand(*query.shape[:3], -1).float()
    expected = (seen / seen.sum(-1, keepdim=True).clamp(min=1)) @ value
    assert_close(attend(query, key, value, mask=mask, edits=UNIFORM).context, expected)
    blocked = key.shape[2] - 1
    kept = torch.arange(key.shape[2]) != blocked
    edited = attend(query, key, value, mask=mask, edits=(BlockKeys((blocked,)),)).context
    rest = None if mask is None else mask[..., kept]
    if kept.any():
        expected = F.scaled_dot_product_attention(query, key[:, :, kept], value[:, :, kept], attn_mask=rest)
        assert_close(edited, expected, atol=1e-5, rtol=1e-4)
    else:
        assert (edited == 0).all()


@given(problems(), st.sampled_from([Dot(), Cosine(), ScaledDot(0.3)]))
def test_block_path_equals_a_softmax_over_the_whole_matrix(problem, score):
    query, key, value, mask = problem
    scores = score(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    expected = scores.softmax(-1).nan_to_num() @ value
    assert_close(attend(query, key, value, score=score, mask=mask).context, expected)


@given(problems(with_mask=False))
def test_normaliser_of_the_kernel_is_the_log_sum_exp_of_the_rows(problem):
    query, key, _, _ = problem
    value = torch.randn(*key.shape)  # the kernel wants d_v = d_k
    attended = attend(query, key, value, with_normaliser=True)
    expected = ScaledDot()(query, key).logsumexp(-1)
    assert attended.log_normaliser is not None
    assert_close(attended.log_normaliser, expected, atol=1e-5, rtol=1e-5)
    assert_close(attended.context, F.scaled_dot_product_attention(query, key, value))


@pytest.mark.parametrize("n_heads", [1, 3, 4])
def test_heads_split_and_merged_equal_multihead_attention(n_heads):
    torch.manual_seed(n_heads)
    batch, n_queries, n_keys, width = 2, 5, 7, 12
    layer = nn.MultiheadAttention(width, n_heads, batch_first=True).eval()
    sources, memory = torch.randn(batch, n_queries, width), torch.randn(batch, n_keys, width)
    mask = torch.rand(n_queries, n_keys) < 0.7
    mask[:, 2] = True
    with torch.no_grad():
        expected, _ = layer(sources, memory, memory, attn_mask=~mask)  # there True = blocked
        parts = zip((sources, memory, memory), layer.in_proj_weight.chunk(3), layer.in_proj_bias.chunk(3), strict=True)
        query, key, value = (split_heads(F.linear(x, weight, bias), n_heads) for x, weight, bias in parts)
        output = layer.out_proj(merge_heads(attend(query, key, value, mask=mask).context))
    assert_close(output, expected, atol=1e-5, rtol=1e-4)


@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 6), st.integers(1, 7))
def test_merging_heads_undoes_splitting_them(batch, n_heads, n, d):
    merged = torch.randn(batch, n, n_heads * d)
    assert split_heads(merged, n_heads).shape == (batch, n_heads, n, d)
    assert torch.equal(merge_heads(split_heads(merged, n_heads)), merged)


def test_widths_and_shapes_that_do_not_fit_are_named():
    with pytest.raises(ValueError, match="width of 10 cannot be split into 3 heads"):
        split_heads(torch.zeros(1, 2, 10), 3)
    query, key, value = torch.zeros(1, 2, 5, 3), torch.zeros(1, 2, 7, 3), torch.zeros(1, 2, 7, 4)
    with pytest.raises(ValueError, match=r"query must be \(batch, n_heads, n, d\), got \(5, 3\)"):
        attend(query[0, 0], key, value)
    with pytest.raises(ValueError, match="key and value the same n_keys"):
        attend(query, key, value[:, :, 1:])
    with pytest.raises(ValueError, match="d_k"):
        attend(query, key[..., :2], value)
    with pytest.raises(ValueError, match="from 0 to 6"):
        attend(query, key, value, edits=(BlockKeys((7,)),))


@given(problems(with_mask=True))
def test_query_that_sees_no_key_gets_exactly_zero(problem):
    query, key, value, mask = problem
    blind = mask.clone()
    blind[..., 0, :] = False
    for score in (None, Dot()):
        context = attend(query, key, value, mask=blind, score=score).context
        assert (context[..., 0, :] == 0).all()
        assert context.isfinite().all()
