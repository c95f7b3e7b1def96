"""The small language models: what masks, the other softmax, positions and layers do to a line, and what they write."""

import pytest
import torch
from torch.testing import assert_close

from attention_core import load
from attention_core.attention.edits import EditError, Uniform
from attention_core.data import next_words
from attention_core.data.mnist import DataError
from attention_core.data.next_words import MAX_WORDS, N_WORDS, UNKNOWN, fitting_lines, read_line
from attention_core.data.pieces import english_sentences
from attention_core.evaluate.next_word import evaluate_next_word, foresight
from attention_core.inference.next_word import (
    MASKS,
    foresee,
    foresee_unseen,
    foresee_word_by_word,
    named_mask,
    padded,
    write,
)
from attention_core.models.next_word import CONFIGS
from attention_core.train import next_word
from attention_core.weights import WeightsError, read_card

LINE = read_line("Tom helped Mary.")
SENTENCES = ["I want to go home now.", "Where is my book?", "She does not like her new job."]


@pytest.fixture(params=CONFIGS)
def variant(request):
    return request.param


@pytest.fixture
def model(variant):
    return loaded(variant)


def loaded(variant):
    return load(f"next-word-{variant}", "cpu")


def figures_of(variant):
    return read_card(f"next-word-{variant}")["test"]


def test_all_have_about_the_same_size_and_were_trained_alike():
    cards = [read_card(f"next-word-{variant}") for variant in CONFIGS]
    assert max(card["parameters"] for card in cards) < 1.1 * min(card["parameters"] for card in cards)
    assert len({(card["batches"], card["seed"], card["data"]) for card in cards}) == 1


@pytest.mark.data
def test_the_figures_on_the_card_come_out_again_on_some_of_the_lines(model, variant, data_folder):
    held_out = fitting_lines(english_sentences(data_folder).train)[: next_word.N_HELD_OUT]
    found, card = foresight(model, held_out[::8]), figures_of(variant)
    assert found["accuracy"] == pytest.approx(card["accuracy"], abs=0.03)
    assert found["accuracy_unseen"] == pytest.approx(card["accuracy_unseen"], abs=0.03)


def test_who_sees_the_line_copies_it_and_fails_without_it():
    causal = figures_of("causal")
    assert causal["accuracy"] == causal["accuracy_unseen"] > 0.3
    for variant in ("unmasked", "tiny-mask", "over-queries"):
        figures = figures_of(variant)
        assert figures["accuracy"] > 0.8
        assert figures["accuracy_unseen"] < causal["accuracy"] - 0.1


def test_other_seeds_tell_the_same(variant):
    card = read_card(f"next-word-{variant}")
    for seed, figures in card.get("other_seeds", {}).items():
        if seed != "command":
            for name in ("accuracy", "accuracy_unseen"):
                assert figures[name] == pytest.approx(card["test"][name], abs=0.05)


@pytest.mark.parametrize("name", MASKS)
def test_what_a_mask_hides_gets_no_weight_and_changes_nothing(name):
    model, n = loaded("unmasked"), len(LINE.ids)
    mask = named_mask(name, n, 2)
    foreseen = foresee(model, LINE, mask)
    for trace in foreseen.traces:
        for head in range(trace.n_heads):
            weights = trace.weights(head)
            assert not weights[~mask].any()
            assert_close(weights.sum(-1), torch.ones(n))
    reached = (mask.float() @ mask.float()).bool()  # by two layers
    for changed in range(n):
        ids = [*LINE.ids[:changed], 7, *LINE.ids[changed + 1 :]]
        other = foresee(model, LINE._replace(ids=ids), mask)
        is_same = (foreseen.probabilities == other.probabilities).all(-1)
        assert is_same[~reached[:, changed] & (torch.arange(n) != changed)].all()
        assert not is_same[changed]


