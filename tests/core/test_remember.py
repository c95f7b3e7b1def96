"""What the page on forgetting shows of a sentence, the averages over many, and BLEU by length from the cards."""

import json

import numpy as np
import pytest
import torch

from attention_core.evaluate.forgetting import NAME, NETWORKS, forgetting_of, read_forgetting
from attention_core.models import MODELS
from attention_core.topics.memory.influence import MEASURES, both_ways, norms_table, remember
from attention_core.topics.translate.training import TRANSLATORS, bleu_by_length
from attention_core.topics.translate.translation import read_source
from tests.core.test_memory import small

SENTENCE = "The xylophone player left."


@pytest.fixture(scope="module")
def memory():
    return remember(small("gru"), read_source(SENTENCE))


def test_one_position_per_word_and_the_end(memory):
    source = read_source(SENTENCE)
    assert memory.labels == ["The", "xylophone", "player", "left", ".", "end"]
    assert [piece for some in memory.pieces for piece in some] == source.labels
    assert len(memory.pieces[1]) > 1
    for part in (memory.states, memory.update, memory.reset):
        assert {way: values.shape for way, values in part.items()} == {"forward": (7, 6), "backward": (7, 6)}


def test_piece_by_piece_is_as_long_as_the_pieces():
    source = read_source(SENTENCE)
    pieces = remember(small("gru"), source, by_pieces=True, both=False)
    assert pieces.labels == source.labels
    assert set(pieces.norms) == {"forward"}


def test_word_has_the_state_after_its_last_piece_that_was_read(memory):
    model, source = small("gru"), read_source(SENTENCE)
    states = model.encode(source.ids[None]).states[0].numpy()
    last = len(source.word_of) - 1 - source.word_of[::-1].index(1)
    first = source.word_of.index(1)
    np.testing.assert_allclose(np.sort(memory.states["forward"][:, 1]), np.sort(states[last, :7]), rtol=1e-5)
    np.testing.assert_allclose(np.sort(memory.states["backward"][:, 1]), np.sort(states[first, 7:]), rtol=1e-5)


def test_forward_states_do_not_know_later_words_and_both_together_know_all(memory):
    for measure in MEASURES:
        causal = memory.matrix(measure, both=False)
        assert (np.isnan(causal) == ~np.tri(6, dtype=bool)).all()
        assert np.isfinite(memory.matrix(measure, both=True)).all()
    joint = both_ways(*(torch.from_numpy(memory.norms[way]) for way in ("forward", "backward")))
    np.testing.assert_allclose(memory.matrix("norm", both=True), joint)
    with pytest.raises(ValueError, match="'sum'"):
        memory.matrix("sum", both=True)


def test_shares_at_the_end_are_the_last_row(memory):
    shares = memory.share_at_end(both=False)
    assert shares.sum() == pytest.approx(1, abs=1e-5)
    np.testing.assert_allclose(shares, memory.matrix("share", both=False)[-1], rtol=1e-5)
    assert memory.share_at_end(both=True).sum() == pytest.approx(1, abs=1e-5)


def test_mouse_is_told_a_sentence_with_the_number(memory):
    told, norms = memory.told("norm", both=False), memory.matrix("norm", both=False)
    assert told[3, 0] == f"after “left”, “The” still matters {norms[3, 0]:.3g}"
    assert told[0, 0].startswith("right after “The”")
    assert told[0, 3] == "after “The”, “left” has not been read yet"
    assert memory.column_facts("states", "forward")["word"] == memory.labels
    assert memory.column_facts("update", "backward")["read as"][1] == " ".join(memory.pieces[1])


def test_table_holds_every_norm_that_is_not_zero_by_nature(memory):
    table = norms_table({"GRU": memory})
    assert len(table) == 2 * 21
    row = table[(table["direction"] == "backward") & (table["state"] == 1) & (table["position"] == 4)].iloc[0]
    assert (row["state_after"], row["word"]) == ("xylophone", ".")
    assert row["gradient_norm"] == pytest.approx(memory.norms["backward"][1, 4])


def test_plain_network_has_no_gates():
    memory = remember(small("rnn", d_embedding=9), read_source(SENTENCE))
    assert memory.update == memory.reset == {}
    assert memory.gate_means("forward", 0) is None


def test_gates_are_averaged_over_the_dimensions(memory):
    update, reset = memory.gate_means("backward", 2)
    assert update == pytest.approx(memory.update["backward"][:, 2].mean())
    assert reset == pytest.approx(memory.reset["backward"][:, 2].mean())


def test_average_forgetting_begins_with_all_and_follows_every_word():
    figures = forgetting_of(small("gru"), ["I am here.", "You are not there."], most_later=3, fewest=6)
    assert figures["lower"][0] == figures["median"][0] == figures["upper"][0] == 1
    assert figures["n"] == [11, 9, 7]
    assert all(a <= b <= c for a, b, c in zip(figures["lower"], figures["median"], figures["upper"], strict=True))
    with pytest.raises(ValueError, match="got none"):
        forgetting_of(small("gru"), [])


def test_average_of_other_weights_is_not_read(tmp_path):
    first, second = NETWORKS
    (tmp_path / f"{first}.json").write_text(json.dumps({"sha256": "a"}))
    (tmp_path / f"{second}.json").write_text(json.dumps({"sha256": "changed"}))
    assert read_forgetting(tmp_path) is None
    networks = {first: {"sha256": "a"}, second: {"sha256": "b"}}
    (tmp_path / NAME).write_text(json.dumps({"sentences": 2, "networks": networks}))
    assert list(read_forgetting(tmp_path)["networks"]) == [first]
    (tmp_path / NAME).write_text("[1, 2")
    assert read_forgetting(tmp_path) is None


def card(folder, name, **figures):
    (folder / f"{name}.json").write_text(json.dumps({"name": name, **figures}))


def test_bleu_is_read_from_the_cards_and_what_is_missing_is_named(tmp_path):
    rows = {"bleu": 30.0, "bleu_by_length": {"12-14": 20.0, "1-5": 40.0}, "bleu_long": 20.0, "n": 99}
    card(tmp_path, "translator-none", test=rows, development=rows | {"bleu": 31.0})
    card(tmp_path, "translator-dot", test=rows | {"bleu_by_length": {"1-5": 41.0}})
    card(tmp_path, "translator-mean", note="no figures")
    (tmp_path / "translator-general.json").write_text("{")
    found = bleu_by_length(folder=tmp_path)
    assert found.groups == ["1-5", "12-14"]
    assert found.scores == {"translator-none": [40.0, 20.0], "translator-dot": [41.0, None]}
    assert found.overall["translator-none"] == 30
    assert found.long["translator-none"] == 20
    assert found.n == 99
    assert set(found.missing) == set(TRANSLATORS) - {"translator-none", "translator-dot"}
    assert bleu_by_length(part="development", folder=tmp_path).overall == {"translator-none": 31.0}
    with pytest.raises(ValueError, match="'training'"):
        bleu_by_length(part="training", folder=tmp_path)


def test_every_translator_is_in_the_comparison():
    assert set(TRANSLATORS) == {name for name in MODELS if name.startswith("translator-")}
