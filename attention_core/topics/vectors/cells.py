"""The arithmetic behind one cell of any step: which row met which column, every product, their sum."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attention_core.attention.latex import number
from attention_core.attention.score import Line, Pair, Score
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role, Step
from attention_core.device import to_array
from attention_core.topics.vectors.problem import Mode, Problem

LARGEST_EXPONENT = 300.0
"""Scores above this are lowered by their row's maximum before the exponential, which changes no weight."""


@dataclass(frozen=True, eq=False)
class Arithmetic:
    """How one cell came about."""

    headline: str  # in words, what meets what
    columns: tuple[str, ...]  # one heading per number of the lines
    # rows of numbers above each other, as arrays; the last one is summed where `total` is given
    lines: tuple[Line, ...]
    total: float | None  # the sum of the last line, or None
    result: str  # LaTeX that ends in the cell's number
    value: float  # the cell's number


def row_kind(step: Step) -> str:
    """Say what a step's rows are: "query" or "key"."""
    return "key" if step.name in ("memory", "key", "value") else "query"


def column_kind(step: Step) -> str:
    """Say what a step's columns are: "key", or "dimension" of a vector."""
    return "key" if step.name in ("scores", "scaled", "mask", "weights") else "dimension"


def cell_arithmetic(
    problem: Problem, trace: AttentionTrace, step: Step, head: int, row: int, column: int
) -> Arithmetic | None:
    """Return how a cell of a step was computed, or None for a number that was typed.

    Args:
        problem: whose trace it is.
        trace: the trace.
        step: one of its steps.
        head: which head, from 0.
        row: of the step's matrix.
        column: of the step's matrix.

    Raises:
        IndexError: no such cell.
    """
    if not (0 <= row < step.shape[0] and 0 <= column < step.shape[1]):
        raise IndexError(f"{step.title} is {step.shape[0]} x {step.shape[1]}, got row {row}, column {column}")
    value = float(step.value(head, [row], [column]))
    if step.name in ("query", "key", "value"):
        return _projection(problem, step, head, row, column, value)
    for place, stage in enumerate(trace.score.stages(trace.key.shape[-1])):
        if stage.name == step.name:
            return _stage(stage.compute, "S" + "'" * place, trace, head, row, column)
    makers = {"mask": _mask, "weights": _weight, "context": _context}
    if step.name in makers:
        return makers[step.name](trace, head, row, column, value)
    if step.name in ("merged", "output", "residual"):
        return _after(problem, trace, step, row, column, value)
    return None


def _products(
    headline: str, left: Line, right: Line, symbol: str, value: float, columns: Sequence[str] | None = None
) -> Arithmetic:
    products = left.values * right.values
    heads = tuple(columns) if columns is not None else tuple(str(place + 1) for place in range(len(products)))
    return Arithmetic(
        headline,
        heads,
        (left, right, Line("products", "", products)),
        float(products.sum()),
        rf"{symbol} = {number(value)}",
        value,
    )


def _projection(problem: Problem, step: Step, head: int, row: int, column: int, value: float) -> Arithmetic | None:
    if problem.mode == Mode.DIRECT:
        return None
    source = problem.query_table if step.name == "query" else problem.key_table
    letter = step.symbol
    whole = head * step.shape[1] + column
    label = problem.row_labels(source)[row]
    return _products(
        f"Row {label} of {source} times column {whole + 1} of W_{letter}",
        Line(f"row {label} of {source}", Role.INPUT, problem.tables[source][row].astype(float)),
        Line(f"column {whole + 1} of W_{letter}", step.role, problem.tables[f"W_{letter}"][:, whole].astype(float)),
        rf"{letter}_{{{row + 1},{column + 1}}}",
        value,
    )


def _stage(compute: Score, symbol: str, trace: AttentionTrace, head: int, row: int, column: int) -> Arithmetic:
    asks, asked = trace.story.query_axis.labels[row], trace.story.key_axis.labels[column]
    numbers = compute.numbers(Pair(trace.query[head, row], trace.key_of(head)[column], (row, column), asks, asked))
    lines = tuple(line._replace(values=to_array(line.values)) for line in numbers.lines)
    columns = tuple(f"{numbers.unit}{place + 1}" for place in range(len(lines[0].values) if lines else 0))
    total = float(lines[-1].values.sum()) if lines else None
    way = "" if numbers.is_sum else f"{numbers.way} = "
    result = rf"{symbol}_{{{row + 1},{column + 1}}} = {way}{number(numbers.value)}"
    return Arithmetic(numbers.words, columns, lines, total, result, numbers.value)


