"""Tasks whose data are made as needed: Match3 and its two heads; all scoring functions and the nearest key."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.attention.edits import UNIFORM
from attention_core.attention.key_pairs import pair_weights
from attention_core.attention.steps import step_of, steps_of
from attention_core.data import match3
from attention_core.evaluate.classification import accuracy
from attention_core.models import build, load
from attention_core.train.synthetic import N_KEYS, NearestTask, draw_nearest
from attention_core.weights import read_card
from tests.support.own_models import evaluated

HEADS = ("match3-simplicial", "match3-pairwise")
LAYERS = ("match3-two-layers", "match3-one-layer")


def by_hand(numbers):
    """Whether each number is part of a triple of different positions that sums to 0."""
    threes = itertools.combinations(range(len(numbers)), 3)
    triples = [three for three in threes if sum(numbers[place] for place in three) % match3.MODULUS == 0]
    return [any(place in triple for triple in triples) for place in range(len(numbers))]


@given(st.lists(st.integers(0, match3.MODULUS - 1), min_size=3, max_size=9))
def test_labels_and_pairs_agree_with_all_triples_written_out(numbers):
    expected = by_hand(numbers)
    assert match3.labels_of(torch.tensor([numbers]))[0].tolist() == expected
    assert [bool(match3.matching_pairs(numbers, place)) for place in range(len(numbers))] == expected


def test_about_half_of_the_labels_are_positive():
    assert match3.fresh_sequences(4000, 5).labels.float().mean().item() == pytest.approx(1 - (30 / 31) ** 21, abs=0.02)


@pytest.mark.parametrize("name", [*HEADS, *LAYERS])
def test_committed_head_reaches_the_figure_on_its_card_on_new_sequences(name):
    card = read_card(name)
    figure = accuracy(load(name, "cpu"), *match3.fresh_sequences(1500, 77))
    assert figure == pytest.approx(card["test_accuracy"], abs=0.02)
    assert card["majority_share"] < 0.52


def test_pairs_of_others_solve_the_task_and_single_others_do_not():
    figures = [read_card(name)["test_accuracy"] for name in HEADS]
    assert figures[0] >= 0.99
    assert figures[1] < 0.65


def test_a_second_layer_of_plain_pairs_solves_it_too():
    cards = [read_card(name) for name in LAYERS]
    assert cards[0]["test_accuracy"] > 0.98
    assert 0.65 < cards[1]["test_accuracy"] < 0.8
    first, last = load(LAYERS[0], "cpu")(torch.tensor([match3.FIRST_NUMBERS]), trace=True).traces
    assert (first.n_heads, first.n_keys, first.story.mechanism) == (4, 8, "self-attention, layer 1")
    assert last.story.mechanism == "self-attention, layer 2"


def test_both_heads_have_the_same_parameters():
    shapes = [{name: tuple(p.shape) for name, p in build(head).named_parameters()} for head in HEADS]
    assert shapes[0] == shapes[1]
    assert [read_card(head)["parameters"] for head in HEADS] == [
        sum(p.numel() for p in build(HEADS[0]).parameters())
    ] * 2


def test_without_its_attention_the_head_over_pairs_knows_nothing():
    model = load(HEADS[0], "cpu")
    assert accuracy(model, *match3.fresh_sequences(500, 8), UNIFORM) < 0.65


@pytest.mark.parametrize(
    "numbers",
    [
        list(match3.FIRST_NUMBERS),
        [1, 4, 27, 15, 24, 10, 21, 6],
        [1, 28, 30, 6, 5, 21, 19, 10],
        [14, 20, 8, 16, 17, 20, 15, 22],
        [0] * 8,
    ],
    ids=["one triple", "three pairs for one", "none", "a number twice", "all zero"],
)
def test_the_head_over_pairs_answers_examples_and_looks_at_the_matching_pairs(numbers):
    trace = load(HEADS[0], "cpu").trace(numbers)
    said = (step_of(trace, "answer").value()[:, 1] > 0.5).tolist()
    assert said == by_hand(numbers)
    for place in range(len(numbers)):
        weights = pair_weights(trace, place)
        assert weights.sum().item() == pytest.approx(1, abs=1e-5)
        matching = sum(float(weights[a, b] + weights[b, a]) for a, b in match3.matching_pairs(numbers, place))
        assert matching > 0.5 if match3.matching_pairs(numbers, place) else float(weights[-1, -1]) > 0.3


@pytest.mark.parametrize("name", HEADS)
def test_a_traced_call_answers_as_an_untraced_one_and_the_trace_recombines(name):
    model = load(name, "cpu")
    numbers = match3.draw_sequences(3, torch.Generator().manual_seed(1))
    with torch.inference_mode():
        plain, traced = model(numbers), model(numbers, trace=True)
    torch.testing.assert_close(plain.logits, traced.logits)
    trace = traced.traces[0]
    torch.testing.assert_close(trace.weights() @ trace.value[0], trace.context(), atol=1e-4, rtol=1e-4)
    for step in steps_of(trace):
        assert tuple(step.value().shape) == step.shape


def test_numbers_of_another_shape_or_size_are_refused():
    for numbers, words in (([0, 0], "n from 3 to 16"), ([0, 1, 31], "from 0 to 30, got 0 to 31")):
        with pytest.raises(ValueError, match=words):
            build(HEADS[0])(torch.tensor([numbers]))


@pytest.mark.parametrize(
    ("text", "numbers", "words"),
    [
        ("1 2 3 4 5 6 7 8", [1, 2, 3, 4, 5, 6, 7, 8], ""),
        ("1,2;3", [1, 2, 3], "trained on 8"),
        ("40 -1 2", [9, 30, 2], "modulo 31: 40 → 9, -1 → 30"),
        (" ".join(["5"] * 50), [5] * 16, "first 16 of 50"),
        ("1 two 3", [], "“two” is not a whole number"),
        ("1.5 2 3", [], "“1.5” is not a whole number"),
        ("", [], "there are none"),
        ("7", [], "there is 1"),
        ("nan inf 3 4", [], "“nan” is not"),
        ("9" * 5000, [], "there is 1"),
    ],
)
def test_typed_numbers_are_understood_or_explained(text, numbers, words):
    typed = match3.read_numbers(text)
    assert typed.numbers == numbers
    assert words in typed.remark


@given(st.text(max_size=20))
def test_no_text_breaks_the_reader(text):
    typed = match3.read_numbers(text)
    assert typed.numbers or typed.remark
    assert all(0 <= one < match3.MODULUS for one in typed.numbers)


def test_evaluation_command_reads_sequences_with_and_without_labels(tmp_path, capsys):
    sequences = match3.fresh_sequences(300, 4)
    np.savez(tmp_path / "plain.npz", numbers=sequences.numbers.numpy())
    np.savez(tmp_path / "wrong.npz", numbers=sequences.numbers.numpy(), labels=~sequences.labels.numpy())
    plain, wrong = (evaluated(capsys, HEADS[0], tmp_path / file) for file in ("plain.npz", "wrong.npz"))
    assert plain["n"] == 300
    assert plain["accuracy"] >= 0.99
    assert wrong["accuracy"] <= 0.01


NAME = "scoring-functions"


@pytest.fixture(scope="module")
def model():
    return load(NAME, "cpu")


@pytest.mark.parametrize("d", [2, 3, 4, 8])
def test_the_cards_accuracies_come_out_again(model, d):
    query, key, nearest = draw_nearest(4000, d, torch.Generator().manual_seed(11))
    with torch.inference_mode():
        scores = model(query, key)
    for name, claimed in read_card(NAME)["accuracy_by_d"][str(d)].items():
        measured = (scores[name].argmax(-1) == nearest).double().mean().item()
        assert measured == pytest.approx(claimed, abs=0.03), name  # 4,000 tasks: a standard error below 0.8 %


def test_in_the_plane_the_small_networks_beat_every_product_and_location_knows_nothing():
    accuracy = read_card(NAME)["accuracy_by_d"]["2"]
    assert min(accuracy["additive"], accuracy["concat"]) > 0.9 > accuracy["cosine"] > accuracy["dot"]
    assert accuracy["location"] == pytest.approx(1 / N_KEYS, abs=0.02)


def test_the_task_names_the_nearest_key():
    query, key, nearest = draw_nearest(50, 3, torch.Generator().manual_seed(1))
    distances = np.linalg.norm(key.numpy() - query.numpy()[:, None], axis=-1)
    assert (distances.argmin(1) == nearest.numpy()).all()
    assert key.abs().max() <= 4
    assert min(key[..., -1].min(), query[:, -1].min()) >= 0


def test_training_moves_all_learned_parameters(model):
    loss = NearestTask(None, 0, "cpu").loss(type(model)(), 0.0, torch.Generator().manual_seed(0))
    assert loss.requires_grad
    assert torch.isfinite(loss)


def test_a_width_without_parameters_is_named(model):
    with pytest.raises(ValueError, match=r"d must be one of \(2, 3, 4, 8\), got 5"):
        model.parameters_of(5)


def test_the_evaluation_command_reads_anyones_tasks(tmp_path, capsys):
    query, key, nearest = draw_nearest(300, 2, torch.Generator().manual_seed(5))
    np.savez(tmp_path / "tasks.npz", query=query.numpy(), key=key.numpy(), labels=nearest.numpy())
    figures = evaluated(capsys, NAME, tmp_path / "tasks.npz")
    assert figures.keys() >= {"model", "n", "accuracy", "seconds", "device"}
    assert figures["n"] == 300
    assert figures["accuracy"] == max(figures["accuracy_by_function"].values()) > 0.9
