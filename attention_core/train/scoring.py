"""Recipe of the scoring functions: among a few keys, find the one nearest to the query."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_core.train.loop import RECIPES, Moment, Recipe

EXTENT = 4.0
"""Numbers are drawn evenly from -EXTENT to EXTENT, the last one of each vector from 0 to EXTENT."""
N_KEYS = 6
BATCH_SIZE = 512
SHARPNESS = 2.0
"""Wanted weights are softmax(-SHARPNESS |q - k|): soft, so that trained scores keep a size like the dot products'."""
TEST_SIZE = 10_000
TEST_SEED = 987_654_321
DATA = (
    "made as it is needed: a query and six keys, every number even in [-4, 4], the last one of each vector in [0, 4]; "
    "the wanted weights are softmax(-2 |q - k|), so that near keys get much and the nearest gets most"
)


def draw_nearest(n: int, d: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Draw n tasks for vectors of d numbers, on the device of the generator.

    The last number is never negative because v^T tanh(...) without a bias is odd: on a domain that is symmetric
    around 0 it could match nothing (f(-q, -k) = -f(q, k), while "near" stays near under the change of sign).

    Returns:
        query (n, d), key (n, N_KEYS, d), and the position of the nearest key (n,).
    """
    points = (2 * torch.rand(n, N_KEYS + 1, d, generator=generator, device=generator.device) - 1) * EXTENT
    points[..., -1] = points[..., -1].abs()
    query, key = points[:, 0], points[:, 1:]
    return query, key, (key - query[:, None]).square().sum(-1).argmin(-1)


class NearestTask:
    """Give near keys much weight and the nearest the most."""

    def __init__(self, data: str | None, seed: int, device: str) -> None:
        self.device = device

    def loss(self, model: nn.Module, moment: Moment, generator: torch.Generator) -> Tensor:
        """Return the mean cross-entropy of the learned functions over all widths, on one random batch each."""
        losses = []
        for d in model.config.dimensions:  # type: ignore[union-attr]
            query, key, _ = draw_nearest(BATCH_SIZE, d, generator)
            wanted = (-SHARPNESS * (key - query[:, None]).norm(dim=-1)).softmax(-1)
            scores = model(query, key)
            losses += [F.cross_entropy(scores[name], wanted) for name in model.config.learned]  # type: ignore[union-attr]
        return torch.stack(losses).mean()

    def figures(self, model: nn.Module) -> dict[str, Any]:
        """Return the share of held-out tasks in which each function scores the nearest key highest, per width."""
        accuracy = {}
        for d in model.config.dimensions:  # type: ignore[union-attr]
            query, key, nearest = draw_nearest(TEST_SIZE, d, torch.Generator(self.device).manual_seed(TEST_SEED))
            accuracy[str(d)] = {
                name: round((scores.argmax(-1) == nearest).double().mean().item(), 4)
                for name, scores in model(query, key).items()
            }
        return {"chance": round(1 / N_KEYS, 4), "test_tasks": TEST_SIZE, "accuracy_by_d": accuracy}


RECIPES |= {
    "scoring-functions": Recipe(
        task=NearestTask,
        data="none needed; " + DATA,
        batches_per_epoch=500,
        epochs=16,
        learning_rate=2e-2,
        weight_decay=0.0,
    ),
}
