"""Heads switched off, positions left out, what each head is worth; words shuffled; what n costs."""

import numpy as np
import pytest
import torch

from attention_core.attention.edits import DropHead
from attention_core.models.transformer import Transformer, TransformerConfig
from attention_core.topics.transformer import cost
from attention_core.topics.transformer.ablation import (
    EditedTransformer,
    TransformerHead,
    head_importance,
    switched_off,
)
from attention_core.topics.transformer.cost import CostRow, committed_figures, expected_line, layer_costs
from attention_core.topics.transformer.orders import as_bytes, compare_orders, movable_words, reordered, word_order
from attention_core.topics.translate.translation import explain_layers, piece_probabilities, read_source, translation_of

SMALL = TransformerConfig(n_layers=2, n_heads=3, d_model=24, d_ff=32, dropout=0.0)
SAID = [10, 200, 37, 3]


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return Transformer(SMALL).eval().requires_grad_(False)


@pytest.fixture(scope="module")
def source():
    return read_source("The red car.")


def test_heads_of_a_layer_share_one_intervention():
    edits = switched_off(
        [TransformerHead("cross", 1, 2), TransformerHead("encoder", 0, 1), TransformerHead("cross", 1, 0)]
    )
    assert edits == {("cross", 1): (DropHead(0), DropHead(2)), ("encoder", 0): (DropHead(1),)}
    assert TransformerHead("cross", 1, 2).label == "cross, layer 2, head 3"


def test_without_edits_the_model_says_what_it_says(model, source):
    plain = piece_probabilities(model, source, SAID)
    assert piece_probabilities(EditedTransformer(model), source, SAID) == pytest.approx(plain)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_an_edit_gives_the_probabilities_of_the_model_s_own_forward_pass(model, source, kind):
    edits = switched_off([TransformerHead(kind, 0, 1), TransformerHead(kind, 1, 2)])
    found = piece_probabilities(EditedTransformer(model, edits), source, SAID)
    fed = torch.tensor([[2, *SAID[:-1]]])
    with torch.inference_mode():
        logits = model(source.ids[None], fed, edits=edits).logits[0]
    expected = logits.softmax(-1)[range(4), SAID].tolist()
    assert found == pytest.approx(expected, rel=1e-4)
    assert found != pytest.approx(piece_probabilities(model, source, SAID), rel=1e-3)


def test_a_switched_off_head_hands_over_nothing(model, source):
    edits = switched_off([TransformerHead("cross", 1, 2)])
    trace = explain_layers(model, source, translation_of(SAID), edits)["cross", 1]
    assert not trace.context(2).any()
    assert trace.context(1).any()
    torch.testing.assert_close(trace.weights(2).sum(1), torch.ones(trace.n_queries))


def test_without_positions_two_equal_pieces_are_one_and_the_same(model):
    source, made = read_source("the man saw the man"), translation_of(SAID)
    for network, same in ((model.without_positions(), True), (model, False)):
        trace = explain_layers(network, source, made)["encoder", 0]
        assert torch.allclose(trace.query[:, 0], trace.query[:, 3], atol=1e-6) == same


def test_the_worth_of_a_head_is_the_log_probability_that_its_loss_costs(model, source):
    made = translation_of(SAID)
    worth = head_importance(model, source, made)
    assert {kind: tuple(table.shape) for kind, table in worth.items()} == dict.fromkeys(
        ("encoder", "decoder", "cross"), (2, 3)
    )
    ways = (
        piece_probabilities(EditedTransformer(model, edits), source, SAID)
        for edits in ({}, switched_off([TransformerHead("cross", 0, 1)]))
    )
    before, after = (torch.tensor(one).log().sum() for one in ways)
    assert float(worth["cross"][0, 1]) == pytest.approx(float(before - after), abs=1e-4)


@pytest.mark.parametrize("said", [SAID, SAID[:1]])
def test_heads_switched_off_together_are_worth_what_they_are_one_by_one(model, source, said):
    def log_probability(edits):
        return (
            torch.tensor(piece_probabilities(EditedTransformer(model, edits), source, said), dtype=torch.double)
            .log()
            .sum()
        )

    for kind, table in head_importance(model, source, translation_of(said)).items():
        for layer, lost in enumerate(table):
            alone = torch.stack(
                [log_probability(switched_off([TransformerHead(kind, layer, head)])) for head in range(3)]
            )
            torch.testing.assert_close(lost.double(), log_probability({}) - alone, rtol=0, atol=1e-5)
            assert lost.abs().min() > 1e-4


TYPED = read_source("The unbelievable dog bit the man.")


def test_without_positions_the_encoder_gives_the_same_vectors_in_the_new_order(model):
    for seed in range(3):
        order = word_order(movable_words(TYPED), "shuffled", seed)
        found = compare_orders(EditedTransformer(model, with_positions=False), TYPED, order)
        assert float(found.changed.max()) < 1e-5
        torch.testing.assert_close(found.shuffled_states, found.states[found.order], atol=1e-5, rtol=0)


