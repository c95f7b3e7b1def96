"""What can be learned while somebody watches: the settings of a training, and what a lesson has to bring."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from attention_core.attention.types import Axis
from attention_core.train.loop import Recipe

ATTENTION, UNIFORM, WITHOUT = "with attention", "every weight equal", "no attention"
"""The model that is watched, and its controls."""
LABELS, POSITION, EDGES, SCALE, BEFOREHAND = "labels", "position", "edges", "scale", "beforehand"
"""What can be broken: labels are shuffled, positions or a graph's edges left out, or scores not divided by the square
root of their width; or where to look is not learned here, but taken from the recorded training."""


@dataclass(frozen=True)
class LiveSettings:
    """How a small model is trained; with the same settings all numbers are the same."""

    lesson: str = "digits"
    size: str = "medium"
    rate: str = "usual"  # the learning rate at its height
    seed: int = 0
    share: int = 100  # per cent of the examples that are learned from
    score: str = ""
    broken: str = ""  # one of these; "" = nothing


class LessonOptions(NamedTuple):
    """What a lesson lets one choose from, for each of the settings."""

    make: Callable[[LiveSettings], Any]  # returns a Lesson
    size: Mapping[str, int]
    rate: Mapping[str, float]
    score: tuple[str, ...] = ("",)
    broken: tuple[str, ...] = ("", LABELS)
    share: tuple[int, ...] = (100, 10, 1)
    seed: range = range(10_000)


class Look(NamedTuple):
    """What a model looks at in somebody's own input, and what it makes of it."""

    weights: np.ndarray  # (n_queries, n_keys)
    queries: Axis
    keys: Axis
    answer: str  # in words
    says: tuple[str, ...] = ()  # what each query says, where queries are not what is said
    is_right: tuple[bool | None, ...] = ()  # whether that is right, None = nothing tells; () = of none

    @property
    def passed(self) -> float:
        """How much of a gradient the softmax passes, 0 to 1: the trace of its Jacobian, 1 - sum of w², mean of rows."""
        return float(1 - np.square(self.weights).sum(-1).mean())


class Lesson:
    """A Task (see attention_core.train.loop) with its models.

    Besides it has models() -> models by name, the one that is watched first; accuracy(model) -> the share of right
    answers about examples that are never learned from; look(model, input) -> a Look.
    """

    n_steps: int
    seconds: int  # of one core, for the models together
    models: Callable[[], dict[str, nn.Module]]
    accuracy: Callable[[Any], float]
    look: Callable[[Any, Any], Look]

    def __init__(self, settings: LiveSettings, rate: float) -> None:
        self.settings = settings
        self.recipe = Recipe(lambda data, seed, device: self, "see lessons", self.n_steps, 1, rate, weight_decay=0.0)  # type: ignore[arg-type,return-value]

    def remark(self, example: Any) -> str:
        """Return what a person should know of how their input is read, as Markdown, or ""."""
        return ""

    def part(self, n: int) -> tuple[int, list[int]]:
        """Return how many of n examples are learned from, and which one's label each of them has."""
        n = max(1, n * self.settings.share // 100)
        shuffled = torch.randperm(n, generator=torch.Generator().manual_seed(self.settings.seed)).tolist()
        return n, shuffled if self.settings.broken == LABELS else [*range(n)]
