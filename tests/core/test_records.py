"""What people do to records and queries: bounded, understood or explained; texts as vectors by their meaning."""

import math
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.hub.find import PACKAGE, find_local
from attention_core.hub.load import load_pretrained
from attention_core.hub.model import ModelKind, Pretrained
from attention_core.topics.lookup.encoders import MOST_TOKENS, SPELLING, meaning, sentence_vectors
from attention_core.topics.lookup.presets import PRESETS
from attention_core.topics.lookup.records import MAX_QUERIES, MAX_RECORDS, MAX_TEXT, Table, read_queries, usable_records
from attention_core.topics.lookup.soft_lookup import exact_lookup, soft_lookup, temperature_sweep
from tests.core.test_shown_code import check
from tests.tiny_models import SIZES


def table(*rows, numeric=(False, True)):
    return Table(("name", "size"), numeric, tuple(rows))


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_usable_and_its_queries_are_answered(name):
    preset = PRESETS[name]
    usable = usable_records(preset.table, preset.key, preset.value)
    assert usable.records is not None
    assert not usable.remarks
    asked = read_queries("\n".join(preset.queries), usable.records.numeric_keys)
    assert len(asked.queries) == len(preset.queries)
    weights = soft_lookup(usable.records, asked.queries, preset.temperature).weights()
    assert weights.sum(1).tolist() == pytest.approx([1] * len(asked.queries))


def test_presets_show_what_their_notes_say():
    papers, book = PRESETS["Papers"], PRESETS["Phone book"]
    records = usable_records(papers.table, papers.key, papers.value).records
    assert [hit.found for hit in exact_lookup(records, papers.queries)][:2] == [True, False]
    best = soft_lookup(records, papers.queries[1:2], papers.temperature).weights()[0].argmax()
    assert records.keys[int(best)] == "Attention is all you need"
    records = usable_records(book.table, book.key, book.value).records
    shares = soft_lookup(records, book.queries[1:2], book.temperature).context()[0].sort(descending=True).values
    assert shares[1] > 0.3


@pytest.mark.parametrize("cell", [None, math.nan, math.inf, -math.inf, 1e300, "many"])
def test_rows_with_a_cell_that_is_no_finite_number_are_left_out_and_named(cell):
    usable = usable_records(table(("a", 1), ("b", cell), ("c", 3)), "name", "size")
    assert usable.records.keys == ("a", "c")
    assert "row 2 (size)" in usable.remarks[0]


@pytest.mark.parametrize("cell", [None, "", "   ", math.nan])
def test_rows_without_a_text_are_left_out_and_named(cell):
    usable = usable_records(table(("a", 1), (cell, 2)), "name", "size")
    assert usable.records.keys == ("a",)
    assert "row 2 (name)" in usable.remarks[0]


@pytest.mark.parametrize("rows", [(), (("", 1),), ((None, None),)])
def test_a_table_with_nothing_usable_says_what_to_do(rows):
    usable = usable_records(table(*rows), "name", "size")
    assert usable.records is None
    assert "Add a row" in usable.remarks[-1]


def test_ten_thousand_rows_are_bounded_and_told():
    usable = usable_records(table(*((f"row {n}", n) for n in range(10_000))), "name", "size")
    assert len(usable.records.keys) == MAX_RECORDS
    assert "10,000" in usable.remarks[0]


def test_long_texts_are_cut_and_equal_keys_are_told():
    usable = usable_records(table(("x" * 5000, 1), ("same", 2), ("same", 3)), "name", "size")
    assert len(usable.records.keys[0]) == MAX_TEXT
    assert "600 characters" in usable.remarks[0]
    assert "a dictionary keeps only the last" in usable.remarks[1]


def test_key_and_value_may_be_one_column():
    records = usable_records(table(("a", 1), ("b", 2)), "size", "size").records
    assert soft_lookup(records, [2.0], 0.01).context().item() == pytest.approx(2)


