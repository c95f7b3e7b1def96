"""Evaluation on made-up tasks: Match3, accuracy per number; nearest keys, through all scoring functions."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from attention_core.arrays import read_npz
from attention_core.attention.edits import Edits
from attention_core.data.match3 import Sequences, fresh_sequences, read_sequences
from attention_core.data.mnist import DataError
from attention_core.device import device_of
from attention_core.models.scoring_functions import ScoringFunctions

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


def fresh_accuracy(model: nn.Module, n: int, seed: int) -> float:
    """Return the accuracy of a model of Match3 on so many new sequences."""
    return accuracy(model, fresh_sequences(n, seed), device_of(model).type)


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


def evaluate_nearest(model: ScoringFunctions, file: str | Path) -> dict[str, Any]:
    """Return n and the accuracy of each function on an .npz file.

    It has query (n, d), key (n, n_keys, d) and labels (n,), the position of the right key.
    """
    query, key, labels = _read(file)
    parameter = next(model.parameters())
    with torch.inference_mode():
        scores = model(torch.from_numpy(query).to(parameter), torch.from_numpy(key).to(parameter))
    right = torch.from_numpy(labels).to(parameter.device)
    by_function = {name: (own.argmax(-1) == right).double().mean().item() for name, own in scores.items()}
    return {"n": len(labels), "accuracy": max(by_function.values()), "accuracy_by_function": by_function}


def _read(path: str | Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    names = ("query", "key", "labels")
    arrays = read_npz(path, names, (), fault=DataError)
    query, key, labels = (arrays[name] for name in names)
    if query.ndim != 2 or key.ndim != 3 or (len(key), key.shape[2]) != query.shape or labels.shape != query.shape[:1]:
        raise DataError(
            f"query must be (n, d), key (n, n_keys, d) and labels (n,); got {query.shape}, {key.shape}, {labels.shape}."
        )
    if not (np.isfinite(query).all() and np.isfinite(key).all()):
        raise DataError(f"{path}: query and key must be finite numbers.")
    return query, key, labels.astype(np.int64)
