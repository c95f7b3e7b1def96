"""What a recurrent encoder remembers, against torch itself; what the page shows of it."""

import json

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from attention_core.data.language_pieces import START, WINDOW, pieces
from attention_core.data.sentence_presets import FAITHFUL, READ_BACK, REMEMBERED, SHORTER
from attention_core.evaluate.translation_figures import bleu_by_length, group_of
from attention_core.inference import word_influence as influence
from attention_core.inference.encoder_states import cut, foresee, state_differences
from attention_core.inference.read_back import CORRECT, LOST, WRONG, compare_words
from attention_core.inference.translation import read_source, translate
from attention_core.inference.word_influence import last_state_shares, memory_overview
from attention_core.models import build, load
from attention_core.models.translator import Translator, TranslatorConfig
from tests.support.by_hand import differentiated

BOOK = "The book that my sister gave me when I was ill is still on the table."
CELLS = ("gru", "rnn")
IDS = torch.tensor([5, 700, 12, 4000, 12, 3])


def small(cell, d_embedding=5):
    torch.manual_seed(0)
    model = Translator(TranslatorConfig("none", cell, d_embedding=d_embedding, d_state=14))
    torch.nn.init.normal_(model.embedding.weight)
    return model.eval().requires_grad_(False)


@pytest.mark.parametrize("cell", CELLS)
def test_states_are_those_of_the_encoder(cell):
    model = small(cell)
    readings = influence.read_bidirectionally(model, IDS)
    encoding = model.encode(IDS[None])
    forward, backward = (readings[direction].states for direction in influence.DIRECTIONS)
    assert_close(torch.cat((forward, backward), 1), encoding.states[0])
    assert_close(torch.cat((forward[-1], backward[0])), encoding.last[0])