@pytest.mark.parametrize(
    ("text", "numeric", "queries", "words"),
    [
        ("a\n\n  b  c \n", False, ("a", "b c"), None),
        ("1\n2,5\n−3", True, (1.0, 2.5, -3.0), None),
        ("1\nabc\nnan\ninf", True, (1.0,), "“abc” is not a finite number"),
        ("", False, (), "Type a query"),
        ("\n".join("q" * 3 for _ in range(40)), False, ("qqq",) * MAX_QUERIES, "first 12 of"),
        ("x" * 500, False, ("x" * 200,), "200 characters"),
    ],
)
def test_queries_are_understood_or_explained(text, numeric, queries, words):
    asked = read_queries(text, numeric)
    assert asked.queries == queries
    assert (words in " ".join(asked.remarks)) if words else not asked.remarks


@given(st.text(max_size=40), st.booleans())
def test_no_text_breaks_the_reader_of_queries(text, numeric):
    asked = read_queries(text, numeric)
    assert asked.queries or asked.remarks


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
    return Pretrained("tiny", ModelKind.ENCODER, model, BertTokenizer(str(file)), most_tokens=8)


def test_a_vector_is_the_direction_of_the_sum_of_a_texts_own_states(tiny):
    vectors = sentence_vectors(tiny, TEXTS)
    assert vectors.dtype == torch.float64
    for text, vector in zip(TEXTS, vectors, strict=True):
        ids = torch.tensor([tiny.tokenizer(text, truncation=True, max_length=8)["input_ids"]])
        mean = tiny.model(ids).last_hidden_state[0].double().mean(0)
        torch.testing.assert_close(vector, mean / mean.norm(), atol=1e-5, rtol=1e-5)


def test_a_text_is_read_up_to_the_bound(tiny):
    long, longer = sentence_vectors(tiny, ["a " * 8, "a " * 100])
    torch.testing.assert_close(long, longer)
    assert MOST_TOKENS <= 512


def test_every_line_of_a_look_up_by_meaning_gives_its_step(tiny):
    records = usable_records(PRESETS["Ask a text"].table, "sentence", "line").records
    trace = soft_lookup(records, ["the car", "a b"], 0.05, meaning(tiny))
    check(trace)
    assert trace.key.shape == (1, 8, 32)


def test_the_sweep_goes_through_the_weights_by_meaning(tiny):
    records = usable_records(PRESETS["Ask a text"].table, "sentence", "line").records
    weights = temperature_sweep(records, "the car", [0.05, 1.0], meaning(tiny))
    for row, temperature in zip(weights, (0.05, 1.0), strict=True):
        torch.testing.assert_close(row, soft_lookup(records, ["the car"], temperature, meaning(tiny)).weights()[0])


def test_an_automobile_is_a_car_by_meaning_and_baked_bread_by_spelling():
    found = find_local(PACKAGE)
    if found is None:
        pytest.skip("without the package of the sentence encoder")
    preset = PRESETS["Ask a text"]
    records = usable_records(preset.table, preset.key, preset.value).records
    best = {
        name: [
            records.keys[place]
            for place in soft_lookup(records, preset.queries, preset.temperature, way).weights().argmax(1).tolist()
        ]
        for name, way in (("meaning", meaning(load_pretrained(found.folder))), ("spelling", SPELLING))
    }
    for sentence, told in zip(best["meaning"], ("old car", "snow had melted", "baked bread"), strict=True):
        assert told in sentence
    assert "baked bread" in best["spelling"][0]
    assert all(one != other for one, other in zip(best["meaning"], best["spelling"], strict=True))


def test_several_columns_become_one_text_and_one_column_stays_as_it_is():
    table = Table(("title", "abstract", "year"), (False, False, True), (("One.", "Two", 2000), ("Three", "", 1.5)))
    both = usable_records(table, ("title", "abstract"), "year")
    assert both.records.keys == ("One. Two",)
    assert "row 2 (abstract)" in both.remarks[0]
    assert both.records.key_name == "titles and abstracts"
    assert usable_records(table, ["year", "title"], "year").records.keys == ("2000. One", "1.5. Three")
    assert usable_records(table, ["year"], "title").records.numeric_keys
    assert usable_records(table, [], "title").records is None
