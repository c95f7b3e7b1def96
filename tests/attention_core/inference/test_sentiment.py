"""Judging sentences: data, reading, the three models, their traces, erasing, training, evaluation."""

import gzip
import random
from functools import partial

import pytest
import torch
from torch.testing import assert_close

from attention_core.attention.attend import attend
from attention_core.attention.edits import BlockKeys
from attention_core.attention.steps import step_of
from attention_core.data import review_pieces
from attention_core.data.mnist import DataError
from attention_core.data.review_pieces import N_COLUMNS, PAD, UNKNOWN, read_reviews, split_reviews
from attention_core.data.sentence_presets import PRESETS
from attention_core.evaluate.classification import figures
from attention_core.inference import sentiment as matter
from attention_core.inference.sentiment import Verdict, explain, judge, read_sentence
from attention_core.models import build, load
from attention_core.models.sentence_attention import SentenceClassifier, SentenceConfig, hide_words
from attention_core.train import sentiment
from attention_core.train.sentiment import epoch_of_batches, log_ratios
from attention_core.weights import WeightsError, read_card, read_weights
from tests.support import own_models, tiny_data
from tests.support.own_models import evaluated, refusal

NAMES = ("sentence-attention", "sentence-mean", "sentence-two-phase")
LINES = "1\ta fine film .\n0\ta dull film .\n1\tfunny and warm .\n0\tslow and silly .\n"


@pytest.fixture
def file(tmp_path):
    """A small file of reviews; every sentence has another number in it."""
    path = tmp_path / "reviews.tsv"
    path.write_text(tiny_data.reviews())
    return path


@pytest.fixture(scope="module")
def attention():
    return load("sentence-attention", "cpu")


untrained = partial(own_models.untrained, seed=3)


def test_plain_and_gzipped_files_say_the_same(tmp_path):
    plain, zipped = tmp_path / "a.tsv", tmp_path / "a.tsv.gz"
    plain.write_text("\ufeff" + LINES.replace("\n", "\r\n"), encoding="utf-8")
    zipped.write_bytes(gzip.compress(LINES.encode()))
    assert read_reviews(plain) == read_reviews(zipped)
    assert [review.positive for review in read_reviews(plain)] == [True, False, True, False]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"1\tfine\nwithout a tab\n", "line 2"),
        (b"positive\tfine\n", "line 1"),
        (b"2\tfine\n", "label"),
        (b"1\t \n", "line 1"),
        (b"\n \n", "is empty"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"\x1f\x8b cut", "damaged"),
    ],
)
def test_files_that_cannot_be_read_are_told(tmp_path, content, words):
    path = tmp_path / "bad.tsv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=words):
        read_reviews(path)
    with pytest.raises(DataError, match="No review sentences"):
        read_reviews(tmp_path / "none.tsv")


def test_which_part_a_sentence_is_in_depends_on_the_sentence_alone(file):
    reviews = read_reviews(file)
    split, reversed_split = split_reviews(reviews), split_reviews(reviews[::-1])
    assert set(split.train) == set(reversed_split.train)
    assert not set(split.train) & set(split.development)
    assert len(split.train) + len(split.development) == len(reviews)
    assert 2 <= len(split.development) <= 30


@pytest.mark.data
def test_the_corpus_is_whole_and_balanced(data_folder):
    reviews = read_reviews(data_folder)
    assert len(reviews) == 9662
    assert sum(review.positive for review in reviews) == 4840


def test_typed_sentences_are_cut_as_the_corpus_is_rare_words_into_pieces_and_pairs_together():
    typed, corpus = read_sentence("It's NOT great!"), read_sentence("it's not great !")
    assert typed.words == ["It", "'s", "NOT", "great", "!"]
    assert torch.equal(typed.pieces, corpus.pieces)
    assert read_sentence("Don't!").words == ["Do", "n't", "!"]
    sentence = read_sentence("unwatchable 映画 😀 film")
    assert sentence.cut_words[0] == 0
    assert "".join(sentence.texts[0]) == "unwatchable"
    assert sentence.unknown_words == [1, 2]
    assert sentence.read_as[1:] == ["an unknown sign", "an unknown sign", ""]
    assert (sentence.pieces != PAD).sum(1)[-1] == 1
    together, apart = read_sentence("such a xylophone"), read_sentence("a such xylophone")
    assert together.paired == [False, True, False]
    assert together.read_as[1] == "a + (such a)"
    assert together.pieces[1, :-2].tolist() == apart.pieces[0, :-2].tolist()
    assert together.pieces[1, -2] != PAD
    assert apart.pieces[0, -2] == PAD


