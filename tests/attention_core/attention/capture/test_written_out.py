"""Attention written out in the ways of public code: weights, queries, keys and values are those of the model."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from attention_core import capture, load_recording
from tests.support.written_out import (
    HEADS,
    MIXED,
    OTHER_HEADS,
    RECOVERED,
    WEIGHTS_ALONE,
    WIDTH,
    D,
    MinGPT,
    Timm,
    Written,
)

BATCH, N = 2, 6


def built(kind, training=False):
    torch.manual_seed(0)
    module = kind()
    with torch.no_grad():
        module.qkv.weight.mul_(3)  # the usual beginnings attend to everything alike and would hide mistakes
    return module.train(training)


def tokens_in():
    return torch.randn(BATCH, N, WIDTH, generator=torch.Generator().manual_seed(1))


def recorded(module, x, **how):
    """Return the trace of a module's run, whose output and random numbers must be those of any other run."""
    torch.manual_seed(2)
    plain = module(x)
    torch.manual_seed(2)
    with capture(**how) as recording:
        seen = module(x)
    assert torch.equal(plain, seen)
    assert not recording.note
    (trace,) = recording.traces
    return trace


def check(trace, weights):
    assert trace.n_heads == HEADS
    for head in range(HEADS):
        assert_close(trace.weights(head), weights[head].detach(), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("item", [0, 1])
@pytest.mark.parametrize("grad", [torch.enable_grad, torch.no_grad, torch.inference_mode])
@pytest.mark.parametrize("kind", RECOVERED)
def test_queries_keys_and_scale_are_recovered(kind, grad, item):
    module, x = built(kind), tokens_in()
    with grad():
        trace = recorded(module, x, item=item)
        check(trace, module.weights[item])
        projected = module.qkv(x)[item].detach()
    assert trace.query.shape == (HEADS, trace.n_queries, D)
    assert len(trace.key) == HEADS
    assert trace.story.mechanism == "written-out attention"
    value = projected[:, 2 * WIDTH :].unflatten(-1, (HEADS, D)).transpose(0, 1)
    if kind.__name__ != "MultiQuery":
        assert_close(trace.value, value)
    for head in range(HEADS):
        assert_close(trace.context(head), module.weights[item, head].detach() @ trace.value_of(head), atol=1e-5, rtol=0)


@pytest.mark.parametrize("item", [0, 1])
@pytest.mark.parametrize("grad", [torch.enable_grad, torch.no_grad, torch.inference_mode])
@pytest.mark.parametrize("kind", OTHER_HEADS)
def test_heads_and_items_are_told_apart(kind, grad, item):
    module = built(kind)
    with grad():
        trace = recorded(module, tokens_in(), item=item)
    weights = module.weights[item].detach()
    assert (trace.n_heads, trace.n_queries, trace.n_keys) == tuple(weights.shape)
    for head in range(trace.n_heads):
        assert_close(trace.weights(head), weights[head], atol=1e-6, rtol=1e-5)
    assert trace.query.shape[-1] > 0
    assert trace.story.note == (
        "Item 1 of 2 of the batch, counted from 0." if item else "The first of 2 items of the batch."
    )


@pytest.mark.parametrize("kind", WEIGHTS_ALONE)
def test_without_queries_and_keys_weights_and_values_are_kept(kind):
    module = built(kind)
    trace = recorded(module, tokens_in())
    check(trace, module.weights[0])
    assert trace.query.shape == (HEADS, N, 0)
    assert trace.value.shape == (HEADS, N, D)
    reasons = {"Renormalised": "changed its weights", "Sink": "One softmax runs over these keys and others"}
    assert reasons.get(kind.__name__, "no plain product") in trace.story.note


@pytest.mark.parametrize("kind", MIXED)
def test_talking_heads_are_told_and_shown_as_they_left_the_softmax(kind):
    module = built(kind)
    trace = recorded(module, tokens_in())
    check(trace, module.weights[0])
    assert "mixed its weights" in trace.story.note


@pytest.mark.parametrize("kind", RECOVERED)
def test_in_training_the_weights_before_dropout_are_kept(kind):
    module = built(kind, training=True)
    trace = recorded(module, tokens_in())
    check(trace, module.weights[0])
    drops = kind.__name__ in ("MinGPT", "Annotated", "ViTPytorch", "Timm", "XTransformers", "GPTJ", "ClassAttention")
    assert ("Dropout of 0.25" in trace.story.note) == drops
    with torch.no_grad():
        check(recorded(module, tokens_in()), module.weights[0])


def test_scaled_before_the_product_the_query_is_the_scaled_one():
    module, x = built(Timm), tokens_in()
    trace = recorded(module, x)
    query = module.qkv(x)[0, :, :WIDTH].unflatten(-1, (HEADS, D)).transpose(0, 1).detach()
    assert_close(trace.query, query * D**-0.5)
    assert trace.score.scale == 1
    assert_close(recorded(built(MinGPT), x).query, query)
    assert recorded(built(MinGPT), x).score.scale == D**-0.5


def test_other_lengths_and_widths_and_matrices_without_batch_and_heads_are_seen():
    generator = torch.Generator().manual_seed(3)
    query, key, value = (torch.randn(2, 3, *shape, generator=generator) for shape in ((5, 8), (7, 8), (7, 4)))
    with capture() as recording:
        weights = (query @ key.mT).softmax(-1)
        context = weights @ value
    (trace,) = recording.traces
    assert torch.equal(trace.query, query[0])
    assert torch.equal(trace.key, key[0])
    assert torch.equal(trace.value, value[0])
    assert_close(trace.context(2), context[0, 2])
    x = torch.randn(5, 4)
    with capture() as recording:
        (x @ x.T / 2).softmax(-1) @ x
    (trace,) = recording.traces
    assert_close(trace.weights(), (x @ x.T / 2).softmax(-1))
    assert trace.story.name == "attention.0"


def test_what_is_no_attention_is_left_alone():
    network = nn.Sequential(nn.Linear(6, 6), nn.Softmax(-1), nn.Linear(6, 6, bias=False), nn.Softmax(-1))
    with capture() as recording:
        network(torch.randn(4, 6)).sum().backward()
    assert len(recording) == 0
    choices, rows = nn.Linear(6, 9), nn.Parameter(torch.randn(9, 6))
    with capture() as recording:
        choices(torch.randn(4, 5, 6)).softmax(-1) @ rows
    assert len(recording) == 0
    module = built(MinGPT)
    with capture() as recording:
        module(tokens_in()).sum().backward()
    assert len(recording) == 1


def test_a_mask_that_layers_share_is_kept_once():
    x, mask = torch.randn(2, 3, 5, 4), torch.full((5, 5), -torch.inf).triu(1)[None, None]
    with capture() as recording:
        for _ in range(3):
            x = (x @ x.mT + mask[:, :, :, :5]).softmax(-1) @ x
    assert len({trace.mask.data_ptr() for trace in recording}) == 1


def test_one_model_with_both_kinds_gives_every_layer():
    class Fused(Written):
        def attend(self, q, k, v):
            return None, nn.functional.scaled_dot_product_attention(q, k, v)

    model = nn.Sequential(built(MinGPT), built(Fused), built(Timm))
    with capture() as recording:
        model(tokens_in())
    assert recording.names == ["0", "1", "2"]
    assert [trace.story.mechanism for trace in recording][1] == "scaled dot product attention"


def test_a_written_out_run_comes_back_from_a_file(tmp_path):
    kinds = [*RECOVERED, *WEIGHTS_ALONE, *MIXED]
    with capture() as recording:
        for kind in kinds:
            built(kind)(tokens_in())
    recording.save(tmp_path / "run.npz")
    loaded = load_recording(tmp_path / "run.npz")
    for ours, theirs in zip(recording, loaded, strict=True):
        assert torch.equal(ours.weights(2), theirs.weights(2))


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_other_types(dtype):
    module = built(MinGPT).to(dtype)
    trace = recorded(module, tokens_in().to(dtype))
    assert trace.query.dtype == dtype
    assert_close(trace.weights(1).double(), module.weights[0, 1].detach().double(), atol=0.02, rtol=0)
    assert ("bfloat16" in trace.story.note) == (dtype == torch.bfloat16)
    if dtype == torch.bfloat16:
        own = torch.stack([trace.weights(head) for head in range(HEADS)])
        apart = float((own - module.weights[0].detach()).abs().max())
        assert f"its own weights differ from these by up to {apart:.2g}." in trace.story.note
