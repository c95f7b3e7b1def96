"""What a recurrent encoder remembers: states, gates, gradient norms against torch itself; two that foresee a text."""

import time

import pytest
import torch
from torch.testing import assert_close

from attention_core.data.language_pieces import START, WINDOW, pieces
from attention_core.models import build
from attention_core.models.translator import Translator, TranslatorConfig
from attention_core.topics.memory.influence import (
    DIRECTIONS,
    both_ways,
    gradient_norms,
    half_life,
    reaching_the_end,
    read,
    shares,
    similar_first,
    what_is_left,
)
from attention_core.topics.memory.own_states import cut, foresee

CELLS = ("gru", "rnn")
IDS = torch.tensor([5, 700, 12, 4000, 12, 3])


def small(cell, d_embedding=5):
    torch.manual_seed(0)
    model = Translator(TranslatorConfig("none", cell, d_embedding=d_embedding, d_state=14))
    torch.nn.init.normal_(model.embedding.weight)
    return model.eval().requires_grad_(False)


def by_differentiation(model, ids, direction):
    """The same norms from torch's automatic differentiation of the encoder itself."""
    half = model.config.d_state // 2
    part = slice(half) if direction == "forward" else slice(half, None)
    jacobian = torch.func.jacrev(lambda x: model.encoder(x[None])[0][0, :, part])(model.embedding(ids))
    return jacobian.norm(dim=(1, 3))


@pytest.mark.parametrize("cell", CELLS)
def test_states_are_those_of_the_encoder(cell):
    model = small(cell)
    readings = read(model, IDS)
    encoding = model.encode(IDS[None])
    assert_close(torch.cat((readings.forward.states, readings.backward.states), 1), encoding.states[0])
    assert_close(torch.cat((readings.forward.states[-1], readings.backward.states[0])), encoding.last[0])


def test_gates_mix_old_and_new_and_a_plain_network_has_none():
    readings = read(small("gru"), IDS)
    for reading in readings:
        for gate in (reading.update, reading.reset):
            assert gate.shape == reading.states.shape
            assert gate.min() > 0
            assert gate.max() < 1
    assert read(small("rnn"), IDS).forward[1:] == (None, None)


