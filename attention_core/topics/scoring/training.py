"""One query and six keys, learned in seconds: with and without 1/sqrt(d), with and without projections.

The right key is the query, or the query turned by a quarter, with noise. The network is told only how far its mixture
of the keys is from the right one, so that everything it learns has come through the softmax.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_core.device import choose_device, device_of
from attention_core.topics.scoring.compare import softmax_jacobian_norm
from attention_core.train.loop import Recipe, TrainingProgress, training_steps

N_KEYS, WIDTH, NOISE = 6, 16, 0.5  # keys, numbers of an input, standard deviation of the noise of the right key
N_QUERIES, N_TEST, TEST_SEED = 128, 1024, 2017
N_STEPS, EVERY = 300, 10
RATES = (0.01, 0.1, 0.3)
WIDTHS = (4, 16, 64, 256)
X, W, QK = "X Xᵀ", "X W Xᵀ", "Q Kᵀ"


@dataclass(frozen=True)
class ScoreSetup:
    """A score to be trained, and which key is the right one."""

    form: str = QK  # X, W or QK
    d: int = WIDTH // 2  # numbers of Q and K; with these eight all three forms have 256 parameters
    is_scaled: bool = True  # whether scores are divided by the square root of the width
    is_turned: bool = True  # whether the right key is the query turned by a quarter, or the query itself
    rate: float = RATES[0]  # the learning rate at its height


@dataclass(frozen=True)
class ScoreRun:
    """A training so far."""

    setup: ScoreSetup
    losses: tuple[float, ...]  # mean squared error of the context, means of EVERY batches
    gradients: tuple[float, ...]  # norm of the softmax's Jacobian, before training and after each EVERY batches
    accuracy: float  # share of test queries that give the right one of the keys the largest weight
    asymmetry: float  # of the matrix M in x_q M x_k: 0 = symmetric, 1 = antisymmetric


class TrainableScore(nn.Module):
    """Weights by scores x_q A (x_k B)^T: X X^T has A = B, X W X^T has B = 1, Q K^T has A = W_Q and B = W_K."""

    def __init__(self, setup: ScoreSetup, seed: int = 0) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        width = setup.d if setup.form == QK else WIDTH
        start = torch.randn(2, WIDTH, width, generator=generator) / math.sqrt(WIDTH)
        self.query = nn.Parameter(start[0])
        if setup.form == W:
            self.register_buffer("key", torch.eye(WIDTH))
        else:
            self.key = self.query if setup.form == X else nn.Parameter(start[1])
        self.factor = 1 / math.sqrt(width) if setup.is_scaled else 1.0

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        """Return the weights (n, n_keys) of queries (n, WIDTH) on keys (n, n_keys, WIDTH)."""
        scores = (key @ self.key) @ (query @ self.query)[..., None]
        return (scores[..., 0] * self.factor).softmax(-1)


class MatchTask:
    """Find the key that belongs to the query, see ScoreSetup.is_turned."""

    def __init__(self, is_turned: bool) -> None:
        self.is_turned = is_turned

    def draw(self, n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return queries (n, WIDTH) and their keys (n, N_KEYS, WIDTH), the right one first; all numbers vary by 1."""
        device = generator.device
        query = torch.randn(n, WIDTH, generator=generator, device=device)
        key = torch.randn(n, N_KEYS, WIDTH, generator=generator, device=device)
        first, second = query.chunk(2, -1)
        right = torch.cat((-second, first), -1) if self.is_turned else query
        key[:, 0] = (right + NOISE * key[:, 0]) / math.sqrt(1 + NOISE**2)
        return query, key

    def loss(self, model: nn.Module, moment: TrainingProgress, generator: torch.Generator) -> Tensor:
        query, key = self.draw(N_QUERIES, generator)
        context = (model(query, key)[:, None] @ key)[:, 0]
        return F.mse_loss(context, key[:, 0])

    def figures(self, model: nn.Module) -> dict[str, float]:
        """Return accuracy, gradient and asymmetry as a ScoreRun has them, on queries that are never trained on."""
        weights = model(*self.draw(N_TEST, torch.Generator(device_of(model)).manual_seed(TEST_SEED)))
        matrix = model.query @ model.key.T  # type: ignore[operator]
        return {
            "accuracy": float((weights.argmax(-1) == 0).float().mean()),
            "gradient": float(softmax_jacobian_norm(weights).mean()),
            "asymmetry": float((matrix - matrix.T).square().sum() / (4 * matrix.square().sum())),
        }


def train_score(setup: ScoreSetup, seed: int = 0) -> Iterator[ScoreRun]:
    """Train a score in N_STEPS batches; yields the training so far after each EVERY of them. The seed tells all."""
    task = MatchTask(setup.is_turned)
    recipe = Recipe(lambda data, seed, device: task, "random vectors", N_STEPS, 1, setup.rate, weight_decay=0.0)
    with torch.inference_mode(False):
        model = TrainableScore(setup, seed).to(choose_device())
    losses, gradients = list[float](), [_figures(task, model)["gradient"]]
    for step, loss in enumerate(training_steps(model, task, recipe, N_STEPS, seed)):
        losses.append(loss)
        if step % EVERY == EVERY - 1:
            figures = _figures(task, model)
            gradients.append(figures.pop("gradient"))
            losses[-EVERY:] = [sum(losses[-EVERY:]) / EVERY]
            yield ScoreRun(setup, tuple(losses), tuple(gradients), **figures)


@torch.no_grad()
def _figures(task: MatchTask, model: nn.Module) -> dict[str, float]:
    return task.figures(model)
