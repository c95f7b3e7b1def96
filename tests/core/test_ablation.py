"""Heads switched off and positions left out: what the transformer then says, and what each head is worth."""

import pytest
import torch

from attention_core.attention.edits import DropHead, Uniform
from attention_core.models.transformer import Transformer, TransformerConfig
from attention_core.topics.transformer.ablation import Edited, Head, head_worth, switched_off
from attention_core.topics.transformer.habits import habit_words, habits
from attention_core.topics.translate.translation import explain_layers, read_source, translation_of
from attention_core.topics.translate.word_view import piece_probabilities

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
    edits = switched_off([Head("cross", 1, 2), Head("encoder", 0, 1), Head("cross", 1, 0)])
    assert edits == {
        ("cross", 1): (DropHead(0), DropHead(2)),
        ("encoder", 0): (DropHead(1),),
    }
    assert Head("cross", 1, 2).label == "cross, layer 2, head 3"


def test_without_edits_the_model_says_what_it_says(model, source):
    plain = piece_probabilities(model, source, SAID)
    assert piece_probabilities(Edited(model), source, SAID) == pytest.approx(plain)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_an_edit_gives_the_probabilities_of_the_model_s_own_forward_pass(model, source, kind):
    edits = switched_off([Head(kind, 0, 1), Head(kind, 1, 2)])
    found = piece_probabilities(Edited(model, edits), source, SAID)
    fed = torch.tensor([[2, *SAID[:-1]]])
    with torch.inference_mode():
        logits = model(source.ids[None], fed, interventions=edits).logits[0]
    expected = logits.softmax(-1)[range(4), SAID].tolist()
    assert found == pytest.approx(expected, rel=1e-4)
    assert found != pytest.approx(piece_probabilities(model, source, SAID), rel=1e-3)


def test_a_switched_off_head_hands_over_nothing(model, source):
    edits = switched_off([Head("cross", 1, 2)])
    trace = explain_layers(model, source, translation_of(SAID), edits)["cross", 1]
    assert not trace.context(2).any()
    assert trace.context(1).any()
    torch.testing.assert_close(trace.weights(2).sum(1), torch.ones(trace.n_queries))


def test_without_positions_two_equal_pieces_are_one_and_the_same(model):
    source, made = read_source("the man saw the man"), translation_of(SAID)
    for with_positions, same in ((False, True), (True, False)):
        trace = explain_layers(model, source, made, with_positions=with_positions)["encoder", 0]
        assert torch.allclose(trace.query[:, 0], trace.query[:, 3], atol=1e-6) == same


def test_the_worth_of_a_head_is_the_log_probability_that_its_loss_costs(model, source):
    made = translation_of(SAID)
    worth = head_worth(model, source, made)
    assert {kind: tuple(table.shape) for kind, table in worth.items()} == dict.fromkeys(
        ("encoder", "decoder", "cross"), (2, 3)
    )
    ways = (
        piece_probabilities(Edited(model, edits), source, SAID) for edits in ({}, switched_off([Head("cross", 0, 1)]))
    )
    before, after = (torch.tensor(one).log().sum() for one in ways)
    assert float(worth["cross"][0, 1]) == pytest.approx(float(before - after), abs=1e-4)


@pytest.mark.parametrize("said", [SAID, SAID[:1]])
def test_heads_switched_off_together_are_worth_what_they_are_one_by_one(model, source, said):
    def log_probability(edits):
        return torch.tensor(piece_probabilities(Edited(model, edits), source, said), dtype=torch.double).log().sum()

    for kind, table in head_worth(model, source, translation_of(said)).items():
        for layer, lost in enumerate(table):
            alone = torch.stack([log_probability(switched_off([Head(kind, layer, head)])) for head in range(3)])
            torch.testing.assert_close(lost.double(), log_probability({}) - alone, rtol=0, atol=1e-5)
            assert lost.abs().min() > 1e-4


def test_habits_name_the_place_that_gets_most():
    before = torch.zeros(5, 5)
    before[0, 0] = 1
    before[range(1, 5), range(4)] = 1
    assert habits(before, of_itself=True)[0] == ("the piece before", 1.0)
    assert habits(torch.eye(5), of_itself=True)[0] == ("itself", 1.0)
    last = torch.zeros(3, 4)
    last[:, 3] = 1
    assert habits(last, of_itself=False) == [("the last piece", 1.0)]


def test_a_head_without_a_habit_is_said_to_spread(model, source):
    traces = explain_layers(model, source, translation_of(SAID))
    scattered = traces["encoder", 0].replace((Uniform(),))
    assert habit_words(scattered, 0) == f"spread over about {len(source.ids):.1f} pieces"


def test_one_piece_has_no_neighbours():
    assert habits(torch.ones(1, 1), of_itself=True)[0].share == 1.0
