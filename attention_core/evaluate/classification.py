"""Evaluation of the models that sort: digits, Match3's numbers, nearest keys, judged sentences."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from attention_core.arrays import read_npz
from attention_core.attention.edits import Edits
from attention_core.data.drawing import SIDE, canvases_to_images
from attention_core.data.match3 import read_sequences
from attention_core.data.mnist import DataError, Digits, read_digits
from attention_core.data.review_pieces import Review, read_reviews
from attention_core.device import device_of
from attention_core.inference.sentiment import judge_all, judge_states, read_sentence
from attention_core.models.scoring_functions import ScoringFunctions
from attention_core.models.sentence_attention import SentenceClassifier

BATCH = 250


def as_tensors(digits: Digits, device: str = "cpu") -> tuple[Tensor, Tensor]:
    """Return images (n, 28, 28) as stored and labels (n,) as int64, on the device."""
    images, labels = torch.from_numpy(digits.images.copy()), torch.from_numpy(digits.labels.astype(np.int64))
    return images.to(device), labels.to(device)


def accuracy(model: nn.Module, inputs: Tensor, labels: Tensor, edits: Edits = ()) -> float:
    """Return the share of labels (n, ...) that the model gives, optionally with its attention changed.

    Inputs are (n, ...); uint8 pictures are brought to [0, 1].
    """
    model.eval()
    n_right, device = 0, device_of(model)
    with torch.inference_mode():
        for batch, targets in zip(inputs.split(BATCH), labels.split(BATCH), strict=True):
            batch = batch.to(device)
            answers = model(batch / 255 if batch.dtype is torch.uint8 else batch, edits=edits).logits.argmax(-1)
            n_right += int((answers.cpu() == targets).sum())
    return round(n_right / max(labels.numel(), 1), 5)


def majority_share(labels: Tensor) -> float:
    """Return the share of the commoner one of two labels."""
    share = labels.float().mean().item()
    return round(max(share, 1 - share), 5)


def evaluate_digits(model: nn.Module, file: str | Path) -> dict[str, Any]:
    """Return n, the accuracy on a file or folder of digits (see read_file), and the seconds without its reading."""
    digits = read_file(file)
    began = time.perf_counter()
    share = accuracy(model, *as_tensors(digits))
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
    maximum = 255 if images.dtype.kind in "iu" else 1
    if images.dtype.kind not in "iufb" or not ((images >= 0) & (images <= maximum)).all():
        raise DataError(f"{path}: images must be whole numbers from 0 to 255 or fractions from 0 to 1.")
    return images.astype(np.uint8) if maximum == 255 else np.rint(images * 255.0).astype(np.uint8)


def evaluate_match3(model: nn.Module, file: str | Path) -> dict[str, Any]:
    """Return n (sequences), numbers (all together), accuracy per number and the share of the commoner answer."""
    sequences = read_sequences(file)
    return {
        "n": len(sequences.numbers),
        "numbers": sequences.labels.numel(),
        "accuracy": accuracy(model, *sequences),
        "majority_share": majority_share(sequences.labels),
    }


def evaluate_nearest(model: ScoringFunctions, file: str | Path) -> dict[str, Any]:
    """Return n and the accuracy of each function on an .npz file.

    It has query (n, d), key (n, n_keys, d) and labels (n,), the position of the right key.
    """
    names = ("query", "key", "labels")
    arrays = read_npz(file, names, (), fault=DataError)
    query, key, labels = (arrays[name] for name in names)
    if query.ndim != 2 or key.ndim != 3 or (len(key), key.shape[2]) != query.shape or labels.shape != query.shape[:1]:
        raise DataError(
            f"query must be (n, d), key (n, n_keys, d) and labels (n,); got {query.shape}, {key.shape}, {labels.shape}."
        )
    if not (np.isfinite(query).all() and np.isfinite(key).all()):
        raise DataError(f"{file}: query and key must be finite numbers.")
    parameter = next(model.parameters())
    with torch.inference_mode():
        scores = model(torch.from_numpy(query).to(parameter), torch.from_numpy(key).to(parameter))
    right = torch.from_numpy(labels.astype(np.int64)).to(parameter.device)
    by_function = {
        name: (class_scores.argmax(-1) == right).double().mean().item() for name, class_scores in scores.items()
    }
    return {"n": len(labels), "accuracy": max(by_function.values()), "accuracy_by_function": by_function}


def evaluate_sentences(model: nn.Module, file: str | Path) -> dict[str, Any]:
    """Return n, accuracy, of each label and of single states, and the share of the commoner label; see read_reviews."""
    path = Path(file)
    if path.is_dir():
        raise DataError(f"{path} is a folder; give the file itself: label (1 or 0), tab, sentence on every line.")
    return figures(model, read_reviews(path))


def figures(model: nn.Module, reviews: Sequence[Review]) -> dict[str, Any]:
    """Return the figures of evaluate_sentences for reviews that have been read."""
    sentences = []
    for number, review in enumerate(reviews, 1):
        try:
            sentences.append(read_sentence(review.sentence))
        except ValueError:
            raise DataError(f"sentence {number} has no word to read: {review.sentence[:60]!r}") from None
    truth = torch.tensor([review.positive for review in reviews])
    right = (judge_all(model, [sentence.pieces for sentence in sentences]) >= 0.5) == truth
    by_state = {}
    if isinstance(model, SentenceClassifier):
        rights = zip(sentences, truth, strict=True)
        shares = [((judge_states(model, text) >= 0.5) == positive).float().mean() for text, positive in rights]
        by_state = {"accuracy_of_one_state": round(torch.stack(shares).mean().item(), 5)}
    return by_state | {
        "n": len(reviews),
        "accuracy": round(right.float().mean().item(), 5),
        "accuracy_positive": _share(right[truth]),
        "accuracy_negative": _share(right[~truth]),
        "majority_share": majority_share(truth),
    }


def _share(right: Tensor) -> float | None:
    return round(right.float().mean().item(), 5) if len(right) else None
