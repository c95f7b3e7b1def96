"""English and French sentences: words, pieces, pairs and their batches, alignments, BLEU."""

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from attention_core.data.mnist import DataError
from attention_core.data.pieces import (
    END,
    LONGEST,
    NAME,
    PAD,
    SHORTEST,
    SPACE,
    START,
    UNKNOWN,
    english_words,
    french_spans,
    french_words,
    join_words,
    normalise,
    pair_words,
    read_pairs,
    read_tokenizer,
    split_pairs,
    strip_space_mark,
)
from attention_core.evaluate.translation import (
    _with_space_marks,
    attention_between,
    bleu,
    evaluate_alignment,
    group_references,
    read_alignments,
)
from attention_core.explain.alignment import AlignedPair, alignment_error, merge_to_words, strongest_links
from attention_core.inference.translation import french_prefix, read_source, translation_of
from attention_core.models.translator import Translator, TranslatorConfig
from attention_core.train.translation import Batch, epoch_of_batches, smoothed_cross_entropy, training_pairs
from attention_core.weights import WeightsError
from tests.support import tiny_data


@pytest.mark.parametrize(
    ("cut", "sentence", "words"),
    [
        (english_words, "Don't go!", ["▁Do", "n't", "▁go", "!"]),
        (english_words, "I'm Tom's friend.", ["▁I", "'m", "▁Tom", "'s", "▁friend", "."]),
        (english_words, "  Two   spaces ", ["▁Two", "▁spaces"]),
        (english_words, "He said: “Hi”", ["▁He", "▁said", ":", '▁"', "Hi", '"']),
        (english_words, "a well-known man", ["▁a", "▁well", "-known", "▁man"]),
        (french_words, "Je l'aime !", ["▁Je", "▁l'", "aime", "▁!"]),
        (french_words, "Où est-il?", ["▁Où", "▁est", "-il", "▁?"]),
        (french_words, "Aujourd’hui, c’est bien.", ["▁Aujourd'hui", ",", "▁c'", "est", "▁bien", "."]),
    ],
)
def test_contractions_and_elided_words_are_kept_apart(cut, sentence, words):
    assert cut(sentence) == words


@given(st.text(max_size=60))
def test_joining_english_words_loses_nothing_but_the_first_letter_s_case(text):
    joined = join_words(english_words(text))
    plain = "".join(one for one in normalise(text))
    assert joined[:1].casefold() == plain[:1].casefold() or joined[:1] == plain[:1].upper()
    assert joined.replace(" ", "")[2:] in plain.replace(" ", "") or len(joined) < 3


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_kindly(text):
    if not english_words(text):
        with pytest.raises(ValueError, match="type an English sentence"):
            read_source(text)
        return
    source = read_source(text)
    assert len(source.ids) == len(source.labels) == len(source.word_of)
    assert source.word_of == sorted(source.word_of)
    assert source.word_of[-1] == len(source.words)
    assert set(source.word_of) == set(range(len(source.words) + 1))


def test_what_is_typed_is_bounded_shown_as_typed_named_if_unknown_and_cut_into_pieces():
    source = read_source("word " * 200)
    assert len(source.words) == 40
    assert source.n_dropped == 160
    endless = read_source("x" * 100_000)
    assert len(endless.ids) == 100
    assert len(endless.words) == 1
    loud, quiet = read_source("THE RED CAR"), read_source("the red car")
    assert loud.ids.tolist() == quiet.ids.tolist()
    assert loud.words == ["THE", "RED", "CAR"]
    source = read_source("I like 😀 and Привет")
    assert source.unknown_words == ["😀", "Привет"]
    assert "😀" in source.labels
    assert UNKNOWN in source.ids.tolist()
    source = read_source("an antidisestablishmentarian")
    own = [label for label, word in zip(source.labels, source.word_of, strict=True) if word == 1]
    assert len(own) > 1
    assert "".join(own) == "antidisestablishmentarian"


@pytest.mark.parametrize("sentence", ["La voiture rouge est devant la maison.", "Je n'aime pas l'école, et toi ?"])
def test_pieces_of_a_sentence_become_that_sentence_again(sentence):
    made = translation_of(french_prefix(sentence))
    assert made.text == sentence
    assert made.words == [strip_space_mark(word) for word in french_words(sentence)]
    assert [sum(word == n for word in made.word_of) > 0 for n in range(len(made.words))] == [True] * len(made.words)


def test_french_beginnings_keep_capitals_of_names_and_spans_are_where_words_stand():
    assert french_prefix("La voiture") == french_prefix("la voiture")
    assert translation_of(french_prefix("Tom est là")).labels[0] == "Tom"
    text = "Je l'aime !"
    assert [text[start:end] for start, end in french_spans(text)] == ["Je", "l'", "aime", "!"]


def test_vocabulary_has_eight_thousand_pieces_and_says_when_it_is_missing_or_damaged(tmp_path, monkeypatch):
    assert read_tokenizer(NAME).get_vocab_size() == 8000
    monkeypatch.setenv("ATTENTION_WEIGHTS", str(tmp_path))
    with pytest.raises(WeightsError, match="git checkout -- weights"):
        read_tokenizer("none.json")
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(WeightsError, match="damaged"):
        read_tokenizer("bad.json")


@pytest.fixture(scope="module")
def pairs_file(tmp_path_factory):
    """Sixty pairs of three to eight words."""
    file = tmp_path_factory.mktemp("data") / "pairs.tsv"
    file.write_text(tiny_data.pairs(), encoding="utf-8")
    return file