def test_a_negation_reaches_six_words_up_to_a_sign_and_turns_their_vectors():
    sentence = read_sentence("It isn't dull, warm and not a b c d e f g")
    reached = [word for word, negated in zip(sentence.words, sentence.negated, strict=True) if negated]
    assert reached == ["dull", *"abcdef"]
    assert sentence.read_as[3] == "dull + turned round"
    model, plain = untrained("sentence-attention"), read_sentence("dull")
    model.vectors.turn[:] = torch.linspace(-2, 2, 24)
    turned, plain_vector = model.vectors(sentence.pieces)[3], model.vectors(plain.pieces)[0]
    assert_close(turned, plain_vector * model.vectors.turn)


def test_made_up_sentences_take_the_side_of_their_word_unless_they_are_negated():
    telling, rng = [("dull", False), ("warm", True)], random.Random(1)
    rows = read_sentence("dull warm").pieces[:, 0].tolist()
    sides = set()
    for _ in range(60):
        pieces, positive = sentiment.make_up(telling, rng)
        word = next(place for place, one in enumerate(pieces[:, 0].tolist()) if one in rows)
        negated = bool(pieces[word, -1])
        assert positive == ((pieces[word, 0] == rows[1]) != negated)
        sides.add((positive, negated))
    assert len(sides) == 4


@pytest.mark.parametrize("text", ["", "   \n\t", "\u00a0"])
def test_nothing_to_read_is_told(text):
    with pytest.raises(ValueError, match="text"):
        read_sentence(text)


def test_ten_thousand_words_are_bounded():
    sentence = read_sentence("word " * 10_000)
    assert len(sentence.words) == matter.MAX_WORDS
    assert sentence.n_dropped > 0
    assert sentence.pieces.shape == (matter.MAX_WORDS, N_COLUMNS)
    endless = read_sentence("x" * 100_000)
    assert len(endless.words) == 1
    assert len(endless.labels[0]) == 30


@pytest.mark.parametrize("name", NAMES)
def test_trace_reproduces_the_answer_and_padding_changes_nothing(name):
    model = untrained(name)
    long, short = (read_sentence(text) for text in ("a warm and funny film about nothing .", "dull !"))
    pieces, mask = matter.batch_of([long.pieces, short.pieces])
    with torch.inference_mode():
        together = model(pieces, mask).logits
        for place, sentence in enumerate((long, short)):
            unpadded = model(sentence.pieces[None]).logits[0]
            assert_close(unpadded, together[place])
            trace = explain(model, sentence)
            weights = trace.weights()
            assert_close(weights.sum(), torch.tensor(1.0))
            assert_close(weights @ trace.value[0], trace.context())
            assert_close(model.answer(trace.context()).softmax(-1), unpadded.softmax(-1)[None])
            assert_close(step_of(trace, "answer").value(), unpadded.softmax(-1)[None])


def test_attention_over_padding_is_zero_its_score_is_bahdanaus_and_the_mean_weighs_alike():
    model = untrained("sentence-attention")
    pieces, mask = matter.batch_of([read_sentence("a warm film .").pieces, read_sentence("dull").pieces])
    with torch.inference_mode():
        encoding = model.encode(pieces, mask)
        loud = torch.where(encoding.mask[..., None], encoding.states, torch.tensor(1e6))
        quiet = attend(
            model.queries(2), encoding.states[:, None], loud[:, None], score=model.score(), mask=mask[:, None, None]
        )
        assert quiet.context.abs().max() < 10
    trace = explain(model, read_sentence("a quiet and honest film"))
    keys, query = trace.key[0], model.query.detach()
    by_hand = torch.tanh(model.score_query @ query + keys @ model.score_key.T) @ model.score_vector
    assert_close(trace.scores()[0], by_hand.detach())
    assert_close(trace.weights()[0], by_hand.detach().softmax(0))
    assert_close(
        explain(untrained("sentence-mean"), read_sentence("one two three four")).weights(), torch.full((1, 4), 0.25)
    )


