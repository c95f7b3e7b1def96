"""Heads, items and chunks of one call are told by what is done to the output, or it is said that they are not."""

import pytest
import torch
import torch.nn.functional as F
import transformers as hf
from torch import nn
from torch.testing import assert_close

from attention_core import capture
from tests.support import tiny_models
from tests.support.head_orders import (
    BATCH,
    FOLDED,
    HEADS,
    LOOPS,
    WIDTH,
    D,
    N,
    Windows,
    expected,
    heads_first,
    in_chunks_of_queries,
    items_first,
    model_of,
    one_head_without_a_name,
    scores,
    written,
)


def check(trace, weights):
    assert trace.n_heads == len(weights)
    for head, own in enumerate(weights):
        assert_close(trace.weights(head), own, atol=1e-5, rtol=0)


@pytest.mark.parametrize("grad", [torch.enable_grad, torch.no_grad, torch.inference_mode])
@pytest.mark.parametrize("item", [0, 1])
@pytest.mark.parametrize("attention", [written, F.scaled_dot_product_attention])
@pytest.mark.parametrize("attend", FOLDED)
def test_heads_and_items_in_one_axis_are_read_from_the_output(attend, attention, item, grad):
    model, x = model_of(lambda q, k, v: attend(q, k, v, attention))
    with grad(), capture(item=item) as recording:
        model(x)
    (trace,) = recording
    check(trace, expected(model, x)[item])
    assert_close(trace.value, model.vectors(x)[2][item].transpose(0, 1).detach())
    assert trace.story.note == (
        "Item 1 of 4 of the batch, counted from 0." if item else "The first of 4 items of the batch."
    )


@pytest.mark.parametrize("attention", [written, F.scaled_dot_product_attention])
def test_an_order_that_nothing_tells_is_not_assumed(attention):
    q, k, v = torch.randn(3, BATCH * HEADS, N, D)
    with capture(item=1) as recording:
        attention(q, k, v).sum()
    (trace,) = recording
    check(trace, scores(q, k).softmax(-1))
    assert "no dimension for heads" in trace.story.note


@pytest.mark.parametrize("attend", FOLDED)
def test_all_items_are_kept_by_name(attend):
    model, x = model_of(attend)
    with capture(item="all") as recording:
        nn.Sequential(model)(x)
    assert recording.names == [f"0 (item {item})" for item in range(BATCH)]
    for trace, weights in zip(recording, expected(model, x), strict=True):
        check(trace, weights)


@pytest.mark.parametrize("item", [0, 2])
def test_one_head_of_several_items(item):
    model, x = model_of(one_head_without_a_name)
    with capture(item=item) as recording:
        model(x)
    q, k, _ = (t.flatten(2) for t in model.vectors(x))
    check(recording[0], scores(q, k).softmax(-1)[item, None].detach())


@pytest.mark.parametrize("item", [0, 1, "all"])
@pytest.mark.parametrize("attend", LOOPS)
def test_parts_of_one_call_are_one_trace_and_a_loop_over_items_obeys_item(attend, item):
    model, x = model_of(attend)
    with capture(item=item) as recording:
        nn.Sequential(model)(x)
    kept = range(BATCH) if item == "all" else [item]
    assert recording.names == ([f"0 (item {one})" for one in kept] if item == "all" else ["0"])
    for trace, one in zip(recording, kept, strict=True):
        check(trace, expected(model, x)[one])
        assert f"Item {one} of 4" in trace.story.note or one == 0


def test_calls_that_only_look_alike_stay_apart():
    class Two(nn.Module):
        def forward(self, q, k, v):
            return torch.cat(
                [F.scaled_dot_product_attention(q, k, v), F.scaled_dot_product_attention(q, v, k)], 2
            ).sin()

    with capture() as recording:
        Two()(*torch.randn(3, BATCH, HEADS, N, D))
    assert len(recording) == 2


@pytest.mark.parametrize("item", [0, 2, "all"])
@pytest.mark.parametrize("attend", [items_first, heads_first, in_chunks_of_queries])
def test_windows_are_those_of_the_item_and_named(attend, item):
    torch.manual_seed(0)
    model, x = Windows(attend), torch.randn(BATCH, N, WIDTH)
    with capture(item=item) as recording:
        nn.Sequential(model)(x)
    weights = expected(model, x.reshape(-1, 2, WIDTH)).unflatten(0, (BATCH, 3))
    if item == "all":
        assert recording.names[4] == "0 (item 1, window 1)"
        assert len(recording) == BATCH * 3
        check(recording[4], weights[1, 1])
    else:
        check(recording[0], weights[item, 0])
        assert recording[0].story.note.startswith("Part 6 of 12" if item else "The first of 12 parts")


def test_blocks_whose_contexts_are_added_up_are_no_heads():
    config = hf.BigBirdConfig(**tiny_models.SIZES, attention_type="block_sparse", block_size=4, num_random_blocks=1)
    model = tiny_models.build(hf.BigBirdModel, config)
    with capture() as recording, torch.no_grad():
        model(torch.randint(3, 90, (2, 64)))
    assert [trace.n_heads for trace in recording] == [config.num_attention_heads] * 16
    assert sum("One softmax runs over these keys and others" in trace.story.note for trace in recording) == 8
