"""Evaluation of digit classifiers on IDX folders, 28 x 28 images and canvases."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from attention_core.arrays import read_npz
from attention_core.attention.edits import Edits
from attention_core.data.drawing import SIDE, canvases_to_images
from attention_core.data.mnist import DataError, Digits, read_digits
from attention_core.device import device_of

BATCH = 250


def to_tensor(digits: Digits, device: str) -> tuple[Tensor, Tensor]:
    """Return images (n, 28, 28) as stored and labels (n,) as int64, on the device."""
    images, labels = torch.from_numpy(digits.images.copy()), torch.from_numpy(digits.labels.astype(np.int64))
    return images.to(device), labels.to(device)


def accuracy(model: nn.Module, digits: Digits, device: str, edits: Edits = ()) -> float:
    """Return the share of digits that the model reads right, optionally with its attention changed."""
    images, labels = to_tensor(digits, device)
    model.eval()
    n_right = 0
    with torch.inference_mode():
        for start in range(0, len(labels), BATCH):
            batch = images[start : start + BATCH].float() / 255
            answers = model(batch, edits=edits).logits.argmax(1)
            n_right += int((answers == labels[start : start + BATCH]).sum())
    return round(n_right / max(len(labels), 1), 5)


def evaluate_digits(model: nn.Module, file: str | Path) -> dict[str, Any]:
    """Return n, the accuracy on a file or folder of digits (see read_file), and the seconds without its reading."""
    digits = read_file(file)
    began = time.perf_counter()
    share = accuracy(model, digits, device_of(model).type)
    return {"n": len(digits), "accuracy": share, "seconds": round(time.perf_counter() - began, 3)}


def read_file(path: str | Path) -> Digits:
    """Read digits to evaluate on: a folder of IDX files, whose t10k part is taken, or an .npz.

    That has `labels` (n,) and either `images` (n, 28, 28), uint8 or float in [0, 1], or `canvases` (n, height, width,
    4) uint8 RGBA, which go through the code that the page uses.
    """
    path = Path(path)
    if path.is_dir():
        return read_digits(path, "t10k")
    arrays = read_npz(path, optional=("images", "canvases", "labels"), fault=DataError)
    if "labels" not in arrays or not {"images", "canvases"} & set(arrays):
        raise DataError(f"{path} needs `labels` and either `images` or `canvases`; it has {sorted(arrays)}.")
    if "images" in arrays:
        return _checked(arrays["images"], arrays["labels"], path)
    canvases = arrays["canvases"]
    if canvases.ndim != 4 or canvases.shape[-1] != 4 or canvases.dtype != np.uint8:
        raise DataError(f"{path}: canvases must be uint8 (n, height, width, 4), got {canvases.dtype} {canvases.shape}.")
    return _checked(canvases_to_images(canvases), arrays["labels"], path)


def _checked(images: np.ndarray, labels: np.ndarray, path: Path) -> Digits:
    if images.shape[1:] != (SIDE, SIDE) or labels.shape != images.shape[:1]:
        raise DataError(f"{path}: images {images.shape} and labels {labels.shape} should be (n, 28, 28) and (n,).")
    if labels.dtype.kind not in "iufb" or not np.isin(labels, np.arange(10)).all():
        raise DataError(f"{path}: labels must be digits 0 to 9.")
    return Digits(_as_bytes(images, path), labels.astype(np.uint8))


def _as_bytes(images: np.ndarray, path: Path) -> np.ndarray:
    """Return images as uint8: whole numbers from 0 to 255 as they are, fractions from 0 to 1 times 255."""
    if images.dtype.kind in "iu":
        if images.min(initial=0) < 0 or images.max(initial=0) > 255:
            raise DataError(f"{path}: whole-number images must lie between 0 and 255.")
        return images.astype(np.uint8)
    if images.dtype.kind not in "fb":
        raise DataError(f"{path}: images must be numbers, got {images.dtype}.")
    if not np.isfinite(images).all() or images.min(initial=0) < 0 or images.max(initial=0) > 1:
        raise DataError(f"{path}: float images must lie in [0, 1].")
    return np.rint(images * 255.0).astype(np.uint8)
