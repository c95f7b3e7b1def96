"""How each number came about: a cell as a sum of products, a softmax in its steps, a small network."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from attention_core.attention.origins import Factor, origin_of
from attention_core.attention.scores import Line, Pair, Score, number
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role, Step
from attention_core.device import to_array
from attention_core.topics.vectors.problem import Problem

LARGEST_EXPONENT = 300.0
"""Scores above this are lowered by their row's maximum before the exponential, which changes no weight."""


class SoftmaxParts(NamedTuple):
    scores: np.ndarray  # float (n,), with the constant added; -inf = may not be seen
    lowered: float  # what was taken off every score before the exponential, 0 unless they are too large for it
    exponentials: np.ndarray  # float (n,), exp(scores - lowered)
    total: float  # their sum
    shares: np.ndarray  # float (n,), exponentials / total


def softmax_parts(scores: np.ndarray, constant: float = 0.0) -> SoftmaxParts:
    """Take a row of scores (n,), not all -inf (may not be seen), with a constant added, through the softmax."""
    moved = np.asarray(scores, dtype=np.float64) + constant
    seen = moved[np.isfinite(moved)]
    lowered = float(seen.max()) if np.abs(seen).max() > LARGEST_EXPONENT else 0.0
    exponentials = np.exp(moved - lowered)
    total = float(exponentials.sum())
    return SoftmaxParts(moved, lowered, exponentials, total, exponentials / total)


@dataclass(frozen=True, eq=False)
class FeedForward:
    """One neuron, w1 x1 + w2 x2 + ..., or a layer of them that another neuron adds up."""

    weights: np.ndarray  # (n_units, n, d) one weight per number of each of n inputs
    second: np.ndarray | None = None  # (n_units,) of the neuron that adds the units up; None = there is one unit
    bends: bool = False  # whether each neuron sends its sum through a tanh

    def units(self, inputs: np.ndarray) -> np.ndarray:
        """Return what the neurons of the first layer say of inputs (n, d), (n_units,)."""
        return self._bent((self.weights * inputs).sum((1, 2)))

    def answer(self, inputs: np.ndarray) -> float:
        units = self.units(inputs)
        return float(units[0] if self.second is None else self._bent(units @ self.second))

    def effect(self, inputs: np.ndarray, first: int, without: int | None = None) -> float:
        """Return what an input adds to the answer: with it minus with zeros in its place; another may be zeros too."""
        kept = inputs.copy()
        if without is not None:
            kept[without] = 0
        alone = kept.copy()
        alone[first] = 0
        return self.answer(kept) - self.answer(alone)

    def mixed_effect(self, inputs: np.ndarray, first: int, second: int) -> float:
        """Return how much of one input's effect hangs on another; exactly 0 where nothing bends.

        Rounded to 12 decimals: sums in another order differ below.
        """
        return round(self.effect(inputs, first) - self.effect(inputs, first, second), 12) + 0.0

    def _bent(self, sums: np.ndarray) -> np.ndarray:
        return np.tanh(sums) if self.bends else sums


def feed_forward(n: int, d: int, *, bends: bool, deep: bool) -> FeedForward:
    """Return a network for n inputs of d numbers with plain fixed weights; deep = in two layers."""
    n_units = 2 if deep else 1
    weights = np.round(0.9 * np.cos(1.7 * np.arange(n_units * n * d) + 0.4), 1).reshape(n_units, n, d) + 0.0
    return FeedForward(weights, np.array([1.2, -0.8]) if deep else None, bends)


@dataclass(frozen=True, eq=False)
class Arithmetic:
    """How one cell came about."""

    headline: str  # in words, what meets what
    cell: str  # LaTeX that names it
    value: float  # its number
    formula: str = ""  # LaTeX that leads to the number, where the lines do not
    lines: tuple[Line, ...] = ()  # rows of numbers above each other, as arrays; the last one is summed
    columns: tuple[str, ...] = ()  # one heading per number of the lines; () = counted from 1

    @property
    def total(self) -> float | None:
        return float(self.lines[-1].values.sum()) if self.lines else None

    @property
    def result(self) -> str:
        """LaTeX that ends in the cell's number."""
        return " = ".join([self.cell, *([self.formula] if self.formula else []), number(self.value)])


def row_kind(step: Step) -> str:
    """Say what a step's rows are: "query" or "key"."""
    return "key" if step.name in ("memory", "key", "value") else "query"


def column_kind(step: Step) -> str:
    """Say what a step's columns are: "key", or "dimension" of a vector."""
    return "key" if step.name in ("scores", "scaled", "mask", "weights") else "dimension"


