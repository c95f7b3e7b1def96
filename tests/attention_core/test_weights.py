"""Weights on disk are read again or say what to do; a new model is its own files and no edit of another."""

import hashlib
import json
import os
import pkgutil
import shutil
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from attention_core import load
from attention_core.data import next_words, phrase_book
from attention_core.data.pieces import read_tokenizer
from attention_core.evaluate.__main__ import main as evaluate
from attention_core.files import MISSING
from attention_core.models import EVALUATORS, MODELS, build
from attention_core.train import RECIPES
from attention_core.train.__main__ import main as train
from attention_core.weights import WeightsError, read_card, read_weights, weights_folder, write_weights

NAME = "ffn-classifier"


@pytest.fixture
def folder(tmp_path):
    torch.manual_seed(5)
    write_weights(NAME, build(NAME).state_dict(), {"seed": 5}, tmp_path)
    return tmp_path


def test_what_was_written_is_read_again_frozen_and_ready_to_predict(folder):
    torch.manual_seed(5)
    expected = build(NAME).state_dict()
    found = read_weights(NAME, folder)
    assert found.keys() == expected.keys()
    for key in expected:
        assert torch.equal(found[key], expected[key])
    card = read_card(NAME, folder)
    assert card["seed"] == 5
    assert card["bytes"] == (folder / f"{NAME}.safetensors").stat().st_size
    model = load(NAME, "cpu", folder)
    assert not model.training
    assert not any(parameter.requires_grad for parameter in model.parameters())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda content: content[:-7] + bytes([content[-7] ^ 1]) + content[-6:], "damaged: its SHA-256"),
        (lambda content: content[:-100], r"damaged.*git checkout -- weights"),
    ],
    ids=["a flipped bit", "cut short"],
)
def test_a_damaged_file_is_noticed(folder, change, words):
    path = folder / f"{NAME}.safetensors"
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(WeightsError, match=words):
        load(NAME, "cpu", folder)


def test_where_the_package_is_installed_git_does_not_help(folder, monkeypatch):
    monkeypatch.setattr("attention_core.weights.IS_INSTALLED", True)
    (folder / f"{NAME}.safetensors").unlink()
    with pytest.raises(WeightsError, match=r"Install attention-explorer again.*ATTENTION_WEIGHTS") as raised:
        load(NAME, "cpu", folder)
    assert "git checkout" not in str(raised.value)
    with pytest.raises(WeightsError, match="Install attention-explorer again"):
        read_tokenizer("nothing.json")


def test_missing_file_missing_card_and_empty_folder_say_how_to_get_them(folder):
    for ending, what in (("safetensors", "weights"), ("json", "model card")):
        (folder / f"{NAME}.{ending}").unlink()
        with pytest.raises(WeightsError, match=rf"No {what} .*attention_core\.train {NAME}"):
            load(NAME, "cpu", folder)


def put_folder(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("ending", ["safetensors", "json"])
def test_a_folder_in_place_of_a_file_is_named_and_health_tells(folder, ending):
    put_folder(folder / f"{NAME}.{ending}")
    with pytest.raises(WeightsError, match=f"{ending}: Is a directory"):
        read_weights(NAME, folder)
    assert NAME in MISSING
    MISSING.discard(NAME)


@pytest.mark.parametrize(
    ("read", "name"),
    [
        (next_words.vocabulary, next_words.NAME),
        (phrase_book.phrase_book, phrase_book.NAME),
        (lambda: read_tokenizer("sentence-pieces.json"), "sentence-pieces.json"),
    ],
)
@pytest.mark.parametrize(
    ("spoil", "words"), [(lambda path: path.write_bytes(b"\xff\xfe"), "not UTF-8"), (put_folder, "directory")]
)
def test_a_damaged_vocabulary_is_named_and_health_tells(weights, read, name, spoil, words):
    getattr(read, "cache_clear", lambda: None)()
    spoil(weights / name)
    with pytest.raises(WeightsError, match=words):
        read()
    assert name in MISSING
    MISSING.clear()


@pytest.mark.parametrize("text", ["{", "[1, 2]", "", "null", "[" * 100_000])
def test_damaged_card_is_noticed(folder, text):
    (folder / f"{NAME}.json").write_text(text)
    with pytest.raises(WeightsError, match=r"model card .* is damaged"):
        load(NAME, "cpu", folder)


def test_file_that_is_no_safetensors_is_refused_even_with_the_right_checksum(folder):
    content = b"not weights"
    (folder / f"{NAME}.safetensors").write_bytes(content)
    (folder / f"{NAME}.json").write_text(json.dumps({"sha256": hashlib.sha256(content).hexdigest()}))
    with pytest.raises(WeightsError, match="not a safetensors file"):
        load(NAME, "cpu", folder)


def test_weights_of_another_form_are_refused(tmp_path):
    write_weights(NAME, {"something": torch.zeros(3)}, {}, tmp_path)
    with pytest.raises(WeightsError, match="do not fit the model"):
        load(NAME, "cpu", tmp_path)


def test_variable_names_the_folder(folder, monkeypatch):
    monkeypatch.setenv("ATTENTION_WEIGHTS", str(folder))
    assert weights_folder() == folder
    assert_close(next(load(NAME, "cpu").parameters()), next(load(NAME, "cpu", folder).parameters()))


def test_unknown_model_is_named_with_those_that_are_there():
    with pytest.raises(ValueError, match=r"There is no model 'nonsense'. There are: .*pixel-classifier"):
        load("nonsense")


@pytest.mark.parametrize("name", sorted(MODELS))
def test_committed_weights_load_and_their_card_is_complete(name):
    model, card = load(name, "cpu"), read_card(name)
    assert card["parameters"] == sum(parameter.numel() for parameter in model.parameters())
    for key in ("data", "seed", "epochs", "wall_seconds", "device", "command", "sha256"):
        assert card[key] not in (None, ""), key
    assert card["command"].startswith(f"python -m attention_core.train {name}")


FILES = {
    "models/line.py": """
from torch import nn
from attention_core.attention.trace import Prediction
from attention_core.models import register

class Line(nn.Module):
    def __init__(self, n_pixels):
        super().__init__()
        self.layer = nn.Linear(n_pixels, 10)

    def forward(self, images, *, edits=None):
        return Prediction(self.layer(images.flatten(1)))

register("line", "classification:evaluate_digits", Line, 28 * 28)
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
    shutil.copytree(root / "attention_core", tmp_path / "attention_core")
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
