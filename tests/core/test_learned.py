"""Alignments kept while a translator learned: words on both sides, sharpness, what is missing."""

import pytest
import torch
from torch.testing import assert_close

from attention_core.data.pieces import pieces
from attention_core.data.sentence_presets import LEARNED
from attention_core.data.tatoeba import words_of
from attention_core.topics.translate.learned import learning_of, sharpness


def snapshots(n_moments=3):
    """Weights from uniform to all on the first piece, as the training command keeps them."""
    kept = {}
    for number in range(n_moments):
        kept[f"{number}.step"] = torch.tensor(100.0 * number)
        for place, sides in enumerate(words_of(list(LEARNED))):
            n_source, n_target = (len(pieces().cut(words).ids) + 1 for words in sides)
            weights = torch.full((n_target, n_source), (1 - number / (n_moments - 1)) / n_source)
            weights[:, 0] += number / (n_moments - 1)
            kept[f"{number}.weights.{place}"] = weights.half()
    return kept


def test_every_sentence_goes_from_uniform_to_sharp():
    learned = learning_of(snapshots())
    assert len(learned) == len(LEARNED)
    for one in learned:
        assert one.source[-1] == one.target[-1] == "end"
        assert [moment.step for moment in one.moments] == [0, 100, 200]
        sharp = [moment.sharpness for moment in one.moments]
        assert sharp == sorted(sharp)
        assert sharp[-1] == pytest.approx(1)
        for moment in one.moments:
            assert moment.weights.shape == (len(one.target), len(one.source))
            assert_close(moment.weights.sum(1), torch.ones(len(one.target)), atol=2e-3, rtol=0)


def test_words_of_the_first_sentence_are_those_that_were_typed():
    first = learning_of(snapshots())[0]
    assert first.source == ["the", "red", "car", "is", "in", "front", "of", "the", "house", ".", "end"]
    assert first.target[:3] == ["la", "voiture", "rouge"]


def test_no_snapshots_are_refused():
    with pytest.raises(ValueError, match="at least one"):
        learning_of({})


def test_sharpness_of_uniform_one_hot_and_single_columns():
    assert sharpness(torch.full((4, 5), 0.2)) == pytest.approx(0, abs=1e-6)
    assert sharpness(torch.eye(5)) == 1
    assert sharpness(torch.ones(3, 1)) == 1