def test_update_gate_of_one_keeps_the_whole_state():
    model = small("gru")
    bias = model.encoder.bias_ih_l0
    bias[len(bias) // 3 : 2 * len(bias) // 3] = 100.0
    reading = read(model, IDS).forward
    assert_close(reading.update, torch.ones_like(reading.update))
    assert_close(reading.states, torch.zeros_like(reading.states))


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("cell", CELLS)
def test_gradient_norms_are_those_of_automatic_differentiation(cell, direction):
    model = small(cell)
    norms = gradient_norms(model, IDS, direction)
    assert_close(norms, by_differentiation(model, IDS, direction))
    assert bool((norms.tril(-1) == 0).all()) == (direction == "backward")
    assert bool((norms.triu(1) == 0).all()) == (direction == "forward")
    assert (norms.diagonal() > 0).all()


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("d_embedding", [3, 9])
def test_pieces_of_a_word_count_together(cell, direction, d_embedding):
    model, word_of = small(cell, d_embedding=d_embedding), [0, 0, 1, 2, 2, 3]
    pieces = gradient_norms(model, IDS, direction)
    words = gradient_norms(model, IDS, direction, word_of)
    read_last = [1, 2, 4, 5] if direction == "forward" else [0, 2, 3, 5]
    groups = torch.tensor(word_of)
    expected = torch.stack([pieces[read_last][:, groups == word].square().sum(1).sqrt() for word in range(4)], 1)
    assert_close(words, expected, rtol=1e-4, atol=1e-6)


def test_one_piece_is_a_sentence():
    norms = gradient_norms(small("gru"), torch.tensor([3]))
    assert norms.shape == (1, 1)
    assert similar_first(read(small("gru"), torch.tensor([3])).forward.states)


@pytest.mark.parametrize("ids", [torch.zeros(0, dtype=torch.long), torch.zeros(1, 3, dtype=torch.long)])
def test_what_is_no_sentence_is_refused(ids):
    with pytest.raises(ValueError, match="ids must be one sentence"):
        read(small("gru"), ids)


def test_unknown_direction_and_unfitting_words_are_refused():
    model = small("rnn")
    with pytest.raises(ValueError, match="'sideways'"):
        gradient_norms(model, IDS, "sideways")
    with pytest.raises(ValueError, match="got 2"):
        gradient_norms(model, IDS, word_of=[0, 1])


def test_end_gets_the_last_row_of_one_reading_and_the_first_of_the_other():
    forward, backward = torch.tensor([[2.0, 0.0], [3.0, 5.0]]), torch.tensor([[1.0, 4.0], [0.0, 6.0]])
    assert_close(reaching_the_end(forward), torch.tensor([3.0, 5.0]))
    assert_close(reaching_the_end(forward, backward), torch.tensor([10.0, 41.0]).sqrt())
    assert_close(both_ways(forward, backward)[1], torch.tensor([3.0, 61.0**0.5]))


def test_shares_sum_to_one_and_what_is_left_begins_with_all():
    norms = torch.tensor([[4.0, 0.0, 0.0], [2.0, 8.0, 0.0], [1.0, 6.0, 1.0]])
    assert_close(shares(norms).sum(1), torch.ones(3))
    assert_close(shares(norms)[2, 1].item(), 0.75)
    assert_close(what_is_left(norms)[2], torch.tensor([0.25, 0.75, 1.0]))
    assert_close(what_is_left(norms)[:, 0], torch.tensor([1.0, 0.5, 0.25]))


def test_half_life_lies_on_the_line_between_two_words():
    assert half_life([1.0, 0.75, 0.25]) == 1.5
    assert half_life([1.0, 0.5, 0.25]) == 1.0
    assert half_life([1.0, 1.5, 0.4]) == pytest.approx(1 + 1.0 / 1.1)
    assert half_life([1.0, 0.9]) is None
    assert half_life([1.0]) is None


def test_dimensions_that_behave_alike_become_neighbours():
    steps = torch.linspace(0, 3, 9)
    kinds = torch.stack((steps.sin(), steps.cos(), -steps.sin()), 1)
    mixed = torch.tensor([0, 1, 2, 1, 0, 2, 2, 0, 1])
    order = similar_first(kinds[:, mixed])
    assert sorted(order) == list(range(9))
    found = mixed[order].tolist()
    assert sum(a != b for a, b in zip(found, [*found[1:], found[0]], strict=True)) == 3


@pytest.mark.parametrize("cell", CELLS)
def test_forty_words_take_less_than_a_second_of_one_core(cell):
    model = Translator(TranslatorConfig("none", cell)).eval().requires_grad_(False)
    ids = torch.arange(10, 51)
    gradient_norms(model, ids[:3])
    began = time.process_time()
    gradient_norms(model, ids)
    assert time.process_time() - began < 1


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("word_of", [None, [0, 1, 1, 1, 2, 2]])
@pytest.mark.parametrize("cell", CELLS)
def test_norms_at_the_end_are_the_row_of_the_state_in_which_the_reading_ends(cell, word_of, direction):
    model = small(cell)
    every = gradient_norms(model, IDS, direction, word_of)
    ends = every[-1:] if direction == "forward" else every[:1]
    assert_close(gradient_norms(model, IDS, direction, word_of, at_end=True), ends)


def untrained(name):
    torch.manual_seed(1)
    return build(name).eval().requires_grad_(False)


def test_text_is_cut_into_pieces_and_bounded():
    given = cut("  Tom ate.  ")
    assert given.labels[0] == START
    assert "".join(given.labels[1:]).strip() == "Tom ate."
    assert given.left_out == 0
    long = cut("Tom ate an apple. " * 100)
    assert (len(long.ids), len(long.labels)) == (WINDOW, WINDOW)
    assert long.left_out == len(pieces().encode(("Tom ate an apple. " * 100).strip()).ids) - WINDOW
    assert len(cut("").ids) == 1


def test_both_foresee_every_piece_from_those_before_it():
    models = untrained("language-recurrent"), untrained("language-recurrent-alone")
    given = cut("Tom ate an apple. Tom ate")
    told = foresee(*models, given)
    for model, probabilities, likeliest in zip(models, told.probabilities, told.likeliest, strict=True):
        whole = model(torch.tensor([given.ids])).logits[0].softmax(-1)
        for place, piece in enumerate(given.ids[1:]):
            assert_close(float(probabilities[place]), float(whole[place, piece]))
        assert len(likeliest) == len(given.ids)
        assert [value for _, value in likeliest[2]] == sorted((value for _, value in likeliest[2]), reverse=True)
        assert_close(likeliest[2][0][1], float(whole[2].max()))
    weights = told.trace.weights()
    assert_close(weights.triu(), torch.zeros_like(weights))  # no state sees itself or what is to come
    assert_close(weights[1:].sum(1), torch.ones(len(given.ids) - 1))
