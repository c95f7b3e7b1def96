"""The Match3 task and its two heads: labels, files, typed numbers, committed weights."""

import itertools
import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.attention.edits import UNIFORM
from attention_core.attention.simplicial import pair_weights
from attention_core.attention.steps import step_of, steps_of
from attention_core.data import match3
from attention_core.data.mnist import DataError
from attention_core.evaluate.__main__ import main as evaluate
from attention_core.evaluate.made_up import accuracy
from attention_core.models import build, load
from attention_core.train.__main__ import main as train
from attention_core.weights import read_card

HEADS = ("match3-simplicial", "match3-pairwise")


def by_hand(numbers):
    """Whether each number is part of a triple of different positions that sums to 0."""
    triples = [
        t for t in itertools.combinations(range(len(numbers)), 3) if sum(numbers[i] for i in t) % match3.MODULUS == 0
    ]
    return [any(place in triple for triple in triples) for place in range(len(numbers))]


@given(st.lists(st.integers(0, match3.MODULUS - 1), min_size=3, max_size=9))
def test_labels_and_pairs_agree_with_all_triples_written_out(numbers):
    expected = by_hand(numbers)
    assert match3.labels_of(torch.tensor([numbers]))[0].tolist() == expected
    assert [bool(match3.matching_pairs(numbers, place)) for place in range(len(numbers))] == expected


def test_about_half_of_the_labels_are_positive():
    assert match3.fresh_sequences(4000, 5).labels.float().mean().item() == pytest.approx(1 - (30 / 31) ** 21, abs=0.02)


@pytest.mark.parametrize("name", HEADS)
def test_committed_head_reaches_the_figure_on_its_card_on_new_sequences(name):
    card = read_card(name)
    figure = accuracy(load(name, "cpu"), match3.fresh_sequences(1500, 77), "cpu")
    assert figure == pytest.approx(card["test_accuracy"], abs=0.02)
    assert card["majority_share"] < 0.52


def test_pairs_of_others_solve_the_task_and_single_others_do_not():
    figures = [read_card(name)["test_accuracy"] for name in HEADS]
    assert figures[0] >= 0.99
    assert figures[1] < 0.65


def test_both_heads_have_the_same_parameters():
    shapes = [{name: tuple(p.shape) for name, p in build(head).named_parameters()} for head in HEADS]
    assert shapes[0] == shapes[1]
    assert [read_card(head)["parameters"] for head in HEADS] == [
        sum(p.numel() for p in build(HEADS[0]).parameters())
    ] * 2


def test_without_its_attention_the_head_over_pairs_knows_nothing():
    model = load(HEADS[0], "cpu")
    assert accuracy(model, match3.fresh_sequences(500, 8), "cpu", UNIFORM) < 0.65


@pytest.mark.parametrize("preset", match3.PRESETS)
def test_the_head_over_pairs_answers_every_preset_and_looks_at_the_matching_pairs(preset):
    numbers = list(match3.PRESETS[preset].numbers)
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
    results = []
    for file in ("plain.npz", "wrong.npz"):
        assert evaluate([HEADS[0], str(tmp_path / file), "--json", "--device", "cpu"]) == 0
        results.append(json.loads(capsys.readouterr().out))
    assert results[0]["n"] == 300
    assert results[0]["accuracy"] >= 0.99
    assert results[1]["accuracy"] <= 0.01


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"images": np.zeros((2, 8))}, "needs `numbers`"),
        ({"numbers": np.zeros((2, 8))}, "whole"),
        ({"numbers": np.full((2, 8), 31)}, "from 0 to 30"),
        ({"numbers": np.zeros(8, int)}, "(N, n)"),
        ({"numbers": np.zeros((2, 99), int)}, "n from 3 to 16"),
        ({"numbers": np.zeros((2, 8), int), "labels": np.full((2, 8), 7)}, "0 or 1"),
        ({"numbers": np.zeros((2, 8), int), "labels": np.zeros((2, 7))}, "labels"),
    ],
)
def test_files_of_another_form_are_refused_in_words(tmp_path, arrays, words):
    np.savez(tmp_path / "file.npz", **arrays)
    with pytest.raises(DataError) as caught:
        match3.read_sequences(tmp_path / "file.npz")
    assert words in str(caught.value)


def test_missing_and_damaged_files_are_refused_in_words(tmp_path):
    (tmp_path / "file.npz").write_bytes(b"no such thing")
    for name, words in (("file", "not an"), ("none", "does not exist")):
        with pytest.raises(DataError, match=words):
            match3.read_sequences(tmp_path / f"{name}.npz")


def test_training_command_writes_a_head_that_can_be_loaded(tmp_path, monkeypatch):
    monkeypatch.setattr("attention_core.train.made_up.HELD_OUT", 50)
    folders = ["--checkpoints", str(tmp_path / "c"), "--weights", str(tmp_path / "w")]
    assert train(["match3-simplicial", "--epochs", "0.004", "--device", "cpu", *folders]) == 0
    assert load("match3-simplicial", "cpu", tmp_path / "w").trace([1, 2, 28]).n_keys == 16
    assert read_card("match3-simplicial", tmp_path / "w")["batches"] == 2
