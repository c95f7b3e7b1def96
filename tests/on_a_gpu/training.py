"""A batch of every recipe on the best device, and the whole training of three models, on made-up data."""

import pytest
import torch

from attention_core.device import choose_device, device_of, to_array
from attention_core.live_training.score_comparison import QK, ScoreSetup, W, X, train_score
from attention_core.live_training.series import BIDIRECTIONAL, answers, draw_curves, train_series
from attention_core.models import build
from attention_core.train import RECIPES, sentiment, synthetic, vision
from attention_core.train.loop import Options, TrainingProgress, train
from tests.support import tiny_data

SETTINGS = {
    vision: {"N_SCENES": 4, "N_DRAWINGS": 4, "N_CAPTIONS": 4, "POOL": 40},
    synthetic: {"TEST_SIZE": 50},
    sentiment: {"BATCH_SIZE": 8},
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return str(tiny_data.write_all(tmp_path_factory.mktemp("data")))


@pytest.fixture(autouse=True)
def small(monkeypatch, tmp_path):
    tiny_data.shrink(monkeypatch, tmp_path, SETTINGS)


@pytest.mark.parametrize("name", [name for name, recipe in RECIPES.items() if recipe.epochs])
def test_a_batch_is_learned_from(name, data):
    device = choose_device()
    torch.manual_seed(0)
    model = build(name).to(device).train()
    task = RECIPES[name].task(data, 0, device)
    loss = task.loss(model, TrainingProgress(0, 100), torch.Generator(device).manual_seed(1))
    loss.backward()
    assert loss.isfinite()
    gradients = [one.grad for one in model.parameters() if one.grad is not None]
    assert gradients
    assert {one.device.type for one in gradients} == {device}


@pytest.mark.parametrize("name", ["scoring-functions", "match3-pairwise", "ffn-classifier"])
def test_whole_training(name, data, tmp_path):
    epochs = 2 / RECIPES[name].batches_per_epoch
    options = Options(name, epochs=epochs, data=data, checkpoints=tmp_path, weights=tmp_path)
    assert train(RECIPES[name], options).exists()


@pytest.mark.parametrize("form", [X, W, QK])
def test_a_score_is_trained_step_by_step(form):
    run = next(train_score(ScoreSetup(form)))
    assert len(run.losses) == 1
    assert 0 <= run.accuracy <= 1


def test_attention_over_time_is_trained_step_by_step():
    model = next(train_series()).model
    assert device_of(model).type == choose_device()
    curves = draw_curves(2, torch.Generator(choose_device()).manual_seed(0))
    told, weights = answers(model, curves, BIDIRECTIONAL)
    assert {to_array(one).shape for one in told.values()} == {(2, 10)}
    assert to_array(weights).sum(-1) == pytest.approx(1, abs=1e-5)
