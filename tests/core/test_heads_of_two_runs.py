"""The same head in two runs: how far apart, and what cannot be compared."""

import math

import pytest
import torch
from torch.testing import assert_close

from attention_core import Recording, trace_model
from attention_core.explain.heads import distances, distances_head_for_head, groups
from tests.traces import of_weights


@pytest.fixture(scope="module")
def model():
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    sizes = {"hidden_size": 24, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 3}
    return BertModel(BertConfig(vocab_size=50, initializer_range=0.4, **sizes)).eval()


def layers_of(model, ids):
    return groups(trace_model(model, input_ids=torch.tensor([ids])))["encoder self"]


def test_a_run_is_no_distance_from_itself_and_another_word_moves_some_head(model):
    first, second = layers_of(model, [1, 2, 3, 4]), layers_of(model, [1, 2, 9, 4])
    # A square root magnifies what rounding leaves of a difference of entropies.
    assert_close(distances_head_for_head(first, first), torch.zeros(2, 3), atol=2e-3, rtol=0)
    assert distances_head_for_head(first, second).max() > 0.05


def test_it_is_the_distance_that_heads_have_from_each_other(model):
    layers = layers_of(model, [5, 6, 7, 8, 9])
    swapped = [layers[1], layers[0]]
    found = distances_head_for_head(layers, swapped)
    whole = distances(layers).matrix
    assert_close(found[0], torch.stack([whole[head, 3 + head] for head in range(3)]))


def test_one_distance_by_hand():
    traces = [of_weights([[row]], "encoder.0.self") for row in ([1.0, 0.0], [0.5, 0.5])]
    left, right = (groups(Recording([trace]))["encoder self"] for trace in traces)
    by_hand = math.sqrt((-0.75 * math.log2(0.75) - 0.25 * math.log2(0.25)) - (0 + 1) / 2)
    assert distances_head_for_head(left, right).item() == pytest.approx(by_hand, abs=1e-6)


def test_runs_of_other_shapes_cannot_be_compared(model):
    first, longer = layers_of(model, [1, 2, 3, 4]), layers_of(model, [1, 2, 3, 4, 5])
    with pytest.raises(ValueError, match="one shape"):
        distances_head_for_head(first, longer)
    with pytest.raises(ValueError, match="the same layers"):
        distances_head_for_head(first, first[:1])
