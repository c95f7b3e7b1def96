"""Figures that are made beforehand: other seeds, words that translations keep; sentences with a negation."""

import pytest

from attention_core.data.review_pieces import read_reviews, split_reviews
from attention_core.data.sentence_presets import is_negated
from attention_core.weights import read_card
from benchmarks import kept_words

PAIRS = [
    ("the green house", "la maison verte"),
    ("a green car", "une voiture verte"),
    ("a red car", "une voiture rouge"),
    ("the red house", "la maison rouge"),
    ("the house", "la maison"),
    ("a car", "une voiture"),
]


def test_words_in_both_places_of_an_adjective_are_adjectives_and_nouns_are_not():
    said = ["it is green .", "a green car .", "it is old .", "the car .", "it is car .", "the car key ."]
    found = kept_words.adjectives(sentence.split() for sentence in said * kept_words.LEAST)
    assert found == {"green"}


def test_each_word_s_french_is_counted_from_pairs_and_a_word_that_is_lost_counts():
    likely = kept_words.lexicon([(english.split(), french.split()) for english, french in PAIRS])
    assert likely["green"] == {"verte"}
    assert likely["red"] == {"rouge"}
    grouped = {"A green car": ["Une voiture verte"], "The red house": ["La maison rouge"], "A red car": ["Une auto"]}
    translated = ["une voiture verte", "la maison", "une voiture rouge"]
    assert kept_words.kept({"green", "red"}, grouped, translated, likely) == (1, 2)


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
