"""Heads switched off, positions left out; words shuffled, edits with them; what n costs."""

import numpy as np
import pytest
import torch

from attention_core.attention.edits import BlockKeys, SetScore, SetWeights, drop_heads
from attention_core.inference.translation import explain_layers, piece_probabilities, read_source, translation_of
from attention_core.inference.word_orders import (
    movable_words,
    reordered,
    reordered_edits,
    word_order,
)
from attention_core.models.transformer import EditedTranslator, Transformer, TransformerConfig
from pages.transformer import cost
from pages.transformer.cost import committed_figures, expected_line, layer_costs

SMALL = TransformerConfig(n_layers=2, n_heads=3, d_model=24, d_ff=32, dropout=0.0)
SAID = [10, 200, 37, 3]


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return Transformer(SMALL).eval().requires_grad_(False)


@pytest.fixture(scope="module")
def source():
    return read_source("The red car.")


def test_without_edits_nothing_changes_and_a_switched_off_head_hands_over_nothing(model, source):
    plain = piece_probabilities(model, source, SAID)
    assert piece_probabilities(EditedTranslator(model), source, SAID) == plain
    edits = drop_heads([(("cross", 1), 2)])
    trace = explain_layers(model, source, translation_of(SAID), edits)["cross", 1]
    assert not trace.context(2).any()
    assert trace.context(1).any()
    torch.testing.assert_close(trace.weights(2).sum(1), torch.ones(trace.n_queries))


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_an_edit_gives_the_probabilities_of_the_model_s_own_forward_pass(model, source, kind):
    edits = drop_heads([((kind, 0), 1), ((kind, 1), 2)])
    found = piece_probabilities(EditedTranslator(model, edits), source, SAID)
    fed = torch.tensor([[2, *SAID[:-1]]])
    with torch.inference_mode():
        logits = model(source.ids[None], fed, edits=edits).logits[0]
    expected = logits.softmax(-1)[range(4), SAID].tolist()
    assert found == pytest.approx(expected, rel=1e-4)
    assert found != pytest.approx(piece_probabilities(model, source, SAID), rel=1e-3)


def states_in_orders(edited, order):
    """Return the encoder's states of TYPED and of its words in an order, each piece where it stands in TYPED."""
    other, positions = reordered(TYPED, order)
    moved = reordered_edits(edited.edits, positions)
    inputs = (TYPED.ids[None], edited.edits), (other.ids[None], moved)
    states, others = (edited.network.encode(*each).states[0].detach() for each in inputs)
    return states, others[positions.argsort()]


def test_only_without_positions_equal_pieces_and_any_order_are_the_same(model):
    source, made = read_source("the man saw the man"), translation_of(SAID)
    for network, same in ((model.without_positions(), True), (model, False)):
        trace = explain_layers(network, source, made)["encoder", 0]
        assert torch.allclose(trace.query[:, 0], trace.query[:, 3], atol=1e-6) == same
    for seed in range(3):
        order = word_order(movable_words(TYPED), "shuffled", seed)
        states, others = states_in_orders(EditedTranslator(model, with_positions=False), order)
        torch.testing.assert_close(others, states, atol=1e-5, rtol=0)
    states, others = states_in_orders(EditedTranslator(model), word_order(movable_words(TYPED), "reversed"))
    assert not torch.allclose(others, states, atol=1e-2)


TYPED = read_source("The unbelievable dog bit the man.")


def test_edits_of_words_follow_them_to_their_new_places(model):
    weights = SetWeights(2, ((0, 0.0), (4, 0.6)), head=1)
    edits = {("encoder", 0): [weights, SetScore(1, 3, 2.0)], ("encoder", 1): [BlockKeys((0, 5))]}
    order = word_order(movable_words(TYPED), "reversed")
    states, others = states_in_orders(EditedTranslator(model, edits, with_positions=False), order)
    torch.testing.assert_close(others, states, atol=1e-5, rtol=0)
    plain, _ = states_in_orders(EditedTranslator(model, with_positions=False), order)
    assert not torch.allclose(states, plain, atol=1e-3)
    places = reordered(TYPED, order)[1].tolist()
    moved = reordered_edits({("cross", 0): [weights], ("decoder", 1): [weights]}, torch.tensor(places))
    to = places.index
    assert moved == {("cross", 0): (SetWeights(2, ((to(0), 0.0), (to(4), 0.6)), 1),), ("decoder", 1): (weights,)}


