"""Evaluation of digit classifiers on IDX folders, 28 x 28 images and canvases."""

from __future__ import annotations

from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import torch
from torch import Tensor, nn

from attention_core.data.drawing import SIDE, canvases_to_images
from attention_core.data.mnist import DataError, Digits, read_digits
from attention_core.intervene import NO_INTERVENTION, Intervention

BATCH = 250


def to_tensor(digits: Digits, device: str) -> tuple[Tensor, Tensor]:
    """Return images (n, 28, 28) as stored and labels (n,) as int64, on the device."""
    images, labels = torch.from_numpy(digits.images.copy()), torch.from_numpy(digits.labels.astype(np.int64))
    return images.to(device), labels.to(device)


def accuracy(model: nn.Module, digits: Digits, device: str, intervention: Intervention = NO_INTERVENTION) -> float:
    """Return the share of digits that the model reads right, optionally with its attention changed."""
    images, labels = to_tensor(digits, device)
    model.eval()
    n_right = 0
    with torch.inference_mode():
        for start in range(0, len(labels), BATCH):
            batch = images[start : start + BATCH].float() / 255
            answers = model(batch, intervention=intervention).logits.argmax(1)
            n_right += int((answers == labels[start : start + BATCH]).sum())
    return round(n_right / max(len(labels), 1), 5)


def read_file(path: str | Path) -> Digits:
    """Read digits to evaluate on.

    Args:
        path: a folder of IDX files, whose t10k part is taken, or an .npz with `labels` (n,) and either `images`
            (n, 28, 28), uint8 or float in [0, 1], or `canvases` (n, height, width, 4) uint8 RGBA, which go through
            the code that the page uses.

    Raises:
        DataError: no such file, or not of that form.
    """
    path = Path(path)
    if path.is_dir():
        return read_digits(path, "t10k")
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files if name in ("images", "canvases", "labels")}
    except FileNotFoundError:
        raise DataError(f"{path} does not exist.") from None
    except (ValueError, OSError, BadZipFile) as error:
        raise DataError(f"{path} is not an .npz file of plain arrays ({error}).") from None
    if "labels" not in arrays or not {"images", "canvases"} & set(arrays):
        raise DataError(f"{path} needs `labels` and either `images` or `canvases`; it has {sorted(arrays)}.")
    images = arrays["images"] if "images" in arrays else _prepared(arrays["canvases"], path)
    return _checked(images, arrays["labels"], path)


def _prepared(canvases: np.ndarray, path: Path) -> np.ndarray:
    if canvases.ndim != 4 or canvases.shape[-1] != 4 or canvases.dtype != np.uint8:
        raise DataError(f"{path}: canvases must be uint8 (n, height, width, 4), got {canvases.dtype} {canvases.shape}.")
    return canvases_to_images(canvases)


def _checked(images: np.ndarray, labels: np.ndarray, path: Path) -> Digits:
    if images.shape[1:] != (SIDE, SIDE) or labels.shape != images.shape[:1]:
        raise DataError(f"{path}: images {images.shape} and labels {labels.shape} should be (n, 28, 28) and (n,).")
    try:
        labels = labels.astype(np.int64)
    except ValueError:
        raise DataError(f"{path}: labels must be digits 0 to 9.") from None
    if len(labels) and not (labels.min() >= 0 and labels.max() <= 9):
        raise DataError(f"{path}: labels must be digits 0 to 9.")
    if images.dtype != np.uint8:
        if not np.isfinite(images).all() or images.min(initial=0) < 0 or images.max(initial=0) > 1:
            raise DataError(f"{path}: float images must lie in [0, 1].")
        images = np.rint(images * 255).astype(np.uint8)
    return Digits(images, labels.astype(np.uint8))
