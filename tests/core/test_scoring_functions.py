"""The trained scoring functions: their card's figures, their task, their evaluation."""

import json

import numpy as np
import pytest
import torch

from attention_core.evaluate.__main__ import main as evaluate
from attention_core.models import load
from attention_core.train.made_up import N_KEYS, NearestTask, draw_nearest
from attention_core.weights import read_card
from tests.own_models import one_line

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
    assert evaluate([NAME, str(tmp_path / "tasks.npz"), "--json", "--device", "cpu"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures.keys() >= {"model", "n", "accuracy", "seconds", "device"}
    assert figures["n"] == 300
    assert figures["accuracy"] == max(figures["accuracy_by_function"].values()) > 0.9


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"query": np.zeros((3, 2)), "key": np.zeros((3, 6, 2))}, "missing"),
        ({"query": np.zeros((3, 2)), "key": np.zeros((3, 6, 3)), "labels": np.zeros(3)}, "(3, 6, 3)"),
        ({"query": np.full((3, 2), np.nan), "key": np.zeros((3, 6, 2)), "labels": np.zeros(3)}, "finite"),
        ({"query": np.zeros((3, 5)), "key": np.zeros((3, 6, 5)), "labels": np.zeros(3)}, "d must be one of"),
        ({"query": np.zeros((3, 2)), "key": np.zeros((3, 9, 2)), "labels": np.zeros(3)}, "know 6 positions"),
    ],
)
def test_files_that_do_not_fit_are_told_in_one_line(tmp_path, capsys, arrays, words):
    np.savez(tmp_path / "bad.npz", **arrays)
    assert evaluate([NAME, str(tmp_path / "bad.npz"), "--device", "cpu"]) == 1
    assert words in one_line(capsys)


def test_a_file_that_is_not_there_or_not_npz_is_told(tmp_path, capsys):
    (tmp_path / "text.npz").write_text("hello")
    for name, words in (("none.npz", "no file"), ("text.npz", "not a readable .npz")):
        assert evaluate([NAME, str(tmp_path / name), "--device", "cpu"]) == 1
        assert words in one_line(capsys)
