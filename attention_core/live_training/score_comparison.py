"""The same query and keys through all scoring functions, and as fields over key positions; scores by d_k, measured.

The dot product of two vectors of d_k independent numbers of variance 1 has variance d_k. Source: Vaswani et al. 2017,
footnote 4.

One query and six keys are learned in seconds: with and without 1/sqrt(d), with and without projections.
The right key is the query, or the query turned by a quarter, with noise. The network is told only how far its mixture
of the keys is from the right one, so that everything it learns has come through the softmax.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_core.attention.export import trace_to_frame
from attention_core.attention.scores import Score
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Story
from attention_core.device import choose_device, device_of
from attention_core.files import read_toml_beside
from attention_core.train.loop import Recipe, TrainingProgress, TrainingSteps

if TYPE_CHECKING:
    import pandas as pd


def compare(scores: Mapping[str, Score], query: Tensor, key: Tensor) -> dict[str, AttentionTrace]:
    """Return a trace per scoring function for the same query (n_queries, d) and keys (n_keys, d), their own values."""
    queries = Axis("queries", ["q"] if len(query) == 1 else [f"q{number + 1}" for number in range(len(query))])
    keys = Axis("keys", [f"k{number + 1}" for number in range(len(key))])
    return {
        name: AttentionTrace(
            query=query[None],
            key=key[None],
            value=key[None],
            score=score,
            story=Story(mechanism=f"{name} attention", query_axis=queries, key_axis=keys),
        )
        for name, score in scores.items()
    }


def score_field(score: Score, query: Tensor, *, extent: float, n: int = 64) -> Tensor:
    """Return the score that a key would get at every point of the plane from -extent to extent, (n, n), top row first.

    Every point is the only key of its own row, so that a function that does not look at keys is the same everywhere.
    """
    ticks = torch.linspace(-extent, extent, n, dtype=query.dtype, device=query.device)
    y, x = torch.meshgrid(ticks.flip(0), ticks, indexing="ij")
    points = torch.stack([x, y], -1).reshape(-1, 1, 2)
    return score(query[None], points).expand(n * n, 1, 1).reshape(n, n)


UNDECIDED = 0.01
"""Weights that differ by less count as equal."""


class FavouriteKey(NamedTuple):
    key: int | None  # its position; None when all weights lie within 1 % of each other
    weight: float  # what it gets; ties go to the first


def favourites(traces: Mapping[str, AttentionTrace]) -> dict[str, FavouriteKey]:
    """Return the key that gets most of the first query's weight, by the name of each scoring function."""
    chosen = {}
    for name, trace in traces.items():
        weights = trace.weights(0, [0])[0]
        weight, key = weights.max(-1)
        undecided = float(weight - weights.min()) < UNDECIDED
        chosen[name] = FavouriteKey(None if undecided else int(key), float(weight))
    return chosen


def comparison_frame(traces: Mapping[str, AttentionTrace]) -> pd.DataFrame:
    """Return one row per function, query and key: function, query, key, their labels, score, weight."""
    import pandas as pd

    return pd.concat([trace_to_frame(trace).assign(function=name) for name, trace in traces.items()], ignore_index=True)


def nearest_key(query: Tensor, key: Tensor) -> int:
    """Return the position of the key (n_keys, d) at the smallest Euclidean distance from the query (d,)."""
    return int((key - query).square().sum(-1).argmin())


DIMENSIONS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


@dataclass(frozen=True)
class ScaleRow:
    """What was measured for one d_k."""

    d_k: int  # numbers in a vector
    scaled: bool  # whether scores were divided by sqrt(d_k)
    variance: float  # of the scores q . k.
    gradient: float  # Frobenius norm of the softmax's Jacobian, mean over queries; 0 = nothing can be learned any more


def random_scores(d_k: int, *, n_queries: int = 512, n_keys: int = 8, seed: int = 0) -> Tensor:
    """Return q . k for random queries with n_keys random keys each, (n_queries, n_keys); numbers have variance 1."""
    generator = torch.Generator().manual_seed(seed * 4099 + d_k)
    query = torch.randn(n_queries, 1, d_k, generator=generator)
    key = torch.randn(n_queries, n_keys, d_k, generator=generator)
    return (query * key).sum(-1)


