"""A recurrent language model that looks back at its own states, and its twin that does not."""

import math

import pytest
import torch
from torch.testing import assert_close

from attention_core import UNIFORM
from attention_core.evaluate.language import bits_by_distance, bits_of, distances
from attention_core.models import build
from tests.core.test_shown_code import check
from tests.own_models import untrained

IDS = [0, 17, 4, 99, 17, 4, 5]
LABELS = list("abcdefg")


@pytest.fixture(scope="module")
def attentive():
    return untrained("language-recurrent", seed=2)


@pytest.fixture(scope="module")
def alone():
    return untrained("language-recurrent-alone", seed=2)


def test_both_have_the_same_size(attentive, alone):
    sizes = [sum(one.numel() for one in model.parameters()) for model in (attentive, alone)]
    assert abs(sizes[0] - sizes[1]) < 0.001 * sizes[0]


def test_it_is_a_gru_whose_context_averages_its_earlier_states(attentive):
    states, _ = attentive.gru(attentive.embedding(torch.tensor(IDS)))
    scores = attentive.query(states) @ attentive.key(states).T / 8
    weights = torch.zeros(7, 7)
    for row in range(1, 7):
        weights[row, :row] = scores[row, :row].softmax(-1)
    merged = attentive.merge(torch.cat((states, weights @ states), -1))
    logits = attentive(torch.tensor([IDS])).logits[0]
    assert_close(logits, merged @ attentive.embedding.weight.T + attentive.bias)
    trace = attentive.trace(IDS, LABELS)
    assert_close(trace.weights(), weights)
    assert trace.blind_queries == [0]
    check(trace)


@pytest.mark.parametrize("name", ["language-recurrent", "language-recurrent-alone"])
def test_what_comes_later_changes_nothing_before(name):
    model = untrained(name, seed=2)
    before = model(torch.tensor([IDS])).logits
    after = model(torch.tensor([[*IDS[:5], 7, 8]])).logits
    assert_close(before[:, :5], after[:, :5])
    assert not torch.allclose(before[:, 5:], after[:, 5:])


def test_edits_change_the_answer_from_the_second_look_on(attentive):
    ids = torch.tensor([IDS])
    before, after = attentive(ids).logits, attentive(ids, edits=UNIFORM).logits
    assert_close(before[:, :2], after[:, :2])  # nothing, then one state to look at
    assert not torch.allclose(before[:, 2:], after[:, 2:])


def test_gradients_are_finite_although_the_first_state_sees_nothing():
    torch.manual_seed(0)
    model = build("language-recurrent")
    model(torch.tensor([IDS])).logits.square().mean().backward()
    for name, one in model.named_parameters():
        assert one.grad.isfinite().all(), name


def test_without_attention_there_is_no_trace(alone):
    with pytest.raises(ValueError, match="no trace"):
        alone.trace(IDS, LABELS)


def test_sentences_are_foreseen_as_by_the_other_language_model(attentive):
    figures = bits_of(attentive, ["The red car.", "I see."])
    assert figures["sentences"] == 2
    assert math.log(figures["perplexity_per_piece"]) == pytest.approx(math.log(4000), abs=0.5)


def test_distance_is_how_far_back_the_same_two_pieces_stood():
    windows = torch.tensor([[0, 5, 6, 7, 5, 6, 9, 6, 7], [0, 1, 1, 1, 1, 0, 1, 0, 5]])
    assert distances(windows).tolist() == [[0, 0, 0, 0, 3, 0, 0, 5], [0, 0, 1, 1, 0, 5, 2, 0]]


def test_bits_by_distance_are_means_over_all_pieces(attentive):
    windows = torch.randint(0, 30, (3, 129), generator=torch.Generator().manual_seed(4))
    figures = bits_by_distance(attentive, windows)
    assert sum(one["pieces"] for one in figures.values()) == 3 * 128
    mean = sum(one["pieces"] * one["bits"] for one in figures.values()) / (3 * 128)
    logits = attentive(windows[:, :-1]).logits
    bits = torch.nn.functional.cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten()) / math.log(2)
    assert mean == pytest.approx(float(bits), abs=0.01)
