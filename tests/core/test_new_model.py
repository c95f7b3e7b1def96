"""A new model is its own files and no edit of another: built, trained, saved with a card, loaded, evaluated."""

import json
import os
import pkgutil
import shutil
import subprocess
import sys

import numpy as np
import pytest

from attention_core.evaluate.__main__ import main as evaluate
from attention_core.models.registry import EVALUATORS, MODELS
from attention_core.train import RECIPES
from attention_core.train.__main__ import main as train

FILES = {
    "models/line.py": """
from torch import nn
from attention_core.attention.trace import Prediction
from attention_core.models.registry import register

class Line(nn.Module):
    def __init__(self, n_pixels):
        super().__init__()
        self.layer = nn.Linear(n_pixels, 10)

    def forward(self, images, *, edits=None):
        return Prediction(self.layer(images.flatten(1)))

register("line", "digits:evaluate_digits", Line, 28 * 28)
register("steep-line", "line:steepness", Line, 28 * 28)
""",
    "train/line.py": """
import torch
from attention_core.train.loop import RECIPES, Recipe

class Ink:
    def __init__(self, data, seed, device):
        self.device = device

    def loss(self, model, moment, generator):
        images = torch.rand(4, 28, 28, generator=generator, device=self.device)
        return torch.nn.functional.cross_entropy(model(images).logits, torch.arange(4, device=self.device))

    def figures(self, model):
        return {"test_accuracy": 0.1}

for name, rate in (("line", 1e-3), ("steep-line", 1e-1)):
    RECIPES[name] = Recipe(Ink, data="random ink", batches_per_epoch=1, epochs=1, learning_rate=rate)
""",
    "evaluate/line.py": """
def steepness(model, file):
    return {"steepness": model.layer.weight.abs().max().item()}
""",
}
COMMANDS = """
from attention_core.evaluate.__main__ import main as evaluate
from attention_core.models import load
from attention_core.train.__main__ import main as train
for name in ("line", "steep-line"):
    assert train([name, "--device", "cpu", "--weights", "weights"]) == 0
    assert not load(name, "cpu").training
    assert evaluate([name, "digits.npz", "--json", "--device", "cpu"]) == 0
"""


def test_a_new_models_own_files_are_all_that_it_takes(root, tmp_path):
    shutil.copytree(root / "attention_core", tmp_path / "attention_core", ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in FILES.items():
        path = tmp_path / "attention_core" / name
        assert not path.exists()
        path.write_text(text)
    np.savez(tmp_path / "digits.npz", images=np.ones((10, 28, 28)), labels=np.arange(10))
    variables = os.environ | {"ATTENTION_WEIGHTS": str(tmp_path / "weights"), "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", COMMANDS]
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    line, steep = (json.loads(one) for one in done.stdout.splitlines() if one.startswith("{"))
    assert line["model"] == "line"
    assert line["accuracy"] == 0.1  # one answer for ten equal pictures
    assert steep["model"] == "steep-line"
    assert 0.1 < steep["steepness"] < 0.2  # one step of 0.1 away from at most 1/28
    for name in ("line", "steep-line"):
        card = json.loads((tmp_path / "weights" / f"{name}.json").read_text())
        assert (card["data"], card["parameters"], card["batches"]) == ("random ink", 7850, 1)


def test_every_model_has_a_recipe_and_an_evaluator():
    assert set(RECIPES) == set(MODELS) == set(EVALUATORS)
    for name in MODELS:
        assert callable(pkgutil.resolve_name(f"attention_core.evaluate.{EVALUATORS[name]}"))


@pytest.mark.parametrize("command", [train, evaluate])
def test_the_commands_name_every_model(command, capsys):
    with pytest.raises(SystemExit) as stopped:
        command(["--help"])
    assert stopped.value.code == 0
    named = capsys.readouterr().out
    assert {name for name in MODELS if name not in named} == set()