def cell_arithmetic(problem: Problem, trace: AttentionTrace, step: Step, row: int, column: int) -> Arithmetic | None:
    """Return how a cell of a step's matrix was computed, or None for a number that was typed.

    Raises:
        IndexError: no such cell.
    """
    if not (0 <= row < step.shape[0] and 0 <= column < step.shape[1]):
        raise IndexError(f"{step.title} is {step.shape[0]} x {step.shape[1]}, got row {row}, column {column}")
    asks, value = step.row_axis.labels[row], float(step.value(0, [row], [column]))
    place = f"_{{{row + 1},{column + 1}}}"
    for primes, stage in enumerate(trace.score.stages(trace.key.shape[-1])):
        if stage.name == step.name:
            made = _of_pair(stage.compute, "S" + "'" * primes + place, trace, row, column)
            if not trace.edits or math.isclose(made.value, value, rel_tol=1e-6, abs_tol=1e-9):
                return made
            return Arithmetic("A score that gives the weight which was set", made.cell, value)
    origin = origin_of(trace, step)
    if origin.kind == "product":
        columns = tuple(trace.story.key_axis.labels) if step.name == "context" else ()
        left, right = origin.factors
        return _of_product(asks, left, right, row, column, value, columns)
    if step.name == "mask":
        asked = trace.story.key_axis.labels[column]
        headline = f"{asks} may not see {asked}" if value == -math.inf else f"{asks} may see {asked}: the score stays"
        return Arithmetic(headline, f"S'{place}", value)
    if step.name == "weights":
        return _of_softmax(trace, row, column, value)
    if step.name == "residual":
        typed = float(problem.tables["X"][row, column])
        formula = f"{number(typed)} + {number(value - typed) if value >= typed else f'({number(value - typed)})'}"
        return Arithmetic(f"What {asks} was, plus what it found", f"Z{place}", value, formula)
    return None


def _of_pair(compute: Score, cell: str, trace: AttentionTrace, row: int, column: int) -> Arithmetic:
    asks, asked = trace.story.query_axis.labels[row], trace.story.key_axis.labels[column]
    numbers = compute.numbers(Pair(trace.query[0, row], trace.key_of(0)[column], (row, column), asks, asked))
    lines = tuple(line._replace(values=to_array(line.values)) for line in numbers.lines)
    columns = tuple(f"{numbers.unit}{place + 1}" for place in range(len(lines[0].values) if lines else 0))
    return Arithmetic(numbers.words, cell, numbers.value, "" if numbers.is_sum else numbers.formula, lines, columns)


def _of_product(
    asks: str, left: Factor, right: Factor, row: int, column: int, value: float, columns: tuple[str, ...]
) -> Arithmetic:
    beside = f"column {column + 1} of {right.symbol}"
    words, headline, letter = f"row {asks} of {left.symbol}", f"Row {asks} of {left.symbol}", right.symbol[-1]
    if left.symbol in "AC":
        words = f"{'weights' if left.symbol == 'A' else 'context'} of {asks}"
        headline, letter = f"The {words}", "C" if left.symbol == "A" else "O"
    first = Line(words, Role.WEIGHTS if left.symbol == "A" else left.role, left.values[row])
    second = Line(beside, right.role, right.values[:, column])
    lines = (first, second, Line("products", "", first.values * second.values))
    return Arithmetic(f"{headline} times {beside}", f"{letter}_{{{row + 1},{column + 1}}}", value, "", lines, columns)


def _of_softmax(trace: AttentionTrace, row: int, column: int, value: float) -> Arithmetic:
    asks, labels = trace.story.query_axis.labels[row], tuple(trace.story.key_axis.labels)
    cell = f"A_{{{row + 1},{column + 1}}}"
    if not trace.has_softmax:
        return Arithmetic(f"The softmax is off: the score of {labels[column]} is its weight", cell, value)
    scores = masked_scores(trace, row)
    if not np.isfinite(scores).any():
        return Arithmetic(f"{asks} may look at nothing", cell, value)
    parts = softmax_parts(scores)
    label = "exp(score - largest)" if parts.lowered else "exp(score)"
    lines = (Line(f"scores of {asks}", Role.SCORES, parts.scores), Line(label, "", parts.exponentials))
    formula = rf"\frac{{{number(float(parts.exponentials[column]))}}}{{{number(parts.total)}}}"
    return Arithmetic(f"How much of {asks}'s attention goes to {labels[column]}", cell, value, formula, lines, labels)


def masked_scores(trace: AttentionTrace, query: int) -> np.ndarray:
    """Return a query's scores, (n_keys,), -inf = may not be seen."""
    return to_array(trace.masked_scores(0, [query]))[0]