def test_a_decoder_s_edits_leave_out_keys_that_are_not_there_yet(model, source):
    edits = {("decoder", 0): [SetWeights(1, ((0, 0.3), (3, 0.0))), BlockKeys((2,)), SetScore(3, 3, 4.0)]}
    changed, fed = EditedTranslator(model, edits), torch.tensor([[2, *SAID[:-1]]])
    state, logits = changed.begin(source.ids[None]), []
    for piece in fed.split(1, 1):
        some, state = changed.step(state, piece)
        logits.append(some)
    whole = model(source.ids[None], fed, edits=edits).logits
    torch.testing.assert_close(torch.cat(logits, 1), whole, rtol=0, atol=1e-5)
    assert not torch.allclose(whole, model(source.ids[None], fed).logits)


def test_a_shuffle_keeps_pieces_together_and_is_never_the_order_as_typed():
    other, places = reordered(TYPED, word_order(movable_words(TYPED), "reversed"))
    assert other.words == ["man", "the", "bit", "dog", "unbelievable", "The", "."]
    assert "".join(other.labels) == "manthebitdogunbelievablethe.end"
    assert sorted(places.tolist()) == list(range(len(TYPED.ids)))
    assert other.ids.tolist() == TYPED.ids[places].tolist()
    assert other.word_of == sorted(other.word_of)
    assert all(word_order(2, "shuffled", seed) == [1, 0] for seed in range(10))
    assert word_order(1, "shuffled") == [0]
    assert word_order(0, "reversed") == []


def test_committed_figures_have_the_expected_slopes_and_rising_lengths_or_are_missing(monkeypatch, tmp_path):
    rows = [{"way": "attention", "n": n, "milliseconds": 3e-4 * n**2} for n in (64, 128, 256)]
    assert expected_line(rows, "attention", "milliseconds")[0] == pytest.approx((64, rows[0]["milliseconds"]))
    assert expected_line([], "fused", "megabytes") == []
    rows = committed_figures()["rows"]
    assert len(rows) >= 21
    for way in cost.LAYER_NAMES:
        for field in ("milliseconds", "megabytes"):
            n, value = np.log(cost.measured(rows, way, field)[-3:]).T
            slope = np.polyfit(n, value, 1)[0]
            # a matrix that outgrows the processor's cache costs more than its number of cells
            assert slope == pytest.approx(cost.SLOPES[field][way], abs=0.5), (way, field)
    training = committed_figures()["training"]
    times = training["seconds_of_a_pass"]
    assert [one["n"] for one in times] == sorted(one["n"] for one in times)
    assert all(one["recurrent"] > 0 and one["attention"] > 0 for one in times)
    assert training["sentences"] == 1_000
    monkeypatch.setattr(cost, "COMMITTED", tmp_path / "none.json")
    assert committed_figures() == {}


def test_the_table_counts_multiplications_and_what_one_more_word_costs():
    (before, after), d = (layer_costs(n) for n in (10, 11)), cost.D
    assert _number(after[0].work) - _number(before[0].work) == _number(before[0].next_work)
    pairs_of_the_others_with_it = 10 * 2 * d  # which are forbidden where a text is written
    apart = _number(after[1].work) - _number(before[1].work)
    assert apart == _number(before[1].next_work) + pairs_of_the_others_with_it
    recurrent, attention = layer_costs(10, 192)
    n, d = 10, 192
    gates = 3 * (d * d + d * d)  # each of an input and of a state
    assert recurrent.work == f"6nd² = {n * gates:,}"
    # queries, keys, values and output of each; a score and a share of the sum for each pair
    assert attention.work == f"4nd² + 2n²d = {n * 4 * d * d + n * n * (d + d):,}"
    assert (recurrent.next_work, recurrent.cached) == (f"6d² = {gates:,}", "d = 192")
    assert attention.next_work == f"4d² + 2(n+1)d = {4 * d * d + 11 * 2 * d:,}"
    assert attention.cached == f"2nd = {n * 2 * d:,}"
    assert (recurrent.steps, attention.steps, recurrent.path, attention.path) == ("n = 10", "1", "n = 10", "1")


def _number(formula: str) -> int:
    return int(formula.rsplit("= ")[-1].replace(",", ""))
