"""Alignments: merged to words, read from files, compared with those of people."""

import pytest
import torch

from attention_core.data.alignments import read_alignments
from attention_core.data.mnist import DataError
from attention_core.data.words import SPACE, bare, english_words, french_words
from attention_core.evaluate.alignment import _spaced, attention_between, evaluate_alignment
from attention_core.explain.alignment import AlignedPair, alignment_error, merge_to_words, strongest_links
from attention_core.models import Translator, TranslatorConfig


def test_pieces_of_a_source_word_add_up_and_those_of_a_target_word_are_averaged():
    weights = torch.tensor([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.5, 0.0, 0.5]])
    merged = merge_to_words(weights, [0, 0, 1], [0, 0, 1])
    torch.testing.assert_close(merged, torch.tensor([[0.45, 0.55], [0.5, 0.5]]))


def test_merging_needs_as_many_words_as_weights():
    with pytest.raises(ValueError, match="target and"):
        merge_to_words(torch.eye(3), [0, 1], [0, 1, 2])


def test_the_error_rate_is_that_of_och_and_ney_by_hand():
    pair = AlignedPair(["a", "b"], ["x", "y", "z"], {(0, 0), (1, 1)}, {(0, 0), (1, 1), (1, 2)})
    found = {(0, 0), (1, 2), (0, 1)}
    error = alignment_error([found], [pair])
    assert error.rate == pytest.approx(1 - (1 + 2) / (3 + 2))
    assert (error.precision, error.recall) == (pytest.approx(2 / 3), pytest.approx(1 / 2))
    assert alignment_error([pair.sure], [pair]).rate == 0


def test_links_go_to_the_largest_weight_of_each_row():
    assert strongest_links(torch.tensor([[0.2, 0.8], [0.9, 0.1]])) == {(1, 0), (0, 1)}


def test_a_file_of_alignments_is_read_with_repeated_words(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("# comment\nthe cat and the dog | le chat et le chien | the=le the#2=le#2 cat=chat dog~chien\n")
    (pair,) = read_alignments(file)
    assert pair.sure == {(0, 0), (3, 3), (1, 1)}
    assert pair.possible - pair.sure == {(4, 4)}


@pytest.mark.parametrize("line", ["a | b", "a | b | a-b", "a | b | c=b", "a | b | a#2=b"])
def test_a_malformed_line_is_named(tmp_path, line):
    (tmp_path / "a.txt").write_text(line + "\n")
    with pytest.raises(DataError, match="line 1"):
        read_alignments(tmp_path / "a.txt")


def test_the_hundred_pairs_are_cut_as_the_models_cut_them(root):
    pairs = read_alignments(root / "tests" / "data" / "alignments.txt")
    assert len(pairs) == 100
    for pair in pairs:
        for words, cut in ((pair.source, english_words), (pair.target, french_words)):
            sentence = "".join(_spaced(words)).replace(SPACE, " ")
            assert [bare(one) for one in cut(sentence)] == words
        assert {target for _, target in pair.possible} >= {target for _, target in pair.sure}


def test_attention_between_given_words_has_rows_that_sum_to_one():
    torch.manual_seed(0)
    model = Translator(TranslatorConfig("dot", d_embedding=20, d_state=24)).eval().requires_grad_(False)
    (weights,) = attention_between(model, ["the", "antidisestablishment", "."], ["la", "voiture", "."])
    assert weights.shape == (3, 4)
    torch.testing.assert_close(weights.sum(1), torch.ones(3))


def test_a_model_with_a_single_key_has_nothing_to_align(root):
    model = Translator(TranslatorConfig("none", d_embedding=20, d_state=24)).eval()
    with pytest.raises(ValueError, match="nothing to align"):
        evaluate_alignment(model, root / "tests" / "data" / "alignments.txt")
