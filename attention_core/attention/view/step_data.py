"""A step as data that one view draws and moves: its numbers, and those of which they come."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from attention_core.attention.origins import origin_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Role, Step
from attention_core.attention.view.pack import planes, text_of
from attention_core.device import to_array

LARGEST_SIDE, LARGEST_ORIGIN = 392, 196
"""Rows and columns of a step, and of what it is made of, with more numbers than a square of that: of each block the
strongest is kept."""
FINE, COARSE = 65534, 254
"""Steps between the lowest and the highest number; of a matrix in blocks only its colours can be seen."""


def step_data(
    trace: AttentionTrace, step: Step, head: int = 0, query: int | None = None, side: int = LARGEST_SIDE
) -> dict[str, Any]:
    """Return what the view of a step reads, as JSON has it; `side` bounds the rows and columns that are sent."""
    origin, values = origin_of(trace, step, head), _numbers(step, head)
    coarse, before = min(side // 2, LARGEST_ORIGIN), origin.before
    return {
        **{name: getattr(step, name) for name in ("title", "symbol", "role")},
        **matrix_data(values, side),
        "rows": axis_labels(step.row_axis, side, values.size),
        "columns": axis_labels(step.col_axis, side, values.size),
        "names": [step.row_axis.name, step.col_axis.name],
        "grid": list(step.row_axis.grid) if step.row_axis.grid and step.col_axis.grid is None else None,
        "ink": step.role is Role.INPUT and step.shape[1] == 1 and step.row_axis.grid is not None,
        "isQuery": step.row_axis is trace.story.query_axis,
        "query": query,
        "kind": origin.kind,
        "before": before and {"role": before.role, **matrix_data(_numbers(before, head), coarse)},
        "factors": [
            {"symbol": symbol, "role": role, **matrix_data(values, coarse)} for symbol, role, values in origin.factors
        ],
    }


def share_parts(steps: Iterable[dict[str, Any]]) -> list[Any]:
    """Return numbers and labels of steps' data, equal ones once, and leave their places in it."""
    parts: dict[Any, int] = {}
    for step in steps:
        for one in filter(None, [step, step["before"], *step["factors"]]):
            one |= {name: parts.setdefault(one[name], len(parts)) for name in {"data", "rows", "columns"} & one.keys()}
    return [*parts]


def _numbers(step: Step, head: int) -> np.ndarray:
    return to_array(step.value(head).float())


def matrix_data(values: np.ndarray, side: int) -> dict[str, Any]:
    """Return a matrix with its numbers as codes from the lowest to the highest finite one, 1 and up; 0 is neither.

    A code is a share of the way, or its root where small numbers have to be told apart in few steps.
    """
    whole, steps = values.shape, FINE
    if values.size > side**2:
        values, steps = _strongest(_strongest(values, 0, side), 1, side), COARSE
    finite = np.isfinite(values)
    low, high = (float(edge(values[finite])) if finite.any() else 0.0 for edge in (np.min, np.max))
    share, power = np.divide(np.where(finite, values, low) - low, (high - low) or 1.0), 1
    if steps == COARSE and low >= 0:
        share, power = np.sqrt(share), 2
    coded = np.where(finite, 1 + np.rint(steps * share), 0)
    data = text_of(planes(coded.ravel()))
    scale = {"low": low, "high": high, "steps": steps, "power": power}
    return {"shape": list(values.shape), "whole": list(whole), **scale, "data": data}


def axis_labels(axis: Axis, side: int, size: int) -> tuple[str, ...]:
    """Return the labels of the rows or columns that are sent of a matrix of so many numbers."""
    each = -(-len(axis) // side) if size > side**2 else 1
    return tuple(map(str, axis.labels[::each]))


def _strongest(matrix: np.ndarray, axis: int, side: int) -> np.ndarray:
    """Return the matrix with at most so many numbers along an axis: of each block the one largest in size."""
    n = matrix.shape[axis]
    each = -(-n // side)
    if each < 2:
        return matrix
    starts = np.arange(0, n, each)
    high, low = np.maximum.reduceat(matrix, starts, axis), np.minimum.reduceat(matrix, starts, axis)
    return np.where(np.abs(low) > np.abs(high), low, high) if np.isfinite(low).all() else high