def test_the_second_network_knows_no_order_and_the_first_is_frozen():
    model = build("sentence-two-phase")
    trainable = {name.split(".")[0] for name, p in model.named_parameters() if p.requires_grad}
    assert trainable == {"read", "answer"}
    model.train()
    assert not model.guide.training
    model.requires_grad_(False)
    first, second = (explain(model.eval(), read_sentence(text)) for text in ("film xylophone", "xylophone film"))
    assert_close(first.value[0], second.value[0].flip(0))
    assert not torch.allclose(first.key[0], second.key[0].flip(0), atol=1e-3)


def test_unknown_poolings_and_labels_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="pooling"):
        SentenceClassifier(SentenceConfig("sum"))
    with pytest.raises(ValueError, match="labels"):
        untrained("sentence-attention").trace(read_sentence("two words").pieces, ["one"])


def test_hidden_words_become_one_unknown_piece():
    pieces, _ = matter.batch_of([read_sentence("unwatchable film").pieces, read_sentence("film").pieces])
    hidden = hide_words(pieces, 1.0)
    assert hidden[0, :, 0].tolist() == [UNKNOWN, UNKNOWN]
    assert (hidden[..., 1:] == PAD).all()
    assert hidden[1, 1].tolist() == [PAD] * N_COLUMNS
    assert torch.equal(hide_words(pieces, 0.0), pieces)


def test_blocked_words_get_nothing_and_erasing_equals_judging_the_shorter_sentence():
    model, sentence = untrained("sentence-attention"), read_sentence("a dull film")
    trace = explain(model, sentence, (BlockKeys((1,)),))
    assert trace.weights()[0, 1] == 0
    assert_close(trace.weights().sum(), torch.tensor(1.0))
    bias = model.answer.bias.softmax(0)[1].item()
    assert judge(model, sentence, (BlockKeys((0, 1, 2)),)).positive == pytest.approx(bias)
    model, words = untrained("sentence-attention"), ["a", "warm", "and", "funny", "film"]
    sentence = read_sentence(" ".join(words))
    unchanged = judge(model, sentence).positive
    removed = matter.remove_each(model, sentence)
    for place in range(len(words)):
        shorter = read_sentence(" ".join(words[:place] + words[place + 1 :]))
        expected = judge(model, shorter).positive - unchanged
        assert removed[place].item() == pytest.approx(expected, abs=1e-6)
    assert matter.remove_each(untrained("sentence-attention"), read_sentence("dull")).tolist() == [0]
    changes = matter.remove_each(untrained("sentence-mean"), read_sentence("a dull film"))
    assert changes.shape == (3,)


def test_many_sentences_are_judged_in_their_order_and_each_is_met_once_an_epoch():
    model = untrained("sentence-attention")
    sentences = [read_sentence(text) for text in ("a b c d e", "f", "g h i", "j k")]
    together = matter.judge_all(model, [one.pieces for one in sentences], batch_size=2)
    for one, positive in zip(sentences, together.tolist(), strict=True):
        assert judge(model, one).positive == pytest.approx(positive, abs=1e-6)
    lengths = [n % 17 + 1 for n in range(700)]
    batches = epoch_of_batches(lengths, torch.Generator().manual_seed(1))
    assert sorted(place for batch in batches for place in batch) == list(range(700))
    assert max(map(len, batches)) == 256


def test_counting_tells_pieces_of_praise_from_pieces_of_blame():
    sentences = [read_sentence(text).pieces for text in ("fine film", "fine film", "dull film", "dull film")]
    ratios = log_ratios(sentences, torch.tensor([1, 1, 0, 0]))
    fine, dull, film = (int(read_sentence(word).pieces[0, 0]) for word in ("fine", "dull", "film"))
    assert ratios[fine] == pytest.approx(torch.tensor(3.0).log().item())
    assert ratios[dull] == pytest.approx(-ratios[fine].item())
    assert ratios[[film, PAD, UNKNOWN]].tolist() == [0, 0, 0]