def test_masks_are_what_their_names_say():
    n = 5
    causal = torch.ones(n, n).tril().bool()
    assert named_mask("none", n).all()
    assert torch.equal(named_mask("causal", n), causal)
    assert named_mask("padding", n, 2).sum(0).tolist() == [n, n, n, 0, 0]
    assert named_mask("sliding window", n, 2).sum(1).tolist() == [1, 2, 2, 2, 2]
    assert named_mask("prefix", n, 3).sum(1).tolist() == [3, 3, 3, 4, 5]
    assert named_mask("two documents", n, 3).sum(1).tolist() == [1, 2, 3, 1, 2]
    with pytest.raises(ValueError, match="one of none, causal"):
        named_mask("diagonal", n)


def test_what_fills_a_line_changes_nothing_where_the_mask_hides_it():
    model, n = loaded("unmasked"), len(LINE.ids)
    filled = padded(LINE)
    hidden = foresee(model, filled, named_mask("padding", len(filled.ids)))
    assert_close(hidden.probabilities[:n], foresee(model, LINE).probabilities, atol=1e-5, rtol=1e-4)
    assert not torch.allclose(foresee(model, filled).probabilities[:n], hidden.probabilities[:n], atol=1e-3)


@pytest.mark.parametrize("variant", ["causal", "unpositioned", "beside"])
def test_under_the_causal_mask_a_line_is_foreseen_as_word_by_word(variant):
    model = loaded(variant)
    at_once = foresee(model, LINE).probabilities
    for n in range(1, len(LINE.ids) + 1):
        part = foresee(model, LINE._replace(ids=LINE.ids[:n], labels=LINE.labels[:n])).probabilities
        assert_close(part, at_once[:n], atol=1e-5, rtol=1e-4)


def test_shared_over_the_queries_every_key_gives_one_and_the_future_gets_in():
    model = loaded("over-queries")
    foreseen = foresee(model, LINE)
    for trace in foreseen.traces:
        weights = trace.weights(1)
        assert_close(weights.sum(0), torch.ones(len(LINE.ids)))
        assert not weights.triu(1).any()
        assert_close(weights @ trace.value[1], trace.context(1), atol=1e-5, rtol=1e-4)
    later = foresee(model, LINE._replace(ids=[*LINE.ids[:-1], 7]))
    assert not torch.allclose(foreseen.probabilities[:-1], later.probabilities[:-1], atol=1e-4)
    with pytest.raises(EditError):
        foresee(model, LINE, edits=(Uniform(),))


def test_so_small_a_number_hides_nothing():
    model = loaded("tiny-mask")
    foreseen, seeing = foresee(model, LINE), foresee(model, LINE, named_mask("none", len(LINE.ids)))
    assert_close(foreseen.probabilities, seeing.probabilities, atol=1e-5, rtol=1e-4)
    assert all(trace.weights(0).min() > 0 for trace in foreseen.traces)


def test_without_positions_two_causal_layers_know_the_order_and_neither_one_nor_a_mask_less_pair_does():
    model, swapped = loaded("unpositioned"), read_line("Mary helped Tom.")
    first, second = (foresee(model, line).states[:, -1] for line in (LINE, swapped))
    changed = (first - second).norm(dim=-1) / first.norm(dim=-1)
    assert changed[0] < 1e-5
    assert changed[1] > 0.02
    unmasked = [foresee(model, line, named_mask("none", 5)).states[:, -1] for line in (LINE, swapped)]
    assert_close(*unmasked, atol=1e-4, rtol=1e-4)


def test_what_each_writes_by_itself_is_on_its_card(model, variant):
    for start, text in read_card(f"next-word-{variant}")["writes"].items():
        assert write(model, read_line(start)) == text
    assert len(write(model, read_line("the"), n=4).split()) <= 4


def test_the_likeliest_words_come_with_their_probabilities():
    foreseen = foresee(loaded("causal"), read_line("I want to go"))
    words = foreseen.likeliest(2, 3)
    assert words[0][0] == "to"
    assert words[0][1] == pytest.approx(float(foreseen.probabilities[2].max()))
    assert_close(foreseen.probabilities.sum(-1), torch.ones(5))