def softmax_jacobian_norm(weights: Tensor) -> Tensor:
    """Return the Frobenius norm of d weights / d scores = diag(w) - w w^T, for weights (..., n_keys)."""
    squares = weights.square().sum(-1)
    return (squares - 2 * weights.pow(3).sum(-1) + squares.square()).clamp(min=0).sqrt()


def measure_scale() -> list[ScaleRow]:
    """Measure scores and softmax for each of DIMENSIONS, without and with the division by sqrt(d_k)."""
    rows = []
    for d_k in DIMENSIONS:
        raw = random_scores(d_k)
        for scaled in (False, True):
            scores = raw / math.sqrt(d_k) if scaled else raw
            gradient = softmax_jacobian_norm(scores.softmax(-1)).mean().item()
            rows.append(ScaleRow(d_k, scaled, scores.var().item(), gradient))
    return rows


Vector = Sequence[float]
VECTOR_SIZES = (2, 3, 4, 8)
"""Numbers of a vector; only links of the first version have more than two."""
MIN_KEYS, MAX_KEYS = 2, 6
HALF_TURN = 180
EXTENT = 4.0
"""Largest absolute value of a number in a vector."""


@dataclass(frozen=True, eq=False)
class Vectors:
    """A query and its keys; no two are equal, so that a change is seen by `is`."""

    query: Vector  # d numbers
    keys: Sequence[Vector]  # as many numbers each
    note: str = ""  # one or two sentences on what to look at, with keys named k₁, k₂ and so on; "" = somebody's own
    name: str = ""  # of a preset, on its button
    turn: int = 0  # degrees by which W_Q turns a query of two numbers, against the clock

    @property
    def d(self) -> int:
        return len(self.query)

    def projected_query(self) -> Vector:
        """Return the query as W_Q turns it."""
        if not self.turn:
            return self.query
        x, y = self.query
        cos, sin = math.cos(math.radians(self.turn)), math.sin(math.radians(self.turn))
        return [x * cos - y * sin, x * sin + y * cos]

    @classmethod
    def parse(cls, text: str) -> Vectors:
        """Read vectors from an address, such as "2,1.5;1.75,2.25;3.5,2@90"; ValueError for others.

        The query comes first; behind @ stand the degrees by which W_Q turns it.
        """
        rows, _, degrees = text[:1000].partition("@")
        query, *keys = [[float(number) for number in row.split(",")] for row in rows.split(";")]
        turn = int(degrees or 0)
        if len(query) not in VECTOR_SIZES or not MIN_KEYS <= len(keys) <= MAX_KEYS:
            raise ValueError(f"text must hold a query and {MIN_KEYS} to {MAX_KEYS} keys, got {text[:60]!r}")
        if not all(len(row) == len(query) and all(abs(number) <= EXTENT for number in row) for row in [query, *keys]):
            raise ValueError(f"vectors must be equally long, with numbers up to {EXTENT}, got {text[:60]!r}")
        if abs(turn) > HALF_TURN or (turn and len(query) != 2):
            raise ValueError(f"a query of two numbers turns by up to {HALF_TURN} degrees, got {text[:60]!r}")
        return cls(query, keys, turn=turn)

    def text(self) -> str:
        rows = ";".join(",".join(f"{number:.12g}" for number in row) for row in [self.query, *self.keys])
        return f"{rows}@{self.turn}" if self.turn else rows


_PRESETS = read_toml_beside(__file__)
VECTOR_PRESETS = tuple(Vectors(**preset, name=name) for name, preset in _PRESETS.items())

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
        return F.mse_loss((model(query, key)[:, None] @ key)[:, 0], key[:, 0])

    @torch.no_grad()
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
    losses, gradients = list[float](), [task.figures(model)["gradient"]]
    for step, loss in enumerate(TrainingSteps(model, task, recipe, N_STEPS, seed)):
        losses.append(loss)
        if step % EVERY == EVERY - 1:
            figures = task.figures(model)
            gradients.append(figures.pop("gradient"))
            losses[-EVERY:] = [sum(losses[-EVERY:]) / EVERY]
            yield ScoreRun(setup, tuple(losses), tuple(gradients), **figures)
