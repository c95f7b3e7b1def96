"""Attention over time steps, learned in seconds: what is hidden of a curve is a weighted average of what is known.

A hidden step asks with what the curve is like (its autocorrelation) and how far away the nearest known step is; a known
step is found by its distance in time. Source: relative positions as keys, Shaw et al. 2018, section 3.2.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from attention_core.device import choose_device, device_of
from attention_core.train.loop import Recipe, TrainingProgress, TrainingSteps

N = 48  # time steps of a curve
N_CURVES, N_TEST, TEST_SEED = 64, 1000, 2018
N_BATCHES, EVERY = 1000, 20
PERIODS = (6, 20)  # time steps of the shortest and the longest wave of a random curve
MIN_HIDDEN, MAX_HIDDEN, MARGIN = 4, 16, 8  # steps that are hidden in training, and that a gap leaves before it
FORECAST, BACKWARDS, BIDIRECTIONAL = "the end", "a gap, looking back", "a gap, looking both ways"


@dataclass(frozen=True)
class Hiding:
    """Which steps a network sees, and which it has to tell; both are half-open ranges of steps."""

    visible: tuple[range, ...]
    hidden: range

    def mask(self) -> Tensor:
        """Return bool (N,), True = visible."""
        visible = torch.zeros(N, dtype=torch.bool)
        for steps in self.visible:
            visible[list(steps)] = True
        return visible


HIDDEN = {
    FORECAST: Hiding((range(36),), range(36, N)),
    BACKWARDS: Hiding((range(20),), range(20, 30)),
    BIDIRECTIONAL: Hiding((range(20), range(30, N)), range(20, 30)),
}
ATTENTION, LAST, MEAN = "attention", "last value", "mean"
D_K, HIDDEN_UNITS = 32, 64


class SeriesAttention(nn.Module):
    """One head of attention from all steps to the known ones; what is handed over is their value."""

    lags: Tensor

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.curve = nn.Sequential(nn.Linear(N, HIDDEN_UNITS), nn.GELU(), nn.Linear(HIDDEN_UNITS, D_K))
            self.nearest = nn.Parameter(0.1 * torch.randn(N, D_K))
            self.key = nn.Parameter(torch.randn(N, D_K))
        steps = torch.arange(N)
        self.register_buffer("lags", (steps[:, None] - steps).abs())

    def forward(self, curves: Tensor, visible: Tensor) -> tuple[Tensor, Tensor]:
        """Return every step's forecast (n, N) and weights (n, N, N) of curves (n, N), bool (n, N) = which are known."""
        curves, middle, size = standardised(curves, visible)
        lag = self.lags.where(visible[:, None], N - 1).amin(-1)
        query = self.curve(autocorrelation(curves, visible))[:, None] + self.nearest[lag]
        scores = (query @ self.key.T).gather(-1, self.lags.expand(len(curves), -1, -1)) / math.sqrt(query.shape[-1])
        weights = scores.masked_fill(~visible[:, None], -torch.inf).softmax(-1)
        return (weights @ curves[..., None])[..., 0] * size + middle, weights


