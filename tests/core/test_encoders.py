"""Texts as vectors by their meaning: against the sums by hand on a tiny random model, and what the real one finds."""

from pathlib import Path

import pytest
import torch

from attention_core.hub.catalogue import PACKAGE, find_local
from attention_core.hub.load import load_pretrained
from attention_core.hub.model import Kind, Pretrained
from attention_core.topics.lookup.encoders import MOST_TOKENS, SPELLING, meaning, sentence_vectors
from attention_core.topics.lookup.presets import PRESETS
from attention_core.topics.lookup.records import Table, usable_records
from attention_core.topics.lookup.soft_lookup import soft_lookup, temperature_sweep
from tests.core.test_shown_code import check
from tests.tiny_models import SIZES

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
    return Pretrained("tiny", Kind.ENCODER, model, BertTokenizer(str(file)), most_tokens=8)


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
