"""A step as data that one view draws and moves: its numbers, and those of which they are made.

The line of PyTorch that the step shows says what is multiplied with what, and what is changed. So a new mechanism moves
without a line of JavaScript.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from attention_core.attention.steps import steps_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Role, Step
from attention_core.attention.view.pack import planes, text_of
from attention_core.device import to_array

TURNED = r"(\.T|\.transpose\(-2, -1\))?"
PRODUCT = re.compile(rf"(\w+){TURNED} @ (\w+){TURNED}")
LARGEST_SIDE, LARGEST_ORIGIN = 392, 196
"""Rows and columns of a step, and of what it is made of, with more numbers than a square of that: of each block the
strongest is kept."""
FINE, COARSE = 65534, 254
"""Steps between the lowest and the highest number; of a matrix in blocks only its colours can be seen."""
SYMBOLS = {"query": "Q", "key": "K", "value": "V", "weights": "A", "context": "C"}


class Factor(NamedTuple):
    """One of two matrices whose product a step shows."""

    symbol: str
    role: Role
    values: np.ndarray  # float (n_rows, n_columns)


class Origin(NamedTuple):
    """How the numbers of a step come about, out of those of earlier steps.

    Attributes:
        kind: "product" of two matrices; "pairs", where each row of one is compared with each column of the other in
            another way; "softmax", "mask" or "change" of a matrix of the same shape; "" where nothing can be said.
        factors: the two matrices, or none.
        before: the step whose matrix is changed, or None.
    """

    kind: str = ""
    factors: tuple[Factor, ...] = ()
    before: Step | None = None


def origin_of(trace: AttentionTrace, step: Step, head: int = 0) -> Origin:
    """Return how the numbers of a step of a trace come about."""
    earlier = []
    for one in steps_of(trace):
        if one.name == step.name:
            break
        earlier.append(one)
    by_name = {one.assigns: one for one in earlier}
    if match := PRODUCT.search(step.code):
        names, turned = match.groups()[::2], match.groups()[1::2]
        left, right = (_factor(*one, step, by_name, head) for one in zip(names, map(bool, turned), strict=True))
        fits = left and right and left.values.shape[1] == right.values.shape[0]
        if left and right and fits and (left.values.shape[0], right.values.shape[1]) == step.shape:
            return Origin("product", (left, right))
    for before in reversed(earlier):
        if before.shape != step.shape or not re.search(rf"\b{before.assigns}\b", step.code):
            continue
        kinds = {"softmax": ".softmax(", "mask": "masked_fill("}
        return Origin(next((kind for kind, call in kinds.items() if call in step.code), "change"), before=before)
    if step.role is Role.SCORES and step.shape == (trace.n_queries, trace.n_keys):
        queries, keys = (_floats(one) for one in (trace.query[head], trace.key_of(head)))
        if queries.shape[1] and queries.shape[1] == keys.shape[1]:
            return Origin("pairs", (Factor("Q", Role.QUERY, queries), Factor("Kᵀ", Role.KEY, keys.T)))
    return Origin()


def _floats(values: Tensor) -> np.ndarray:
    return to_array(values.detach().float())


def _factor(name: str, turned: bool, step: Step, earlier: dict[str, Step], head: int) -> Factor | None:
    """Return the matrix that the step's code has under a name, as an earlier step or one of its inputs has it."""
    if name in earlier:
        role, values = earlier[name].role, _floats(earlier[name].value(head))
    else:
        named = step.names(head).get(name)
        if not isinstance(named, Tensor) or named.ndim != 2:
            return None
        values = _floats(named)
        role = Role(name) if name in set(Role) else step.role if "_" in name else Role.INPUT
    symbol = SYMBOLS.get(name, name if "_" in name else name[0].upper())
    return Factor(f"{symbol}ᵀ", role, values.T) if turned else Factor(symbol, role, values)


def step_data(
    trace: AttentionTrace, step: Step, head: int = 0, query: int | None = None, side: int = LARGEST_SIDE
) -> dict[str, Any]:
    """Return what the view of a step reads, as JSON has it; `side` bounds the rows and columns that are sent."""
    origin, values = origin_of(trace, step, head), _floats(step.value(head))
    coarse, before = min(side, LARGEST_ORIGIN), origin.before
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
        "before": before and {"role": before.role, **matrix_data(_floats(before.value(head)), coarse)},
        "factors": [
            {"symbol": symbol, "role": role, **matrix_data(values, coarse)} for symbol, role, values in origin.factors
        ],
    }


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


def axis_labels(axis: Axis, side: int, size: int) -> Sequence[str]:
    """Return the labels of the rows or columns that are sent of a matrix of so many numbers."""
    each = -(-len(axis) // side) if size > side**2 else 1
    return [str(label) for label in axis.labels[::each]]


def _strongest(matrix: np.ndarray, axis: int, side: int) -> np.ndarray:
    """Return the matrix with at most so many numbers along an axis: of each block the one largest in size."""
    n = matrix.shape[axis]
    each = -(-n // side)
    if each < 2:
        return matrix
    starts = np.arange(0, n, each)
    high, low = np.maximum.reduceat(matrix, starts, axis), np.minimum.reduceat(matrix, starts, axis)
    return np.where(np.abs(low) > np.abs(high), low, high) if np.isfinite(low).all() else high
