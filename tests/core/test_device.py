"""Where tensors live is decided in one place, and spelled one way."""

from __future__ import annotations

import pytest
import torch

from attention_core.device import choose_device, describe_device


def test_auto_takes_the_best_that_is_there(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choose_device() == "cuda"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert choose_device() == "mps"
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert choose_device() == "cpu"


def test_device_that_is_not_there_says_what_to_do(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match=r"No cuda device on this machine\. Use --device cpu"):
        choose_device("cuda")


@pytest.mark.parametrize("name", ["gpu", "cuda:0", "", "CPU"])
def test_other_spellings_are_refused(name):
    with pytest.raises(ValueError, match="auto, cuda, mps or cpu"):
        choose_device(name)


def test_device_is_described_in_words():
    assert describe_device("cpu").startswith("CPU, ")
