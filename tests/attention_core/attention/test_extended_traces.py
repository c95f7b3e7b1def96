"""What other people's models add to a trace: grouped keys, biases, sinks, caps, causality, short floats."""

import io

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from attention_core import UNIFORM, AttentionTrace, capture
from attention_core.attention.export import trace_to_code, trace_to_npz
from attention_core.attention.scores import ScaledDot
from attention_core.attention.steps import cell_formula, row_table, step_of, steps_of
from attention_core.attention.trace import ROWS_AT_ONCE
from tests.support.traces import of_weights, random_trace

N_HEADS, N_KEY_HEADS, N_QUERIES, N_KEYS, D_K, D_V = 4, 2, ROWS_AT_ONCE + 3, 11, 3, 5


def make_trace(n_key_heads=N_KEY_HEADS, dtype=torch.float32, **more) -> AttentionTrace:
    shapes = (N_HEADS, N_QUERIES, D_K), (n_key_heads, N_KEYS, D_K), (n_key_heads, N_KEYS, D_V)
    return random_trace(*shapes, dtype=dtype, **more)


def dots(trace: AttentionTrace) -> torch.Tensor:
    key = trace.key.float().repeat_interleave(N_HEADS // trace.key.shape[0], 0)
    return trace.query.float() @ key.transpose(1, 2) / D_K**0.5


def check(trace: AttentionTrace, weights: torch.Tensor) -> None:
    value = trace.value.float().repeat_interleave(N_HEADS // trace.value.shape[0], 0)
    for head in range(N_HEADS):
        assert_close(trace.weights(head), weights[head])
        assert_close(trace.weights(head, [258, 3], [10, 0]), weights[head][[258, 3]][:, [10, 0]])
        assert_close(trace.context(head), weights[head] @ value[head], atol=1e-5, rtol=1e-4)
        assert_close(step_of(trace, "weights").value(head), weights[head])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_grouped_keys_serve_neighbouring_heads_and_short_floats_are_scored_in_single_precision(dtype):
    trace = make_trace(dtype=dtype)
    check(trace, dots(trace).softmax(-1))
    assert trace.key.shape[0] == N_KEY_HEADS
    assert trace.key_of(1).data_ptr() == trace.key_of(0).data_ptr()
    assert trace.summary(3).entropy.isfinite().all()


def test_a_bias_is_part_of_the_scores_and_a_step_of_its_own():
    bias = torch.randn(N_HEADS, N_QUERIES, N_KEYS, generator=torch.Generator().manual_seed(1))
    trace = make_trace(bias=bias)
    check(trace, (dots(trace) + bias).softmax(-1))
    assert_close(trace.scores(2), (dots(trace) + bias)[2])
    assert [step.name for step in steps_of(trace)] == ["scores", "scaled", "bias", "weights", "context"]
    assert_close(step_of(trace, "scaled").value(2), dots(trace)[2])
    assert_close(trace.replace(UNIFORM).weights(0), torch.full((N_QUERIES, N_KEYS), 1 / N_KEYS))


def test_a_sink_takes_its_share_of_every_row():
    sinks = torch.randn(N_HEADS, 1, generator=torch.Generator().manual_seed(2))
    trace = make_trace(sinks=sinks)
    scores = torch.cat([dots(trace), sinks[:, :, None].expand(-1, N_QUERIES, 1)], -1)
    check(trace, scores.softmax(-1)[..., :-1])
    assert (trace.weights(0).sum(1) < 1).all()
    assert "sink" in step_of(trace, "weights").code


def test_capped_scores_stay_within_the_cap():
    trace = make_trace(score=ScaledDot(cap=0.5))
    check(trace, ((dots(trace) / 0.5).tanh() * 0.5).softmax(-1))
    assert trace.scores(0).abs().max() <= 0.5
    assert step_of(trace, "capped").shape == (N_QUERIES, N_KEYS)
    with pytest.raises(ValueError, match="cap must be positive"):
        ScaledDot(cap=0.0)


def test_a_causal_trace_needs_no_mask_and_combines_with_one():
    past = torch.ones(N_QUERIES, N_KEYS, dtype=torch.bool).tril()
    mask = torch.rand(N_QUERIES, N_KEYS, generator=torch.Generator().manual_seed(3)) < 0.8
    mask[:, 0] = True
    alone, both = make_trace(is_causal=True), make_trace(is_causal=True, mask=mask)
    check(alone, dots(alone).masked_fill(~past, -torch.inf).softmax(-1))
    check(both, dots(both).masked_fill(~(past & mask), -torch.inf).softmax(-1))
    assert_close(both.allowed(0, [2, 258], [4, 1]), (past & mask)[[2, 258]][:, [4, 1]])
    assert "mask" in [step.name for step in steps_of(alone)]


def test_numbers_and_files_know_the_extensions():
    trace = make_trace(
        dtype=torch.bfloat16, bias=torch.ones(1, 1, N_KEYS), sinks=torch.zeros(N_HEADS, 1), is_causal=True
    )
    assert cell_formula(trace, step_of(trace, "scaled"), 3, 2, 1)
    assert row_table(trace, 3, 5)["weight"].sum() < 1
    file = np.load(io.BytesIO(trace_to_npz(trace)))
    assert file["key"].shape == (N_HEADS, N_KEYS, D_K)
    assert "torch.cat([scores, sink], dim=-1)" in trace_to_code(trace)
    weights = np.exp(file["scores"] - file["log_normaliser"][..., None]) * file["mask"]
    assert_close(torch.from_numpy(weights[3]), trace.weights(3))


def test_a_number_of_heads_that_cannot_be_shared_out_is_refused():
    with pytest.raises(ValueError, match="same n_heads"):
        make_trace(n_key_heads=3)


def test_a_recorded_trace_has_its_vectors_as_steps_and_grouped_heads_share_keys():
    with capture() as recording:
        query, key = torch.randn(1, 4, 3, 8), torch.randn(1, 2, 5, 8)
        torch.nn.functional.scaled_dot_product_attention(query, key, key, enable_gqa=True)
    trace = recording.traces[0]
    names = ["query", "key", "value", "scores", "scaled", "weights", "context"]
    assert [step.name for step in steps_of(trace)] == names
    assert_close(step_of(trace, "query").value(3), query[0, 3])
    assert_close(step_of(trace, "key").value(3, rows=[1, 2], cols=slice(0, 4)), key[0, 1, 1:3, :4])
    assert "2 heads share these" in step_of(trace, "key").explanation
    assert "share" not in step_of(trace, "query").explanation


def test_a_trace_of_weights_alone_has_no_other_step():
    weights = torch.rand(2, 3, 3).softmax(-1)
    trace = of_weights(weights)
    assert [step.name for step in steps_of(trace)] == ["weights"]
    assert_close(step_of(trace, "weights").value(1), weights[1])