def test_smoothed_cross_entropy_equals_torch_s_own():
    torch.manual_seed(0)
    features, vectors, bias = torch.randn(9, 5), torch.randn(11, 5), torch.randn(11)
    wanted = torch.randint(11, (9,))
    for one in (features, vectors, bias):
        one.requires_grad_()
    ours = smoothed_cross_entropy(features, vectors, bias, wanted)
    theirs = F.cross_entropy(features @ vectors.T + bias, wanted, label_smoothing=0.1)
    torch.testing.assert_close(ours, theirs)
    inputs = (features, vectors, bias)
    for own, other in zip(torch.autograd.grad(ours, inputs), torch.autograd.grad(theirs, inputs), strict=True):
        torch.testing.assert_close(own, other)


def test_an_epoch_meets_every_pair_once_and_no_sentence_is_in_two_splits(pairs_file):
    pairs = training_pairs(read_pairs(pairs_file), seed=0)
    batches = epoch_of_batches(pairs, torch.Generator().manual_seed(1))
    assert sorted(place for batch in batches for place in batch) == list(range(len(pairs)))
    assert all(len({len(pairs[place][0]) for place in batch}) == 1 for batch in batches)
    assert all(source[-1] == END for source, _ in pairs)
    split = split_pairs(read_pairs(pairs_file))
    parts = [{english.lower() for english, _ in part} for part in split]
    assert all(parts)
    assert all(not one & other for one, other in itertools.combinations(parts, 2))
    assert sum(map(len, split)) == 60


def test_batches_are_shifted_and_padded_and_targets_lose_capitals_that_are_no_names():
    batch = Batch([([9, END], [5, 6]), ([8, END], [7])], "cpu")
    assert batch.fed.tolist() == [[START, 5, 6], [START, 7, PAD]]
    assert batch.next_pieces.tolist() == [[5, 6, END], [7, END, PAD]]
    pairs = [("Tom sleeps.", "Tom dort."), ("I see Tom.", "Je vois Tom."), ("He and I.", "Lui et je.")]
    assert [target[0] for _, target in pair_words(pairs)] == ["▁Tom", "▁je", "▁lui"]


@pytest.mark.data
def test_held_out_parts_of_tatoeba_have_every_length_from_three_to_twenty():
    split = split_pairs(read_pairs())
    for part in (split.development, split.test):
        lengths = {len(english.split()) for english, _ in part}
        assert lengths == set(range(SHORTEST, LONGEST + 1))
    assert len(split.train) > 130_000


def test_pairs_that_cannot_be_read_are_told(tmp_path):
    with pytest.raises(DataError, match="No sentence pairs"):
        read_pairs(tmp_path / "none.tsv")
    for content, words in ((b"only English\n", "line 1"), (b"\xff\xfe\x00", "damaged")):
        (tmp_path / "bad.tsv").write_bytes(content)
        with pytest.raises(DataError, match=words):
            read_pairs(tmp_path / "bad.tsv")


def test_references_of_one_sentence_count_together():
    grouped = group_references([("Hello.", "Bonjour."), ("Hi.", "Salut."), ("Hello.", "Salut à toi.")])
    assert grouped == {"Hello.": ["Bonjour.", "Salut à toi."], "Hi.": ["Salut."]}
    made = ["salut à toi mon cher ami.", "Salut mon cher ami à toi."]
    references = [["Bonjour.", "Salut à toi mon cher ami."], ["salut mon cher ami à toi."]]
    assert bleu(made, references) == pytest.approx(100)
    assert bleu(["le chien dort là."], [["la voiture rouge."]]) < 20


def test_source_pieces_add_up_and_target_ones_are_averaged_for_as_many_words_as_weights():
    weights = torch.tensor([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.5, 0.0, 0.5]])
    merged = merge_to_words(weights, [0, 0, 1], [0, 0, 1])
    torch.testing.assert_close(merged, torch.tensor([[0.45, 0.55], [0.5, 0.5]]))
    with pytest.raises(ValueError, match="target and"):
        merge_to_words(torch.eye(3), [0, 1], [0, 1, 2])


def test_the_error_rate_is_that_of_och_and_ney_and_links_go_to_the_largest_weights():
    pair = AlignedPair(["a", "b"], ["x", "y", "z"], {(0, 0), (1, 1)}, {(0, 0), (1, 1), (1, 2)})
    found = {(0, 0), (1, 2), (0, 1)}
    error = alignment_error([found], [pair])
    assert error.rate == pytest.approx(1 - (1 + 2) / (3 + 2))
    assert (error.precision, error.recall) == (pytest.approx(2 / 3), pytest.approx(1 / 2))
    assert alignment_error([pair.sure], [pair]).rate == 0
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
            sentence = "".join(_with_space_marks(words)).replace(SPACE, " ")
            assert [strip_space_mark(one) for one in cut(sentence)] == words
        assert {target for _, target in pair.possible} >= {target for _, target in pair.sure}


def test_attention_between_words_has_rows_that_sum_to_one_and_a_single_key_aligns_nothing(root):
    torch.manual_seed(0)
    model = Translator(TranslatorConfig("dot", d_embedding=20, d_state=24)).eval().requires_grad_(False)
    (weights,) = attention_between(model, ["the", "antidisestablishment", "."], ["la", "voiture", "."])
    assert weights.shape == (3, 4)
    torch.testing.assert_close(weights.sum(1), torch.ones(3))
    model = Translator(TranslatorConfig("none", d_embedding=20, d_state=24)).eval()
    with pytest.raises(ValueError, match="nothing to align"):
        evaluate_alignment(model, root / "tests" / "data" / "alignments.txt")
