"""The soft look-up against numpy; records and queries that people type."""

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.attention.export import trace_to_code, trace_to_npz
from attention_core.attention.steps import step_of
from attention_core.hub.catalogue import PACKAGE, find_local
from attention_core.hub.load import load_pretrained
from attention_core.hub.model import ModelKind, Pretrained
from attention_core.inference.soft_lookup import (
    MAX_TOKENS,
    PLANE_HEIGHT,
    SPELLING,
    WIDTH,
    Records,
    embed,
    hash_run,
    meaning,
    ngrams,
    plain,
    points_around_queries,
    sentence_vectors,
    shared_runs,
    soft_lookup,
    value_labels,
    weigh_words,
)
from pages.lookup.records import MAX_QUERIES, MAX_RECORDS, MAX_TEXT, PRESETS, read_queries, read_records
from tests.support.by_hand import softmax, vector_by_hand
from tests.support.shown_code import check
from tests.support.tiny_models import SIZES

words = st.text("abcdefgh ", min_size=1, max_size=12).filter(str.strip)


@given(words)
def test_embedding_is_the_hashed_count_of_runs(text):
    np.testing.assert_allclose(embed([text])[0].numpy(), vector_by_hand(text), atol=1e-10)


def test_runs_of_a_word_are_written_out_and_hashed():
    assert ngrams("To be") == dict.fromkeys(["_t", "to", "o_", "_to", "to_", "_b", "be", "e_", "_be", "be_"], 1)
    assert plain("  René   DESCARTES!") == "rene descartes"
    assert shared_runs("cat", "car") == ["_ca", "_c", "ca"]
    assert [hash_run(run) for run in ("_at", "ten")] == [hash_run(run) for run in ("_at", "ten")]
    assert hash_run("_at") == (322, -1)


def test_look_ups_give_shares_of_texts_by_temperature_and_look_everywhere_without_letters():
    records = Records(("ab", "cd", "ef"), ("red", "blue", "red"))
    trace = soft_lookup(records, ["?!"], 0.05)
    assert (trace.query == 0).all()
    assert trace.context()[0].tolist() == pytest.approx([2 / 3, 1 / 3])
    records = Records(("ab", "ab ab", "xy"), ("red", "red", "blue"))
    trace = soft_lookup(records, ["ab"], 0.02)
    assert value_labels(records) == ["red", "blue"]
    assert trace.context()[0].tolist() == pytest.approx([1, 0], abs=1e-6)
    assert trace.context().sum().item() == pytest.approx(1)
    records = Records(("apple", "pear", "plum"), ("red", "green", "blue"))
    cold, hot = (soft_lookup(records, ["pear"], temperature).weights()[0] for temperature in (1e-3, 1e6))
    assert cold.tolist() == pytest.approx([0, 1, 0])
    assert hot.tolist() == pytest.approx([1 / 3] * 3, abs=1e-5)
    assert torch.equal(embed([]), torch.zeros(0, WIDTH, dtype=torch.float64))


@given(st.lists(words, min_size=1, max_size=8), st.lists(words, min_size=1, max_size=4), st.floats(0.01, 3))
def test_soft_look_up_among_texts(keys, queries, temperature):
    values = [str(place) for place in range(len(keys))]
    trace = soft_lookup(Records(tuple(keys), tuple(values)), queries, temperature)
    cosines = np.stack([vector_by_hand(one) for one in queries]) @ np.stack([vector_by_hand(one) for one in keys]).T
    expected = softmax(cosines / temperature)
    np.testing.assert_allclose(step_of(trace, "scores").value().numpy(), cosines, atol=1e-10)
    np.testing.assert_allclose(trace.weights().numpy(), expected, atol=1e-10)
    np.testing.assert_allclose(trace.context().numpy(), expected, atol=1e-10)


