"""Several processes share a training: the same losses as one with all their batches, and one resumes what two began."""

import subprocess
import sys

import pytest
import torch

from attention_core.train import RECIPES
from attention_core.train.__main__ import main
from attention_core.weights import read_card, read_weights

NAME, N_BATCHES, N_HALF = "match3-pairwise", 12, 6
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]


@pytest.fixture
def options(tmp_path):
    """The command's arguments for a tiny training that is kept in a folder of its own."""

    def given(place: str, n_batches: int, *more: str) -> list[str]:
        epochs = str(n_batches / RECIPES[NAME].batches_per_epoch)
        places = ["--weights", str(tmp_path / place), "--checkpoints", str(tmp_path / place)]
        return [NAME, "--epochs", epochs, "--device", "cpu", *places, *more]

    return given


def by_two(arguments: list[str]) -> str:
    command = [*TORCHRUN, "-m", "attention_core.train", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def equal(one, other) -> None:
    first, second = read_weights(NAME, one), read_weights(NAME, other)
    for name in first:
        torch.testing.assert_close(first[name], second[name], rtol=1e-4, atol=1e-6)
    losses = [read_card(NAME, folder)["final_training_loss"] for folder in (one, other)]
    assert losses[0] == pytest.approx(losses[1], abs=2e-4)


def test_two_processes_reach_what_one_reaches_with_their_batches_together(options, tmp_path):
    told = by_two(options("two", N_BATCHES))
    assert told.count("wrote ") == 1
    assert main(options("one", N_BATCHES, "--at-once", "2")) == 0
    assert main(options("single", N_BATCHES)) == 0
    equal(tmp_path / "two", tmp_path / "one")
    assert read_card(NAME, tmp_path / "two")["batches"] == N_BATCHES
    with pytest.raises(AssertionError):
        equal(tmp_path / "single", tmp_path / "one")  # a step for every batch is another training


def test_one_process_goes_on_with_what_two_began_and_the_other_way_round(options, tmp_path, monkeypatch):
    from attention_core.train import loop

    assert main(options("whole", N_BATCHES, "--at-once", "2")) == 0
    state = tmp_path / "stopped" / f"{NAME}.pt"
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", -1)  # a checkpoint after every step
    original = loop._save

    def stopping(path, run, model, optimiser):
        original(path, run, model, optimiser)
        if run.step == N_HALF:
            raise KeyboardInterrupt

    monkeypatch.setattr(loop, "_save", stopping)
    with pytest.raises(KeyboardInterrupt):
        main(options("stopped", N_BATCHES, "--at-once", "2"))
    assert torch.load(state, weights_only=True)["run"]["step"] == N_HALF
    kept = state.read_bytes()
    by_two(options("stopped", N_BATCHES, "--resume"))
    equal(tmp_path / "whole", tmp_path / "stopped")
    state.write_bytes(kept)
    monkeypatch.setattr(loop, "_save", original)
    assert main(options("stopped", N_BATCHES, "--resume")) == 0
    equal(tmp_path / "whole", tmp_path / "stopped")


def test_processes_that_cannot_share_alike_are_told(options, capsys):
    command = [*TORCHRUN, "-m", "attention_core.train", *options("three", N_BATCHES, "--at-once", "3")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode != 0
    assert "2 processes cannot share 3 batches alike" in done.stderr