@pytest.mark.parametrize("name", NAMES)
def test_evaluating_a_file_prints_its_figures(name, tmp_path, capsys):
    path = tmp_path / "own.tsv"
    path.write_text(
        "1\tA moving, funny and wonderful film.\n0\tDull, boring, stupid and a complete mess.\n1\tsuperb !\n"
    )
    result = evaluated(capsys, name, path)
    assert result["n"] == 3
    assert result["accuracy"] == 1.0
    assert (result["accuracy_positive"], result["accuracy_negative"]) == (1.0, 1.0)
    assert result["majority_share"] == pytest.approx(2 / 3, abs=1e-4)


def test_evaluating_what_cannot_be_evaluated_is_one_clear_line(tmp_path, capsys):
    bad = tmp_path / "bad.tsv"
    bad.write_text("1\tfine\n7\tseven\n")
    for path, words in ((bad, "line 2"), (tmp_path, "is a folder"), (tmp_path / "none", "No review sentences")):
        assert words in refusal(capsys, "sentence-attention", path)


@pytest.mark.data
@pytest.mark.parametrize("name", NAMES)
def test_committed_model_reaches_the_figure_on_its_card(name, data_folder):
    card, development = read_card(name), split_reviews(read_reviews(data_folder)).development
    measured = figures(load(name, "cpu"), development)
    assert measured["n"] == card["development_sentences"]
    assert measured["accuracy"] == pytest.approx(card["development_accuracy"], abs=0.003)
    assert measured["accuracy"] >= 0.74
    of_state = card.get("accuracy_of_one_state")
    assert of_state is None or measured["accuracy_of_one_state"] == pytest.approx(of_state, abs=0.003)


def test_the_guide_of_two_phases_is_the_committed_attention():
    first, two_phase = read_weights("sentence-attention"), read_weights("sentence-two-phase")
    for name, tensor in first.items():
        assert torch.equal(two_phase[f"guide.{name}"], tensor), name


def test_clear_sentences_and_forty_of_fifty_with_a_negation_are_judged_right(attention, root):
    for word, positive in (("wonderful", True), ("boring", False), ("moving", True), ("dull", False)):
        sentence = read_sentence(f"the film is {word} .")
        assert (judge(attention, sentence).positive > 0.5) == positive
        assert int(explain(attention, sentence).weights()[0].argmax()) == 3
    measured = figures(attention, read_reviews(root / "tests" / "data" / "negation.tsv"))
    right = read_card("sentence-attention")["right_of_50_with_a_negation"]
    assert measured["accuracy"] == pytest.approx(right / 50)
    assert right >= 40


def test_a_missing_vocabulary_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_WEIGHTS", str(tmp_path))
    for name in ("_vocabulary", "_cut_word", "word_lists"):
        monkeypatch.setattr(review_pieces, name, getattr(review_pieces, name).__wrapped__)
    with pytest.raises(WeightsError, match="No word list"):
        review_pieces.pieces_of(["film"])
    with pytest.raises(WeightsError, match="No vocabulary"):
        review_pieces._vocabulary()


def test_examples_are_short_and_a_heavy_word_that_pushes_the_other_way_is_named():
    assert max(len(read_sentence(text).words) for text in PRESETS.values()) <= 30
    weights = [0.5, 0.4, 0.1]
    assert matter.against_the_answer(weights, [-0.2, 0.1, 0.3], positive=0.8) == 1
    assert matter.against_the_answer(weights, [-0.2, 0.1, 0.3], positive=0.2) == 0
    assert matter.against_the_answer(weights, [-0.2, 0.001, 0.3], positive=0.8) is None


def test_what_a_negation_reaches_changes_with_the_word_that_is_deleted():
    comma, negation, neither = (("Not bad, warm and funny.", 2), ("Not bad at all.", 0), ("Not bad at all.", 3))
    turned = [matter.turned_otherwise(read_sentence(text), index) for text, index in (comma, negation, neither)]
    assert turned == [{3: True, 4: True, 5: True}, {1: False, 2: False, 3: False}, {}]


@pytest.mark.parametrize(
    ("positive", "says"),
    [(1.0, "positive 100%"), (0.997, "positive >99%"), (0.5, "positive 50%"), (0.004, "negative >99%")],
)
def test_a_judgement_is_not_rounded_to_certainty(positive, says):
    assert Verdict(positive).label == says
