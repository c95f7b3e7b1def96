"""Shuffled words: without positions the same vectors in the new order, with positions not."""

import pytest
import torch

from attention_core.models.transformer import Transformer, TransformerConfig
from attention_core.topics.transformer.shuffling import compare_orders, movable_words, reordered, word_order
from attention_core.topics.translate.translation import read_source

SMALL = TransformerConfig(n_layers=2, n_heads=3, d_model=24, d_ff=32, dropout=0.0)


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return Transformer(SMALL).eval().requires_grad_(False)


@pytest.fixture
def source():
    return read_source("The unbelievable dog bit the man.")


def test_without_positions_the_encoder_gives_the_same_vectors_in_the_new_order(model, source):
    for seed in range(3):
        order = word_order(movable_words(source), "shuffled", seed)
        found = compare_orders(model, source, order, with_positions=False)
        assert found.largest < 1e-5
        torch.testing.assert_close(found.shuffled_states, found.states[found.order], atol=1e-5, rtol=0)


def test_with_positions_it_does_not(model, source):
    found = compare_orders(model, source, word_order(movable_words(source), "reversed"), with_positions=True)
    assert found.largest > 0.01


def test_likeness_is_one_where_a_piece_meets_itself(model, source):
    order = word_order(movable_words(source), "shuffled", 1)
    found = compare_orders(model, source, order, with_positions=False)
    torch.testing.assert_close(found.likeness[found.order, range(len(found.order))], torch.ones(len(found.order)))


def test_words_keep_their_pieces_together_and_the_full_stop_stays_last(source):
    other, places = reordered(source, word_order(movable_words(source), "reversed"))
    assert other.words == ["man", "the", "bit", "dog", "unbelievable", "The", "."]
    assert "".join(other.labels) == "manthebitdogunbelievablethe.end"
    assert sorted(places.tolist()) == list(range(len(source.ids)))
    assert other.ids.tolist() == source.ids[places].tolist()
    assert other.word_of == sorted(other.word_of)


def test_a_shuffle_is_never_the_order_as_typed_unless_there_is_only_one():
    assert all(word_order(2, "shuffled", seed) == [1, 0] for seed in range(10))
    assert word_order(1, "shuffled") == [0]
    assert word_order(0, "reversed") == []


def test_what_cannot_be_ordered_is_named(source):
    with pytest.raises(ValueError, match="'shuffled' or 'reversed'"):
        word_order(3, "sorted")
    with pytest.raises(ValueError, match="permutation of the 6 words"):
        reordered(source, [0, 0, 1, 2, 3, 4])
