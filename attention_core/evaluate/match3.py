"""Evaluation of the Match3 heads: accuracy per number."""

from pathlib import Path
from typing import Any

import torch
from torch import nn

from attention_core.attention.edits import Edits
from attention_core.data.match3 import Sequences, read_sequences
from attention_core.device import device_of

BATCH = 2000


def accuracy(model: nn.Module, sequences: Sequences, device: str, edits: Edits = ()) -> float:
    """Return the share of numbers whose question is answered right, optionally with the attention changed."""
    model.eval()
    n_right = 0
    with torch.inference_mode():
        for start in range(0, len(sequences.numbers), BATCH):
            numbers = sequences.numbers[start : start + BATCH].to(device)
            answers = model(numbers, edits=edits).logits.argmax(-1).bool().cpu()
            n_right += int((answers == sequences.labels[start : start + BATCH]).sum())
    return round(n_right / max(sequences.labels.numel(), 1), 5)


def evaluate_match3(model: nn.Module, file: str | Path) -> dict[str, Any]:
    """Return n (sequences), numbers (all together), accuracy per number and the share of the commoner answer."""
    sequences = read_sequences(file)
    share = sequences.labels.float().mean().item()
    return {
        "n": len(sequences.numbers),
        "numbers": sequences.labels.numel(),
        "accuracy": accuracy(model, sequences, device_of(model).type),
        "majority_share": round(max(share, 1 - share), 5),
    }