def _mask(trace: AttentionTrace, head: int, row: int, column: int, value: float) -> Arithmetic:
    asks, asked = trace.story.query_axis.labels[row], trace.story.key_axis.labels[column]
    allowed = value != -math.inf
    headline = f"{asks} {'may' if allowed else 'may not'} see {asked}" + (": the score stays" if allowed else "")
    return Arithmetic(headline, (), (), None, rf"S'_{{{row + 1},{column + 1}}} = {number(value)}", value)


def _weight(trace: AttentionTrace, head: int, row: int, column: int, value: float) -> Arithmetic:
    scores, allowed = trace.scores(head, [row]), trace.allowed(head, [row])
    masked = to_array(scores if allowed is None else scores.masked_fill(~allowed, -math.inf))[0]
    symbol = rf"A_{{{row + 1},{column + 1}}}"
    if not trace.has_softmax:
        headline = f"The softmax is off: the score of {trace.story.key_axis.labels[column]} is its weight"
        return Arithmetic(headline, (), (), None, f"{symbol} = {number(value)}", value)
    asks = trace.story.query_axis.labels[row]
    if not np.isfinite(masked).any():
        headline = f"{asks} may see no key: no softmax, its weights are zeros"
        return Arithmetic(headline, trace_labels(trace), (), None, rf"{symbol} = 0", value)
    lowered = float(masked.max()) if np.abs(masked[np.isfinite(masked)]).max() > LARGEST_EXPONENT else 0.0
    exponentials = np.exp(masked - lowered)
    label = "exp(score)" if not lowered else "exp(score - largest)"
    lines = (Line(f"scores of {asks}", Role.SCORES, masked), Line(label, "", exponentials))
    total = float(exponentials.sum())
    way = rf"\frac{{{number(float(exponentials[column]))}}}{{{number(total)}}}"
    headline = f"How much of {asks}'s attention goes to {trace.story.key_axis.labels[column]}"
    return Arithmetic(headline, trace_labels(trace), lines, total, rf"{symbol} = {way} = {number(value)}", value)


def trace_labels(trace: AttentionTrace) -> tuple[str, ...]:
    return tuple(trace.story.key_axis.labels)


def _context(trace: AttentionTrace, head: int, row: int, column: int, value: float) -> Arithmetic:
    asks = trace.story.query_axis.labels[row]
    return _products(
        f"The weights of {asks} times column {column + 1} of V",
        Line(f"weights of {asks}", Role.WEIGHTS, to_array(trace.weights(head, [row])[0])),
        Line(f"column {column + 1} of V", Role.VALUE, to_array(trace.value_of(head)[:, column])),
        rf"C_{{{row + 1},{column + 1}}}",
        value,
        trace_labels(trace),
    )


def _after(
    problem: Problem, trace: AttentionTrace, step: Step, row: int, column: int, value: float
) -> Arithmetic | None:
    d_v = trace.value.shape[-1]
    asks = trace.story.query_axis.labels[row]
    if step.name == "merged":
        headline = f"Column {column % d_v + 1} of the context of head {column // d_v + 1}"
        return Arithmetic(headline, (), (), None, rf"C_{{{row + 1},{column + 1}}} = {number(value)}", value)
    collected = np.concatenate([to_array(trace.context(head)[row]) for head in range(trace.n_heads)])
    if step.name == "output":
        return _products(
            f"The context of {asks} times column {column + 1} of W_O",
            Line(f"context of {asks}", Role.CONTEXT, collected),
            Line(f"column {column + 1} of W_O", Role.OUTPUT, problem.tables["W_O"][:, column].astype(float)),
            rf"O_{{{row + 1},{column + 1}}}",
            value,
        )
    typed = float(problem.tables[problem.query_table][row, column])
    found = value - typed if problem.mode != Mode.DIRECT else float(collected[column])
    headline = f"What {asks} was, plus what it found"
    way = rf"{number(typed)} + {number(found) if found >= 0 else f'({number(found)})'}"
    return Arithmetic(headline, (), (), None, rf"Z_{{{row + 1},{column + 1}}} = {way} = {number(value)}", value)