def standardised(curves: Tensor, visible: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return curves with mean 0 and size 1 where they are known and 0 elsewhere; their mean and their size, (n, 1)."""
    n_visible = visible.sum(-1, keepdim=True)
    middle = curves.where(visible, 0).sum(-1, keepdim=True) / n_visible
    residual = (curves - middle).where(visible, 0)
    size = (residual.square().sum(-1, keepdim=True) / n_visible).sqrt() + 1e-3
    return residual / size, middle, size


def autocorrelation(curves: Tensor, visible: Tensor) -> Tensor:
    """Return the mean product of known steps at each distance from 0 on, (n, N), 0 where there are none."""
    stacked = torch.stack((curves, visible.to(curves)))
    products, pairs = torch.fft.irfft(torch.fft.rfft(stacked, 2 * N).abs().square(), 2 * N)[..., :N]
    return products / pairs.clamp(min=1)


def draw_curves(n: int, generator: torch.Generator) -> Tensor:
    """Draw curves (n, N): a wave of three harmonics, a trend, a random walk and noise."""

    def normal(*shape: int) -> Tensor:
        return torch.randn(n, *shape, generator=generator, device=generator.device)

    def even(*shape: int) -> Tensor:
        return torch.rand(n, *shape, generator=generator, device=generator.device)

    steps = torch.arange(N, device=generator.device)
    number = torch.arange(1, 4, device=generator.device)[:, None]
    shortest, longest = map(math.log, PERIODS)
    angle = 2 * math.pi * steps / (shortest + (longest - shortest) * even(1, 1)).exp()
    wave = (normal(3, 1) / number * (number * angle + 2 * math.pi * even(3, 1)).sin()).sum(1)
    walk = 0.15 * even(1) * normal(N).cumsum(1)
    return wave + normal(1) * (steps / N - 0.5) + walk + 0.1 * normal(N)


class SeriesTask:
    """Tell the end of a curve, or what stands in a gap of it."""

    def loss(self, model: nn.Module, moment: TrainingProgress, generator: torch.Generator) -> Tensor:
        curves, device = draw_curves(N_CURVES, generator), generator.device
        length = torch.randint(MIN_HIDDEN, MAX_HIDDEN + 1, (N_CURVES, 1), generator=generator, device=device)
        gap = torch.randint(MARGIN, N - MAX_HIDDEN, (N_CURVES, 1), generator=generator, device=device)
        is_forecast = torch.rand(N_CURVES, 1, generator=generator, device=device) < 0.5
        start, steps = torch.where(is_forecast, N - length, gap), torch.arange(N, device=device)
        visible = (steps < start) | (steps >= start + length)
        errors = (model(curves, visible)[0] - curves) / standardised(curves, visible)[2]
        return errors[~visible].square().mean()

    def figures(self, model: nn.Module) -> dict[str, dict[str, float]]:
        """Return root mean squared errors by what is hidden and by who tells it, on curves never trained on."""
        curves = draw_curves(N_TEST, torch.Generator(device_of(model)).manual_seed(TEST_SEED))
        return {name: errors_of(curves, answers(model, curves, name)[0], name) for name in HIDDEN}


@torch.no_grad()
def answers(model: nn.Module, curves: Tensor, hidden: str) -> tuple[dict[str, Tensor], Tensor]:
    """Return what attention, the last known value and the known mean tell of the hidden steps (n, n_hidden) of curves.

    The second is the weights, (n, n_hidden, N).
    """
    hiding = HIDDEN[hidden]
    visible, positions = hiding.mask().to(curves.device), list(hiding.hidden)
    prediction, weights = model(curves, visible.expand(len(curves), -1))
    plain = {LAST: curves[:, positions[0] - 1, None], MEAN: curves[:, visible].mean(1, keepdim=True)}
    baselines = {name: level.expand(-1, len(positions)) for name, level in plain.items()}
    return {ATTENTION: prediction[:, positions]} | baselines, weights[:, positions]


def errors_of(curves: Tensor, predictions: dict[str, Tensor], hidden: str) -> dict[str, float]:
    """Return the root mean squared error of each who tells, in shares of what the curves vary by."""
    target, size = curves[:, list(HIDDEN[hidden].hidden)], curves.std(1, keepdim=True)
    errors = {name: (prediction - target) / size for name, prediction in predictions.items()}
    return {name: float(error.square().mean().sqrt()) for name, error in errors.items()}


@dataclass(frozen=True, eq=False)
class LearnedSeries:
    """A network so far, and how well it does."""

    share: float  # of the training that is over
    model: SeriesAttention
    errors: dict[str, dict[str, float]]  # see SeriesTask.figures; empty before the end


def train_series(seed: int = 0) -> Iterator[LearnedSeries]:
    """Train in N_BATCHES batches; yields the network after each EVERY of them."""
    task = SeriesTask()
    recipe = Recipe(lambda data, seed, device: task, "random curves", N_BATCHES, 1, 1e-2, weight_decay=0.0)
    with torch.inference_mode(False):
        model = SeriesAttention(seed=seed).to(choose_device())
    for step, _ in enumerate(TrainingSteps(model, task, recipe, N_BATCHES, seed), 1):
        if step % EVERY == 0:
            yield LearnedSeries(step / N_BATCHES, model, task.figures(model) if step == N_BATCHES else {})


def curve_of(ink: np.ndarray) -> np.ndarray | None:
    """Return the curve (N,) from -1 to 1 that is drawn, bool (height, width); None where it has less than half.

    Steps without ink lie on a line between their neighbours.
    """
    height, width = ink.shape
    rows, columns = np.nonzero(ink)
    steps = columns * N // width
    counts = np.bincount(steps, minlength=N)
    inked = np.flatnonzero(counts)
    if len(inked) < N / 2:
        return None
    middles = np.bincount(steps, rows + 0.5, minlength=N)[inked] / counts[inked]
    return 1 - 2 * np.interp(np.arange(N), inked, middles) / height


def path_of(curve: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Return a curve (N,) from -1 to 1 as a path (N, 2) on a pad of this height and width."""
    height, width = size
    return np.stack(((np.arange(N) + 0.5) * width / N, (1 - curve) / 2 * height), 1)


_TIMES = np.arange(N)
PRESET_CURVES = {
    "Waves": 0.7 * np.sin(_TIMES / 12 * 2 * np.pi),
    "Heartbeat": 1.2 * np.exp(-((_TIMES % 11 - 5) ** 2) / 2.5) - 0.5,
    "Saw": _TIMES % 9 / 5.5 - 0.7,
    "Climb": 0.35 * np.sin(_TIMES / 10 * 2 * np.pi) + _TIMES / N - 0.5,
}
