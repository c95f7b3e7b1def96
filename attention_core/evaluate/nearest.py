"""Any nearest-key task through all scoring functions."""

from pathlib import Path
from typing import Any

import numpy as np
import torch

from attention_core.arrays import read_npz
from attention_core.data.mnist import DataError
from attention_core.models.scoring_functions import ScoringFunctions


def evaluate_nearest(model: ScoringFunctions, file: str | Path) -> dict[str, Any]:
    """Return n and the accuracy of each function on an .npz file.

    It has query (n, d), key (n, n_keys, d) and labels (n,), the position of the right key.
    """
    query, key, labels = _read(Path(file))
    parameter = next(model.parameters())
    with torch.inference_mode():
        scores = model(torch.from_numpy(query).to(parameter), torch.from_numpy(key).to(parameter))
    right = torch.from_numpy(labels).to(parameter.device)
    by_function = {name: (own.argmax(-1) == right).double().mean().item() for name, own in scores.items()}
    return {"n": len(labels), "accuracy": max(by_function.values()), "accuracy_by_function": by_function}


def _read(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