def test_gates_mix_old_and_new_keep_all_at_one_and_a_plain_network_has_none():
    readings = influence.read_bidirectionally(small("gru"), IDS)
    for reading in readings.values():
        assert reading.update.shape == reading.states.shape
        assert reading.update.min() > 0
        assert reading.update.max() < 1
    assert influence.read_bidirectionally(small("rnn"), IDS)["forward"].update is None
    model = small("gru")
    bias = model.encoder.bias_ih_l0
    bias[len(bias) // 3 : 2 * len(bias) // 3] = 100.0
    reading = influence.read_bidirectionally(model, IDS)["forward"]
    assert_close(reading.update, torch.ones_like(reading.update))
    assert_close(reading.states, torch.zeros_like(reading.states))


def test_shares_sum_to_one():
    norms = torch.tensor([[4.0, 0.0, 0.0], [2.0, 8.0, 0.0], [1.0, 6.0, 1.0]])
    assert_close(influence.shares(norms).sum(1), torch.ones(3))
    assert_close(influence.shares(norms)[2, 1].item(), 0.75)


def test_dimensions_that_behave_alike_become_neighbours():
    steps = torch.linspace(0, 3, 9)
    kinds = torch.stack((steps.sin(), steps.cos(), -steps.sin()), 1)
    mixed = torch.tensor([0, 1, 2, 1, 0, 2, 2, 0, 1])
    order = influence.similar_dimensions_first(kinds[:, mixed])
    assert sorted(order) == list(range(9))
    in_order = mixed[order].tolist()
    assert sum(a != b for a, b in zip(in_order, [*in_order[1:], in_order[0]], strict=True)) == 3


@pytest.mark.parametrize("cell", CELLS)
def test_forty_words_are_read_and_differentiated_once_and_not_once_per_number(cell, monkeypatch):
    model = Translator(TranslatorConfig("none", cell)).eval().requires_grad_(False)
    calls, differentiate = [], torch.autograd.grad

    def counted(*args, **kwargs):
        calls.append("grad")
        return differentiate(*args, **kwargs)

    monkeypatch.setattr(torch.autograd, "grad", counted)
    model.encoder.register_forward_hook(lambda *args: calls.append("encoder"))
    last_state_shares(model, read_source("the red car and " * 10))
    assert calls == ["encoder", "grad"]


def untrained(name):
    torch.manual_seed(1)
    return build(name).eval().requires_grad_(False)


def test_text_is_cut_into_pieces_and_bounded():
    text = cut("  Tom ate.  ")
    assert text.labels[0] == START
    assert "".join(text.labels[1:]).strip() == "Tom ate."
    assert text.left_out == 0
    long = cut("Tom ate an apple. " * 100)
    assert (len(long.ids), len(long.labels)) == (WINDOW, WINDOW)
    assert long.left_out == len(pieces().encode(("Tom ate an apple. " * 100).strip()).ids) - WINDOW
    assert len(cut("").ids) == 1


def test_both_foresee_every_piece_from_those_before_it():
    models = untrained("language-recurrent"), untrained("language-recurrent-alone")
    text = cut("Tom ate an apple. Tom ate")
    predictions = foresee(*models, text)
    for model, probabilities in zip(models, predictions.probabilities, strict=True):
        table = model(torch.tensor([text.ids])).logits[0].softmax(-1)
        for position, piece in enumerate(text.ids[1:]):
            assert_close(float(probabilities[position]), float(table[position, piece]))
    weights = predictions.trace.weights()
    assert_close(weights.triu(), torch.zeros_like(weights))  # no state sees itself or what is to come
    assert_close(weights[1:].sum(1), torch.ones(len(text.ids) - 1))


SENTENCE = "The xylophone player left."


@pytest.fixture(scope="module")
def memory():
    return memory_overview(small("gru"), read_source(SENTENCE))


def test_words_have_the_state_after_their_last_piece_and_the_mean_of_its_gates(memory):
    source = read_source(SENTENCE)
    assert memory.labels == ["The", "xylophone", "player", "left", ".", "end"]
    assert source.word_of.count(1) > 1
    for part in (memory.states, memory.update):
        assert {direction: values.shape for direction, values in part.items()} == {
            "forward": (7, 6),
            "backward": (7, 6),
        }
    model, source = small("gru"), read_source(SENTENCE)
    states = model.encode(source.ids[None]).states[0].numpy()
    last = len(source.word_of) - 1 - source.word_of[::-1].index(1)
    first = source.word_of.index(1)
    np.testing.assert_allclose(np.sort(memory.states["forward"][:, 1]), np.sort(states[last, :7]), rtol=1e-5)
    np.testing.assert_allclose(np.sort(memory.states["backward"][:, 1]), np.sort(states[first, 7:]), rtol=1e-5)
    assert memory.retained_share("backward", 2) == pytest.approx(memory.update["backward"][:, 2].mean())


def test_plain_network_has_no_gates():
    memory = memory_overview(small("rnn", d_embedding=9), read_source(SENTENCE))
    assert memory.update == {}
    assert memory.retained_share("forward", 0) is None


def card(folder, name, **figures):
    (folder / f"{name}.json").write_text(json.dumps({"name": name, **figures}))


def test_bleu_is_read_from_the_cards_and_what_is_missing_is_left_out(tmp_path):
    rows = {"bleu_by_length": {"12-14": 20.0, "1-5": 40.0}, "bleu_long": 20.0, "n": 99}
    card(tmp_path, "translator-none", test=rows)
    card(tmp_path, "translator-dot", test=rows | {"bleu_by_length": {"1-5": 41.0}})
    card(tmp_path, "translator-mean", note="no figures")
    (tmp_path / "translator-general.json").write_text("{")
    names = tuple(f"translator-{name}" for name in ("none", "dot", "mean", "general", "additive"))
    by_length = bleu_by_length(names, tmp_path)
    assert by_length.groups == ["1-5", "12-14"]
    assert by_length.scores == {"translator-none": [40.0, 20.0], "translator-dot": [41.0, None]}


def test_a_sentence_belongs_to_the_group_of_its_length():
    groups = ["1-5", "6-8", "18+"]
    assert [group_of(groups, n) for n in (0, 5, 6, 17, 40)] == ["1-5", "1-5", "6-8", "6-8", "18+"]


def tiny(scoring: str, cell: str = "gru") -> Translator:
    torch.manual_seed(3)
    sizes = {"d_embedding": 6, "d_state": 8, "d_additive": 5, "has_input_feeding": scoring == "fed"}
    return Translator(TranslatorConfig("dot" if scoring == "fed" else scoring, cell, **sizes)).double().eval()


@pytest.mark.parametrize("scoring", ["additive", "dot", "fed", "general", "mean"])
@pytest.mark.parametrize("cell", ["gru", "rnn"])
def test_shares_are_those_of_automatic_differentiation(scoring, cell):
    model, source = tiny(scoring, cell), read_source("My chihuahua Zorglub hates the sea.")
    torch.testing.assert_close(last_state_shares(model, source), differentiated(model, source))


def test_sister_is_forgotten():
    model, source = load("translator-additive", "cpu"), read_source(BOOK)
    for english, retained in (("sister", 0.0505), ("ill", 0.0242)):
        share = last_state_shares(model, source)[source.words.index(english)]
        assert float(share) == pytest.approx(retained, abs=2e-3)


def test_only_reading_both_ways_tells_words_apart_by_what_follows_and_other_beginnings_share_none():
    model = small("gru", 6)
    first, second = (read_source(f"Apple makes very good {noun}.") for noun in ("pies", "phones"))
    apart = state_differences(model, first, second)
    assert apart.words == ["Apple", "makes", "very", "good"]
    assert apart.forwards.abs().max() < 1e-6
    states = [model.encoder(model.embedding(source.ids[None]))[0][0] for source in (first, second)]
    place = first.word_of.index(3)  # a word of one piece: torch's states hold both directions at it
    assert first.word_of.count(3) == 1
    expected = (states[1][place] - states[0][place]).norm() / states[0][place].norm()
    assert float(apart.bidirectional[3]) == pytest.approx(float(expected), abs=1e-6)
    assert apart.bidirectional.min() > 1e-6
    assert state_differences(model, read_source("A pie."), read_source("The pie.")).words == []
    differences = state_differences(model, read_source("the pie"), read_source("The pie"))
    assert differences.words == ["the", "pie"]
    assert differences.bidirectional.max() < 1e-6


def test_words_and_lost_ones_stay_where_they_stand_and_replaced_ones_are_wrong():
    words = compare_words("My car bought a Red newspaper, car.", "My aunt bought a red car.")
    assert [word for word, kind in words if kind != CORRECT] == ["car", "newspaper,"]
    assert " ".join(word for word, _ in words) == "My car bought a Red newspaper, car."
    assert compare_words("", "My aunt.") == [("My", LOST), ("aunt.", LOST)]
    assert [kind for _, kind in compare_words("aunt my", "My aunt")].count(CORRECT) == 1
    lost = compare_words("A shirt, no.", "A blue shirt, yes.")
    assert lost == [("A", CORRECT), ("blue", LOST), ("shirt,", CORRECT), ("no.", WRONG)]


def test_attention_loses_nothing_of_the_examples_and_one_vector_much():
    for sentence in (*SHORTER.values(), *REMEMBERED.values()):
        french = translate(load("translator-additive", "cpu"), read_source(sentence)).text
        assert FAITHFUL[french] == sentence
    for sentence in REMEMBERED.values():
        english = READ_BACK[translate(load("translator-none", "cpu"), read_source(sentence)).text]
        assert sum(kind == WRONG for _, kind in compare_words(english, sentence)) >= 4
