"""What the tests of the project's own models, their training and their evaluation share."""

import json

import pytest
import torch

from attention_core.evaluate.__main__ import main as evaluate
from attention_core.models import build
from attention_core.train import loop
from attention_core.train.__main__ import main as train
from attention_core.weights import read_weights


def untrained(name, seed):
    """A frozen model with random parameters."""
    torch.manual_seed(seed)
    return build(name).eval().requires_grad_(False)


def run_training(folder, capsys, name, data, epochs, *more, to="weights"):
    """Train on the CPU; returns exit code, standard error, folder of the weights."""
    places = ["--weights", str(folder / to), "--checkpoints", str(folder / f"{to}-checkpoints")]
    code = train([name, "--epochs", str(epochs), "--device", "cpu", "--data", str(data), *places, *more])
    return code, capsys.readouterr().err, folder / to


def stop_and_resume(run, monkeypatch, task, batch):
    """Stop a run at its nth batch, each one before kept, and go on; returns the steps met, and what a run returns."""
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", -1)
    original, met = task.loss, []

    def stopping(self, model, moment, generator):
        met.append(moment.batch)
        if len(met) == batch:
            raise KeyboardInterrupt
        return original(self, model, moment, generator)

    monkeypatch.setattr(task, "loss", stopping)
    with pytest.raises(KeyboardInterrupt):
        run(to="stopped")
    return met, run("--resume", to="stopped")


def same(name, first, second):
    """Whether two folders have the same weights of a model."""
    one, other = read_weights(name, first), read_weights(name, second)
    return one.keys() == other.keys() and all(torch.equal(one[key], other[key]) for key in one)


def evaluated(capsys, name, path):
    """The figures that the evaluation command prints, as JSON, of a model on a file."""
    assert evaluate([name, str(path), "--json", "--device", "cpu"]) == 0
    return json.loads(capsys.readouterr().out)


def refusal(capsys, name, path):
    """The one line in which the evaluation command refuses a file."""
    assert evaluate([name, str(path), "--device", "cpu"]) == 1
    return one_line(capsys)


def one_line(capsys):
    """The one line in which a command told an error."""
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    return error
