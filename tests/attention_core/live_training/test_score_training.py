"""Scores trained while one waits: the command's own steps, the task, what the scale and projections are worth."""

import itertools
import math

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from attention_core.bounds.limits import TRAINING_STEPS
from attention_core.live_training import score_comparison as training
from attention_core.live_training.score_comparison import (
    N_KEYS,
    NOISE,
    QK,
    WIDTH,
    MatchTask,
    ScoreSetup,
    TrainableScore,
    W,
    X,
    train_score,
)
from attention_core.models import build
from attention_core.train import RECIPES
from attention_core.train.__main__ import main
from attention_core.train.loop import TrainingSteps
from attention_core.weights import read_card, read_weights

NAME = "scoring-functions"


def ingredients():
    """A model with random parameters as the command begins with, its task and its recipe."""
    torch.manual_seed(0)
    return build(NAME), RECIPES[NAME].task(None, 0, "cpu"), RECIPES[NAME]


def test_steps_are_those_of_the_command(tmp_path):
    epochs = str(4 / RECIPES[NAME].batches_per_epoch)
    assert (
        main([NAME, "--epochs", epochs, "--device", "cpu", "--weights", f"{tmp_path}", "--checkpoints", f"{tmp_path}"])
        == 0
    )
    model, *given = ingredients()
    with torch.inference_mode():  # as in a turn of the queue of heavy runs
        losses = list(TrainingSteps(model, *given, n_steps=4))
    for name, tensor in read_weights(NAME, tmp_path).items():
        assert torch.equal(model.state_dict()[name], tensor)
    smoothed = itertools.accumulate(losses, lambda mean, loss: 0.99 * mean + 0.01 * loss)
    assert read_card(NAME, tmp_path)["final_training_loss"] == pytest.approx(list(smoothed)[-1], abs=1e-4)


def test_who_stops_between_two_steps_can_go_on():
    model, *given = ingredients()
    steps = TrainingSteps(model, *given, n_steps=3)
    first = next(steps)
    other, *given = ingredients()
    assert [first, *steps] == list(TrainingSteps(other, *given, n_steps=3))


def test_too_long_a_training_and_too_large_a_model_are_refused(monkeypatch):
    with pytest.raises(ValueError, match="at most 20,000 steps"):
        TrainingSteps(*ingredients(), n_steps=TRAINING_STEPS.maximum + 1)
    model, *given = ingredients()
    model.large = torch.nn.Linear(1_000, 1_000)
    with pytest.raises(ValueError, match="1,000,000 parameters"):
        TrainingSteps(model, *given, n_steps=1)


@pytest.mark.parametrize("turned", [False, True])
def test_right_key_is_the_query_with_noise_turned_or_not(turned):
    query, key = (part.numpy() for part in MatchTask(turned).draw(20_000, torch.Generator().manual_seed(1)))
    half = WIDTH // 2
    turn = np.block([[np.zeros((half, half)), np.eye(half)], [-np.eye(half), np.zeros((half, half))]])
    right = query @ turn if turned else query
    share = np.array([(right * key[:, place]).mean() for place in range(N_KEYS)])
    assert share == pytest.approx([1 / math.sqrt(1 + NOISE**2), *[0] * (N_KEYS - 1)], abs=0.01)
    assert key.var((0, 2)) == pytest.approx([1] * N_KEYS, abs=0.02)
    assert abs((query * key[:, 0]).mean()) < 0.01 or not turned


@pytest.mark.parametrize(("form", "scaled"), [(X, True), (W, False), (QK, True)])
def test_weights_are_a_softmax_of_the_score_and_all_forms_have_as_many_parameters(form, scaled):
    model = TrainableScore(ScoreSetup(form, is_scaled=scaled), seed=3)
    assert sum(one.numel() for one in model.parameters()) == 256
    query, key = torch.randn(5, WIDTH), torch.randn(5, N_KEYS, WIDTH)
    matrix = model.query @ {X: model.query, W: torch.eye(WIDTH), QK: model.key}[form].T
    width = WIDTH // 2 if form == QK else WIDTH
    scores = torch.einsum("ni,ij,nkj->nk", query, matrix, key) / (math.sqrt(width) if scaled else 1)
    assert_close(model(query, key), scores.softmax(-1))


def last(*given, **named):
    *_, run = train_score(ScoreSetup(*given, **named))
    return run


def test_gradient_before_training_fades_with_the_width_unless_scores_are_divided(monkeypatch):
    monkeypatch.setattr(training, "N_STEPS", 10)
    before = {(d, scaled): last(d=d, is_scaled=scaled).gradients[0] for d in (4, 256) for scaled in (False, True)}
    assert before[256, False] < 0.3 * before[4, False]
    assert before[256, True] == pytest.approx(before[4, True], rel=0.1)


def test_undivided_scores_of_a_wide_vector_are_learned_worse_at_a_high_rate():
    plain, scaled = (last(d=256, is_scaled=scaled, rate=0.1) for scaled in (False, True))
    assert scaled.accuracy > plain.accuracy + 0.03
    assert scaled.losses[-1] < 0.3 * plain.losses[-1]
    assert len(plain.losses) == len(plain.gradients) - 1 == training.N_STEPS / training.EVERY


def test_only_projections_find_what_is_not_alike():
    runs = {(form, turned): last(form, is_turned=turned) for form in (X, W, QK) for turned in (False, True)}
    assert min(runs[form, False].accuracy for form in (X, W, QK)) > 0.8
    assert runs[X, True].accuracy < 0.3
    assert min(runs[form, True].accuracy for form in (W, QK)) > 0.8
    assert runs[X, True].asymmetry == pytest.approx(0, abs=1e-6)
    assert min(runs[form, True].asymmetry for form in (W, QK)) > 0.5


def test_same_seed_gives_the_same_training(monkeypatch):
    monkeypatch.setattr(training, "N_STEPS", 20)
    one, same, other = (list(train_score(ScoreSetup(), seed)) for seed in (1, 1, 2))
    assert one == same
    assert one[-1].losses != other[-1].losses
    assert [len(run.losses) for run in one] == [1, 2]
