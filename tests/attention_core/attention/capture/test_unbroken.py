"""What is captured runs as it does without, and what cannot be kept is told."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention.bias import causal_lower_right, causal_upper_left
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.testing import assert_close

from attention_core import capture
from attention_core.attention.capture.trace_builder import TraceBuilder
from tests.support.ways_to_run import WAYS, Attention, attentions, expected, fused, plain, vectors
from tests.support.written_out import WIDTH, MinGPT, Timm, Written

LEAST = torch.finfo(torch.float32).min


@pytest.mark.filterwarnings("ignore:Using `torch.compile:UserWarning")
@pytest.mark.parametrize("fullgraph", [True, False])
@pytest.mark.parametrize("warm", [True, False])
@pytest.mark.parametrize("function", [fused, plain])
def test_compiled_attention_runs_and_is_seen(function, warm, fullgraph):
    torch._dynamo.reset()
    module = torch.compile(Attention(function), backend="eager", fullgraph=fullgraph)
    inputs = vectors()
    if warm:
        module(*inputs)
    with capture() as recording:
        seen = module(*inputs)
    assert_close(seen, function(*inputs))
    (trace,) = recording.traces
    assert_close(trace.weights(1), expected(*inputs[:2])[0, 1])
    assert_close(module(*inputs), seen)  # it still compiles afterwards


@pytest.mark.parametrize("function", [fused, plain])
def test_vmap_runs_and_is_seen_and_export_and_tensors_without_numbers_are_told(function):
    inputs = vectors()
    with capture() as recording:
        seen = torch.vmap(function)(*inputs)
    assert_close(seen, function(*inputs))
    (trace,) = recording.traces
    assert_close(trace.weights(2), expected(*inputs[:2])[0, 2])
    inputs = tuple(vectors())
    with capture() as recording:
        program = torch.export.export(Attention(function), inputs)
    assert_close(program.module()(*inputs), function(*inputs))
    assert len(recording) == 0
    assert recording.note
    with capture() as recording:
        shape = Attention(function).to("meta")(*(one.to("meta") for one in vectors())).shape
    assert shape == (2, 3, 5, 4)
    assert len(recording) == 0
    assert "Attention" in recording.note or "meta" in recording.note


def test_an_exported_size_stays_open_and_a_module_compiled_inside_runs_afterwards():
    inputs = tuple(vectors(7))
    with capture():
        program = torch.export.export(Attention(fused), inputs, dynamic_shapes=({0: torch.export.Dim("items")},) * 3)
    more = [torch.cat((one, one)) for one in inputs]
    assert_close(program.module()(*more), fused(*more))
    inputs = vectors()
    with capture():
        module = torch.compile(Attention(plain), backend="eager", fullgraph=True)
    assert_close(module(*inputs), plain(*inputs))


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::torch.jit.TracerWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("kind", ["fused", "plain", "multi", "weights"])
@pytest.mark.parametrize("way", WAYS)
def test_what_is_written_down_or_differentiated_is_the_same_inside(way, kind):
    (run, n_seen), inputs = WAYS[way], tuple(vectors())
    torch._dynamo.reset()
    alone = run(attentions(*inputs)[kind].eval(), inputs)
    torch._dynamo.reset()
    with capture() as recording:
        seen = run(attentions(*inputs)[kind].eval(), inputs)
    for ours, theirs in zip(seen, alone, strict=True):
        assert torch.equal(ours, theirs) if isinstance(ours, torch.Tensor) else ours == theirs
    if n_seen is None:
        assert len(recording) > 0
    else:
        assert len(recording) == n_seen
    if kind in ("fused", "plain"):
        for trace in recording:
            assert_close(trace.weights(1), expected(*inputs[:2])[0, 1])
    if way.startswith("jit"):
        assert "torch.jit.trace" in recording.note
    elif way != "export":
        assert not recording.note


def test_multi_head_attention_under_vmap_and_on_meta():
    module = nn.MultiheadAttention(12, 3, batch_first=True).eval()
    x = torch.randn(2, 4, 5, 12)
    with capture() as recording:
        seen = torch.vmap(lambda one: module(one, one, one)[0])(x)
        module.to("meta")(*(x[0].to("meta"),) * 3)
    assert seen.shape == x.shape
    assert recording.traces


@pytest.mark.parametrize("function", [fused, plain])
def test_autocast_is_noted_and_the_numbers_are_those_it_used(function):
    inputs = vectors()
    with torch.autocast("cpu", dtype=torch.bfloat16), capture() as recording:
        function(*inputs)
    (trace,) = recording.traces
    assert "bfloat16" in trace.story.note
    assert trace.query.dtype == torch.bfloat16
    short = [one.bfloat16().float() for one in inputs[:2]]
    assert_close(trace.weights(1), expected(*short)[0, 1], atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("bias", [causal_lower_right, causal_upper_left])
def test_torchs_own_causal_masks(bias):
    query, key, value = vectors()
    mask = bias(5, 7)
    with capture() as recording:
        seen = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    (trace,) = recording.traces
    allowed = torch.ones(5, 7, dtype=torch.bool).tril(2 if bias is causal_lower_right else 0)
    scores = (query @ key.mT / 2).masked_fill(~allowed, -torch.inf)
    assert_close(trace.weights(2), scores.softmax(-1)[0, 2])
    assert_close(trace.context(2), seen[0, 2])


@pytest.mark.parametrize("lowest", [LEAST, -1e9, -1e4])
def test_a_finite_mask_that_forbids_whole_rows_leaves_rows_that_sum_to_one(lowest):
    query, key, value = vectors()
    mask = torch.zeros(2, 1, 5, 7)
    mask[0, :, :2] = lowest  # padding on the left
    mask[0, :, 2:, :2] = lowest
    with capture() as recording:
        seen = F.scaled_dot_product_attention(query, key, value, mask)
        ((query @ key.mT / 2) + mask).softmax(-1) @ value
        ((query @ key.mT / 2).masked_fill(mask < 0, lowest)).softmax(-1) @ value
    real = ((query @ key.mT / 2) + mask).softmax(-1)[0]
    filled = ((query @ key.mT / 2).masked_fill(mask < 0, lowest)).softmax(-1)[0]
    for head in range(3):
        assert_close(recording[0].weights(head), real[head], atol=1e-3, rtol=0)
        assert_close(recording[1].weights(head), real[head], atol=1e-3, rtol=0)
        assert_close(recording[2].weights(head), filled[head], atol=1e-6, rtol=0)
        assert_close(recording[0].context(head), seen[0, head], atol=1e-3, rtol=0)
    told = ["every key is forbidden" in trace.story.note for trace in recording]
    assert told == ([False, False, True] if lowest == -1e4 else [True] * 3)


def test_rows_of_minus_infinity_are_told():
    query, key, value = vectors()
    hidden = torch.zeros(5, 7, dtype=torch.bool)
    hidden[1] = True
    with capture() as recording:
        (query @ key.mT).masked_fill(hidden, -torch.inf).softmax(-1) @ value
    (trace,) = recording.traces
    assert "NaN" in trace.story.note
    assert trace.blind_queries == [1]


@pytest.mark.parametrize("softcapped", [False, True])
@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
def test_flex_attention_as_it_is_written(softcapped):
    query, key, value = vectors(7)

    def score_mod(score, batch, head, i, j):
        return torch.tanh(score) * 2 if softcapped else score + (head + 1) * (i - j)

    block_mask = create_block_mask(lambda batch, head, i, j: i >= j, None, None, 7, 7, device="cpu")
    with capture(item=1) as recording:
        seen = flex_attention(query, key, value, score_mod=score_mod, block_mask=block_mask)
    (trace,) = recording.traces
    apart = torch.arange(7)[:, None] - torch.arange(7)
    dots = query[1] @ key[1].mT / 2
    scores = dots.tanh() * 2 if softcapped else dots + torch.arange(1, 4)[:, None, None] * apart
    for head in range(3):
        assert_close(trace.weights(head), scores.masked_fill(apart < 0, -torch.inf).softmax(-1)[head])
        assert_close(trace.context(head), seen[1, head], atol=1e-5, rtol=1e-4)
    assert trace.query.shape[-1] == (0 if softcapped else 4)


def test_attention_that_was_not_seen_is_listed_by_its_place():
    class LinearAttention(nn.Module):
        def forward(self, x):
            return x + (x.softmax(-1) * x).sum(-1, keepdim=True)

    class AttentionOutput(nn.Linear):
        pass

    model = nn.Sequential()
    model.add_module("first", MinGPT())
    model.add_module("second", LinearAttention())
    model.add_module("third", AttentionOutput(WIDTH, WIDTH))
    with capture() as recording:
        model(torch.randn(2, 6, WIDTH))
    assert recording.names == ["first"]
    assert "Not seen: second (LinearAttention)" in recording.note
    assert "AttentionOutput" not in recording.note


def test_a_fault_in_the_record_does_not_reach_the_model(monkeypatch):
    def broken(*_, **__):
        raise MemoryError("no room for\nthis")

    monkeypatch.setattr(TraceBuilder, "build", broken)
    x = torch.randn(2, 6, WIDTH)
    with capture() as recording:
        nn.Sequential(Timm())(x)
        nn.TransformerEncoderLayer(12, 3, 16, batch_first=True)(x)
        fused(*vectors())
    assert len(recording) == 0
    for name in ("0", "self_attn", "attention.0"):
        assert f"{name}: not kept, MemoryError: no room for" in recording.note


def test_random_numbers_and_gradients_are_as_without_and_checkpoints_are_recorded_once():
    torch.manual_seed(0)
    module = MinGPT()
    x = torch.randn(2, 6, WIDTH)

    def gradient():
        torch.manual_seed(1)
        module.zero_grad()
        module(x).square().sum().backward()
        return module.qkv.weight.grad.clone(), torch.rand(())

    alone = gradient()
    with capture():
        watched = gradient()
    assert torch.equal(alone[0], watched[0])
    assert torch.equal(alone[1], watched[1])
    module, x = MinGPT(), torch.randn(2, 6, WIDTH, requires_grad=True)
    with capture() as recording:
        torch.utils.checkpoint.checkpoint(module, x, use_reentrant=False).sum().backward()
    assert len(recording) == 1


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_scripted_attention_is_seen():
    inputs = vectors()
    traced = torch.jit.trace(plain, tuple(inputs))
    with capture() as recording:
        traced(*inputs)
    assert_close(recording[0].weights(1), expected(*inputs[:2])[0, 1])


def test_tokens_label_every_axis():
    words = ["the", "cat", "sat", "on", "a", "mat"]
    with capture(tokens=words) as recording:
        Timm()(torch.randn(2, 6, WIDTH))
    assert list(recording[0].story.query_axis.labels) == list(recording[0].story.key_axis.labels) == words
    with capture(tokens=words) as recording:
        Timm()(torch.randn(2, 4, WIDTH))
    assert "6 tokens for 4 positions" in recording.note


def test_modules_keep_nothing(recwarn):
    class Plain(Written):
        def attend(self, q, k, v):
            return None, plain(q, k, v)

    module = Plain()
    before = dict(vars(module))
    with capture():
        module(torch.randn(2, 6, WIDTH))
    assert {name: value for name, value in vars(module).items() if name != "weights"} == before
    assert not recwarn.list
