"""Evaluation of the models that judge sentences: accuracy on label, tab, sentence."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from attention_core.data.mnist import DataError
from attention_core.data.review_pieces import Review, read_reviews
from attention_core.topics.matter.sentences import judge_all, read_sentence


def evaluate_sentences(model: nn.Module, file: str | Path) -> dict[str, Any]:
    """Return n, accuracy, that of each label and the share of the commoner label; for the file see read_reviews."""
    path = Path(file)
    if path.is_dir():
        raise DataError(f"{path} is a folder; give the file itself: label (1 or 0), tab, sentence on every line.")
    return figures(model, read_reviews(path))


def figures(model: nn.Module, reviews: Sequence[Review]) -> dict[str, Any]:
    """Return the figures of evaluate_sentences for reviews that have been read."""
    pieces = []
    for number, review in enumerate(reviews, 1):
        try:
            pieces.append(read_sentence(review.sentence).pieces)
        except ValueError:
            raise DataError(f"sentence {number} has no word to read: {review.sentence[:60]!r}") from None
    truth = torch.tensor([review.positive for review in reviews])
    right = (judge_all(model, pieces) >= 0.5) == truth
    share = truth.float().mean().item()
    return {
        "n": len(reviews),
        "accuracy": round(right.float().mean().item(), 5),
        "accuracy_positive": _share(right[truth]),
        "accuracy_negative": _share(right[~truth]),
        "majority_share": round(max(share, 1 - share), 5),
    }


def _share(right: torch.Tensor) -> float | None:
    return round(right.float().mean().item(), 5) if len(right) else None