def test_exported_script_recomputes_the_look_up(tmp_path):
    trace = soft_lookup(Records(("apple", "pear", "plum"), ("red", "green", "blue")), ["grape"], 0.25)
    (tmp_path / "trace.npz").write_bytes(trace_to_npz(trace))
    arrays = np.load(tmp_path / "trace.npz")
    weights = softmax(arrays["query"][0] @ arrays["key"][0].T / 0.25)
    np.testing.assert_allclose(weights @ arrays["value"][0], arrays["context"][0], atol=1e-10)
    assert "Soft look-up" in trace_to_code(trace)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_usable_and_its_queries_are_answered(name):
    preset = PRESETS[name]
    assert not read_records(preset.text).remarks
    read = read_queries("\n".join(preset.queries))
    assert [*read.queries] == [*preset.queries]
    weights = soft_lookup(preset.records, read.queries, preset.temperature).weights()
    assert weights.sum(1).tolist() == pytest.approx([1] * len(read.queries))


def test_presets_show_what_their_notes_say():
    words, book = PRESETS["Eight words"], PRESETS["Phone book"]
    assert [query in words.records.keys for query in words.queries] == [False, False, True]
    records = book.records
    best = soft_lookup(records, book.queries[2:], book.temperature).weights()[0].argmax()
    assert records.keys[int(best)] == "René Descartes"
    shares = soft_lookup(records, book.queries[1:2], book.temperature).context()[0].sort(descending=True).values
    assert shares[1] > 0.3


@pytest.mark.parametrize("line", ["b", "b =", " = 2", "= ", "b\t"])
def test_lines_without_a_key_or_a_value_are_left_out_and_named(line):
    usable = read_records(f"a = 1\n{line}\nc = 3")
    assert usable.records.keys == ("a", "c")
    assert "line 2" in usable.remarks[0]


@pytest.mark.parametrize("text", ["", " \n\t\n", "nothing"])
def test_a_text_with_nothing_usable_says_what_to_do(text):
    usable = read_records(text)
    assert usable.records is None
    assert "Write one as key = value" in usable.remarks[-1]


def test_many_records_and_long_texts_are_cut_and_equal_keys_are_told():
    usable = read_records("\n".join(f"row {n} = {n}" for n in range(1_000)))
    assert len(usable.records.keys) == MAX_RECORDS
    assert f"The first {MAX_RECORDS} of 1,000" in usable.remarks[0]
    usable = read_records(f"{'x' * 5000} = 1\nsame = 2\nsame = 3")
    assert len(usable.records.keys[0]) == MAX_TEXT
    assert "600 characters" in usable.remarks[0]
    assert "a dictionary keeps only the last" in usable.remarks[1]


@pytest.mark.parametrize(
    ("text", "queries", "words"),
    [
        ("a\n\n  b  c \n", ("a", "b c"), None),
        ("", (), "Type a query"),
        ("\n".join("q" * 3 for _ in range(40)), ("qqq",) * MAX_QUERIES, "first 12 of"),
        ("x" * 500, ("x" * 200,), "200 characters"),
    ],
)
def test_queries_are_understood_or_explained(text, queries, words):
    read = read_queries(text)
    assert read.queries == queries
    assert (words in " ".join(read.remarks)) if words else not read.remarks


@given(st.text(max_size=40))
def test_no_text_breaks_the_reader_of_queries(text):
    read = read_queries(text)
    assert read.queries or read.remarks


WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "car", "would", "not", "start", "a", "b", "c"]
TEXTS = ["the car", "a b c a b c a b c", "unknown", "the car would not start"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Pretrained:
    """A random model of the same class with twelve words."""
    from transformers import BertConfig, BertModel, BertTokenizer

    torch.manual_seed(0)
    file: Path = tmp_path_factory.mktemp("tiny") / "vocab.txt"
    file.write_text("\n".join(WORDS))
    model = BertModel(BertConfig(**SIZES)).eval().requires_grad_(False)
    return Pretrained("tiny", ModelKind.ENCODER, model, BertTokenizer(str(file)), max_tokens=8)


def test_vectors_are_directions_of_a_text_s_states_up_to_the_bound_and_every_line_gives_its_step(tiny):
    vectors = sentence_vectors(tiny, TEXTS)
    assert vectors.dtype == torch.float64
    for text, vector in zip(TEXTS, vectors, strict=True):
        ids = torch.tensor([tiny.tokenizer(text, truncation=True, max_length=8)["input_ids"]])
        mean = tiny.model(ids).last_hidden_state[0].double().mean(0)
        torch.testing.assert_close(vector, mean / mean.norm(), atol=1e-5, rtol=1e-5)
    long, longer = sentence_vectors(tiny, ["a " * 8, "a " * 100])
    torch.testing.assert_close(long, longer)
    assert MAX_TOKENS <= 512
    records = PRESETS["Ask a text"].records
    trace = soft_lookup(records, ["the car", "a b"], 0.05, meaning(tiny))
    check(trace)
    assert trace.key.shape == (1, 8, 32)


def test_an_automobile_is_a_car_by_meaning_and_another_sentence_by_spelling():
    local = find_local(PACKAGE)
    if local is None:
        pytest.skip("without the package of the sentence encoder")
    preset = PRESETS["Ask a text"]
    records = preset.records
    best = {
        name: [
            records.keys[place]
            for place in soft_lookup(records, preset.queries, preset.temperature, encoder).weights().argmax(1).tolist()
        ]
        for name, encoder in (("meaning", meaning(load_pretrained(local.folder))), ("spelling", SPELLING))
    }
    for sentence, phrase in zip(best["meaning"], ("old car", "snow had melted", "baked bread"), strict=True):
        assert phrase in sentence
    assert "which she paid" in best["spelling"][0]
    assert all(
        by_meaning != by_spelling for by_meaning, by_spelling in zip(best["meaning"], best["spelling"], strict=True)
    )
    words = PRESETS["Eight words"]
    records = words.records
    encoder = meaning(load_pretrained(local.folder))
    weights = soft_lookup(records, words.queries, words.temperature, encoder).weights()
    assert [records.keys[place] for place in weights.argmax(1).tolist()] == ["car", "teacher", "car"]
    assert weights[0].max() > 0.9


def test_words_of_keys_are_weighed_as_keys_of_their_own():
    records = Records(("The old car, at last.", "Snow!"), ("line 1", "line 2"))
    weighed = weigh_words(records, "cars", 0.2)
    assert [word.text for word in weighed] == ["The", "old", "car", "at", "last", "Snow"]
    assert [word.key for word in weighed] == [0, 0, 0, 0, 0, 1]
    cosines = np.array([float(embed([word.text])[0] @ embed(["cars"])[0]) for word in weighed])
    powers = np.exp(cosines / 0.2)
    np.testing.assert_allclose([word.weight for word in weighed], powers / powers.sum(), atol=1e-12)
    assert weigh_words(Records(("…", "!"), ("a", "b")), "cars", 0.2) == []


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        ("bad\na = 1", "Left out: line 1, which is not of the form key = value."),
        ("\n\na = 1\nbad", "Left out: line 4, which is not of the form key = value."),
        ("a = 1\nbad\n\nworse\nb = 2", "Left out: lines 2, 4, which are not of the form key = value."),
    ],
)
def test_lines_that_are_left_out_are_those_of_the_box(text, remark):
    assert read_records(text).remarks == (remark,)


@pytest.mark.parametrize("n_keys", [1, 2, 3, 24])
def test_around_a_query_a_key_is_the_nearer_the_better_it_fits_and_has_one_direction(n_keys):
    vectors = embed([f"{number} {'ab' * number}" for number in range(n_keys)]).numpy()
    cosines = embed(["1 abab", "zzz", "", "ab ab 7"]).numpy() @ vectors.T
    points = points_around_queries(vectors, cosines)
    assert (points >= 0).all()
    assert (points <= (1, PLANE_HEIGHT)).all()
    ways = points - (0.5, PLANE_HEIGHT / 2)
    distances = np.linalg.norm(ways, axis=-1)
    for row in range(len(cosines)):
        nearest_first = distances[row][np.argsort(-cosines[row], kind="stable")]
        assert (np.diff(nearest_first) >= -1e-9).all()
    directions = ways / distances[..., None]
    assert np.allclose(directions, directions[:1])


def test_keys_that_are_alike_stand_side_by_side():
    vectors = embed(["money", "train", "butter", "monkey", "snow"]).numpy()
    ways = points_around_queries(vectors, np.zeros((1, 5)))[0] - (0.5, PLANE_HEIGHT / 2)
    money, *others = ways / np.linalg.norm(ways, axis=-1, keepdims=True)
    assert money @ others[2] == pytest.approx(max(money @ other for other in others))
    assert np.isfinite(points_around_queries(embed(["same"] * 3).numpy(), np.ones((1, 3)))).all()
