"""Figures that are made beforehand: other seeds; sentences with a negation."""

import pytest

from attention_core.data.review_pieces import read_reviews, split_reviews
from attention_core.data.sentence_presets import is_negated
from attention_core.weights import read_card


@pytest.mark.parametrize("name", ["pixel-notes-alone", "pixel-notes-self"])
def test_other_seeds_reach_about_what_the_committed_weights_do(name):
    card = read_card(name)
    for seed, figures in card["other_seeds"].items():
        if seed != "command":
            assert figures["test_accuracy"] == pytest.approx(card["test_accuracy"], abs=0.004)


def test_fifty_sentences_hold_a_negation_and_half_of_them_are_praise(root):
    reviews = read_reviews(root / "tests" / "data" / "negation.tsv")
    assert len(reviews) == 50
    assert sum(review.positive for review in reviews) == 25
    assert all(is_negated(review.sentence) for review in reviews)


@pytest.mark.data
def test_no_sentence_with_a_negation_is_trained_on(root, data_folder):
    trained = {review.sentence.lower() for review in split_reviews(read_reviews(data_folder)).train}
    assert not trained.intersection(
        review.sentence.lower() for review in read_reviews(root / "tests" / "data" / "negation.tsv")
    )