@pytest.mark.parametrize(
    "mask", [torch.ones(3, 3).bool(), torch.ones(5, 5), torch.ones(2, 5, 5, dtype=torch.int64)], ids=str
)
def test_a_mask_of_another_form_is_refused(mask):
    with pytest.raises(ValueError, match="mask must be bool"):
        foresee(loaded("causal"), LINE, mask)


def test_a_line_that_is_too_long_is_refused():
    with pytest.raises(ValueError, match="1 to 25 positions, got 26"):
        loaded("causal")(torch.zeros(1, 26, dtype=torch.int64))


@pytest.mark.parametrize(
    ("text", "labels", "n_unknown", "n_dropped"),
    [
        ("Don't go!", ["Do", "n't", "go", "!"], 0, 0),
        ("Tom saw a zyzzyva.", ["Tom", "saw", "a", "zyzzyva", "."], 1, 0),
        ("", [], 0, 0),
        ("🙂 日本語", ["🙂", "日本語"], 2, 0),
        ("the " * 30, ["the"] * MAX_WORDS, 0, 6),
        ("x" * 5_000, ["x" * 2_000], 1, 1),
    ],
)
def test_typed_lines_are_read(text, labels, n_unknown, n_dropped):
    line = read_line(text)
    assert line.labels == ["start", *labels]
    assert (len(line.unknown), line.n_dropped) == (n_unknown, n_dropped)
    assert len(line.ids) == len(line.labels)
    assert foresee(loaded("causal"), line).probabilities.shape == (len(line.ids), N_WORDS)


def test_lines_to_learn_have_one_unknown_word_at_most():
    lines = fitting_lines(["Go!", "Hm", "A zyzzyva saw it.", "Zyzzyvas xylographed it.", "the " * 30])
    assert [len(line) for line in lines] == [3, 6]
    assert lines[1].count(UNKNOWN) == 1


def test_a_vocabulary_that_lost_a_word_is_refused(tmp_path, monkeypatch):
    words = next_words.vocabulary()
    monkeypatch.setenv("ATTENTION_WEIGHTS", str(tmp_path))
    next_words.vocabulary.cache_clear()
    with pytest.raises(WeightsError, match="No vocabulary"):
        next_words.vocabulary()
    (tmp_path / next_words.NAME).write_text("\n".join(words[:-1]) + "\n", encoding="utf-8")
    with pytest.raises(WeightsError, match="damaged: it has 1,097 words"):
        next_words.vocabulary()
    monkeypatch.undo()
    next_words.vocabulary.cache_clear()
    assert next_words.vocabulary() == words


def test_a_file_is_evaluated_or_told_why_not(tmp_path):
    path = tmp_path / "sentences.txt"
    path.write_text("\n".join(SENTENCES))
    figures = evaluate_next_word(loaded("unmasked"), str(path))
    assert figures["sentences"] == 3
    assert figures["accuracy"] > 0.9 > figures["accuracy_unseen"]
    path.write_text("zyzzyva\n\n")
    with pytest.raises(DataError, match="no sentence that can be read"):
        evaluate_next_word(loaded("unmasked"), str(path))


@pytest.mark.parametrize("variant", ["causal", "unpositioned", "beside"])
def test_one_by_one_without_a_mask_all_is_foreseen_as_at_once_with_it(variant):
    model = loaded(variant)
    at_once = foresee(model, LINE).probabilities
    for probabilities in (foresee_word_by_word(model, LINE), foresee_unseen(model, LINE)):
        assert_close(probabilities, at_once, atol=1e-5, rtol=1e-4)


def test_of_the_future_that_over_queries_lets_in_nothing_is_left_where_it_is_not_there():
    model = loaded("over-queries")
    assert not torch.allclose(foresee_unseen(model, LINE)[:-1], foresee(model, LINE).probabilities[:-1], atol=1e-3)