def test_with_positions_it_does_not(model):
    found = compare_orders(EditedTransformer(model), TYPED, word_order(movable_words(TYPED), "reversed"))
    assert float(found.changed.max()) > 0.01


def test_numbers_become_bytes_on_one_scale_around_the_middle():
    one, other = as_bytes([torch.tensor([[-1.0, 0.0, 1.0]]), torch.tensor([[0.5, 1.0]])])
    assert (list(one)[1], one[0] < 10, one[2] > 245) == (128, True, True)
    assert other[1] == one[2]


def test_words_keep_their_pieces_together_and_the_full_stop_stays_last():
    other, places = reordered(TYPED, word_order(movable_words(TYPED), "reversed"))
    assert other.words == ["man", "the", "bit", "dog", "unbelievable", "The", "."]
    assert "".join(other.labels) == "manthebitdogunbelievablethe.end"
    assert sorted(places.tolist()) == list(range(len(TYPED.ids)))
    assert other.ids.tolist() == TYPED.ids[places].tolist()
    assert other.word_of == sorted(other.word_of)


def test_a_shuffle_is_never_the_order_as_typed_unless_there_is_only_one():
    assert all(word_order(2, "shuffled", seed) == [1, 0] for seed in range(10))
    assert word_order(1, "shuffled") == [0]
    assert word_order(0, "reversed") == []


def test_what_cannot_be_ordered_is_named():
    with pytest.raises(ValueError, match="'shuffled' or 'reversed'"):
        word_order(3, "sorted")
    with pytest.raises(ValueError, match="permutation of the 6 words"):
        reordered(TYPED, [0, 0, 1, 2, 3, 4])


def test_slopes_are_expected_on_log_axes():
    rows = [CostRow("attention", n, 3e-4 * n**2, 1e-5 * n**2) for n in (64, 128, 256)]
    assert expected_line(rows, "attention", "milliseconds")[0] == pytest.approx((64, rows[0].milliseconds))
    assert expected_line([], "fused", "megabytes") == []
    with pytest.raises(ValueError, match="milliseconds or megabytes"):
        cost.expected_slope("fused", "hours")


def test_committed_figures_have_the_expected_slopes():
    rows = committed_figures().rows
    assert len(rows) >= 21
    for way in cost.WAYS:
        for field in ("milliseconds", "megabytes"):
            n, value = np.log(cost.measured(rows, way, field)[-3:]).T
            slope = np.polyfit(n, value, 1)[0]
            # a matrix that outgrows the processor's cache costs more than its number of cells
            assert slope == pytest.approx(cost.expected_slope(way, field), abs=0.5), (way, field)


def test_the_cost_of_one_more_word_is_what_n_and_one_more_cost_apart():
    (before, after), d = (layer_costs(n) for n in (10, 11)), cost.D
    assert _number(after[0].work) - _number(before[0].work) == _number(before[0].next_work)
    pairs_of_the_others_with_it = 10 * 2 * d  # which are forbidden where a text is written
    apart = _number(after[1].work) - _number(before[1].work)
    assert apart == _number(before[1].next_work) + pairs_of_the_others_with_it


def _number(formula: str) -> int:
    return int(formula.rsplit("= ")[-1].replace(",", ""))


def test_trainings_were_measured_of_rising_lengths():
    times = committed_figures()
    assert [one.n for one in times.training] == sorted(one.n for one in times.training)
    assert all(one.recurrent > 0 and one.attention > 0 for one in times.training)
    assert times.sentences == 1_000


def test_missing_figures_are_no_figures(monkeypatch, tmp_path):
    monkeypatch.setattr(cost, "COMMITTED", tmp_path / "none.json")
    assert committed_figures().rows == []


def test_table_counts_multiplications_steps_and_paths():
    recurrent, attention = layer_costs(10, 192)
    n, d = 10, 192
    gates = 3 * (d * d + d * d)  # each of an input and of a state
    assert recurrent.work == f"6 n d² = {n * gates:,}"
    # queries, keys, values and output of each; a score and a share of the sum for each pair
    assert attention.work == f"4 n d² + 2 n² d = {n * 4 * d * d + n * n * (d + d):,}"
    assert (recurrent.next_work, recurrent.kept) == (f"6 d² = {gates:,}", "d = 192")
    assert attention.next_work == f"4 d² + 2 (n + 1) d = {4 * d * d + 11 * 2 * d:,}"
    assert attention.kept == f"2 n d = {n * 2 * d:,}"
    assert (recurrent.steps, attention.steps, recurrent.path, attention.path) == ("n = 10", "1", "n = 10", "1")
