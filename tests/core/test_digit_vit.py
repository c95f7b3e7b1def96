"""Digits as patches: the traces of a vision transformer, its class token and rollout."""

import pytest
import torch
from torch.testing import assert_close

from attention_core import UNIFORM
from attention_core.explain.heads import rollout
from attention_core.topics.pixels import class_maps, class_rollout
from tests.core.test_shown_code import drawing
from tests.own_models import untrained


@pytest.fixture(scope="module")
def model():
    return untrained("digit-vit", seed=5)


def test_traces_are_those_of_a_class_token_and_49_patches(model):
    traces = model.traces(drawing(28, 28))
    assert [(trace.n_heads, trace.n_queries, trace.n_keys) for trace in traces] == [(6, 50, 50)] * 4
    assert traces[0].story.key_axis.labels[:2] == ["class", "row 1, column 1"]
    for head in range(6):
        assert_close(traces[0].weights(head).sum(-1), torch.ones(50))


def test_rollout_tells_what_reached_the_class_token(model):
    traces = model.traces(drawing(28, 28))
    rolled = rollout(traces).rolled
    by_hand = torch.eye(50)
    for trace in traces:
        mean = torch.stack([trace.weights(head) for head in range(6)]).mean(0)
        by_hand = (0.5 * mean + 0.5 * torch.eye(50)) @ by_hand
    assert_close(torch.as_tensor(rolled), by_hand, atol=1e-5, rtol=1e-4)
    own = class_rollout(traces)
    assert own.shape == (7, 7)
    assert_close(own.flatten(), by_hand[0, 1:], atol=1e-5, rtol=1e-4)
    assert_close(own.sum() + by_hand[0, 0], torch.tensor(1.0))


def test_maps_of_the_class_token_leave_out_what_it_pays_to_itself(model):
    traces = model.traces(drawing(28, 28))
    maps = class_maps(traces)
    assert maps.shape == (4, 6, 7, 7)
    assert maps[2, 1, 3, 5] == traces[2].weights(1)[0, 1 + 3 * 7 + 5]
    assert_close(
        maps.sum((2, 3)),
        torch.stack([1 - trace.weights(head)[0, 0] for trace in traces for head in range(6)]).view(4, 6),
    )


def test_a_patch_of_another_ink_changes_the_answer_and_paper_is_white(model):
    blank = torch.zeros(1, 28, 28)
    one = blank.clone()
    one[0, 8:12, 8:12] = 1
    library = model.vit(pixel_values=torch.ones(1, 1, 28, 28)).logits
    assert_close(model(blank).logits, library)
    assert not torch.allclose(model(one).logits, library)


def test_edits_of_one_layer_change_the_answer_and_the_layers_after_it(model):
    one = torch.zeros(1, 28, 28)
    one[0, 8:20, 13:15] = 1
    plain, edited = model(one, trace=True), model(one, edits={1: UNIFORM}, trace=True)
    assert_close(edited.traces[1].weights(3), torch.full((50, 50), 1 / 50))
    assert_close(edited.traces[0].weights(3), plain.traces[0].weights(3))
    assert not torch.allclose(edited.traces[2].query, plain.traces[2].query, rtol=0, atol=1e-4)
    assert not torch.allclose(edited.logits, plain.logits, rtol=0, atol=1e-6)
