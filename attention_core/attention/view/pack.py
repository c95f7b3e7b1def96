"""Heads in few bytes: rounded factors of their scores, and corrections where weights would be wrong.

A softmax does not see what is added to a whole row of scores. Of the rest a few directions carry nearly all: queries
and keys are turned so that each dimension of one meets one of the other, and rounded with the same step, so that weak
dimensions vanish. Where the weights of the rounded ones are wrong by more than a tolerance the error is kept too. Where
that leaves no room, in sharp heads of many directions, only weights above the tolerance are kept; the others of a row
share what is left of it evenly.
"""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Iterable, Sequence
from functools import reduce
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import ALL, Axis, Role, Step
from attention_core.device import to_array

TOLERANCE = 0.0018  # error of a weight that is left as it is
STEP = 1 / 512  # of a corrected weight, whose error is half of it at most
SPARSE_STEP = 1.9  # the same where only large weights are kept, times the tolerance
NOISE = tuple(0.0005 * 2 ** (step / 2) for step in range(25))
"""Errors of scores that are tried, the finest first; a file has room for so much."""
BYTES_OF_A_HEAD = 830  # times the root of its number of queries: 9 kB at 128, 19 kB at 512
MAX_RANK = 64  # dimensions of scores that are no products of queries and keys
FAINT = 0.4  # of a step: a dimension whose numbers are that small is left out
COARSER = 6  # doublings of the tolerance that are tried where there is less room
MAX_STEPS = 32_000  # numbers of 16 bits hold no more
CODES = 1024  # of a strength for each power of 2
MAX_NUMBER = 1e30  # of a query or key: products of larger ones are no numbers; corrections make up for it
SAMPLE = 32  # rows of which the corrections are counted, to tell the size of a head
BYTES_OF_A_CELL = 1.7  # of a correction, about
UNSURE = 1.3  # times the room: what is estimated to take more is not tried
FORBIDDEN = -30.0  # a score so far below the largest of its row adds nothing to a weight


class PackedHead(NamedTuple):
    """One head in bytes, and how coarse it had to be."""

    entry: dict[str, Any]  # what the script of the view reads
    error: float  # the largest error of a weight

    @property
    def size(self) -> int:
        """Bytes before they become text."""
        return len(self.entry["data"]) * 3 // 4


def pack_head(trace: AttentionTrace, head: int, max_bytes: int | None = None) -> PackedHead:
    """Return a head as fine as there is room for, max_bytes: where it has to, the tolerance grows.

    Without max_bytes there is room for BYTES_OF_A_HEAD, and TOLERANCE stays.
    """
    room = round(BYTES_OF_A_HEAD * math.sqrt(trace.n_queries)) if max_bytes is None else max_bytes
    last = len(NOISE) + (1 if max_bytes is None else COARSER)
    matrix = _Matrix.of(trace, head)
    level, estimate = matrix.finest(room)
    packed = []
    if estimate <= room * UNSURE:
        packed.append(matrix.packed(level))
        if packed[0].size > room and level + 1 < len(NOISE):
            packed.append(matrix.packed(level + 1))
        if packed[-1].size <= room:
            return packed[-1]
    for sparse in range(len(NOISE), last):
        packed.append(matrix.packed(sparse))
        if packed[-1].size <= room:
            break
    if estimate < min(head.size for head in packed):
        packed.append(matrix.packed(level))
    return min(packed, key=attrgetter("size"))


def text_of(data: bytes, strategy: int = zlib.Z_DEFAULT_STRATEGY) -> str:
    """Return bytes as the text in which they travel: deflated, base64."""
    deflate = zlib.compressobj(3, strategy=strategy)  # 6 takes three times as long for a twentieth less
    return base64.b64encode(deflate.compress(data) + deflate.flush()).decode()


def planes(numbers: np.ndarray) -> bytes:
    """Return whole numbers of 16 bits as their lower bytes, then their upper ones, which are nearly all 0."""
    return np.ascontiguousarray(numbers.astype("<u2").view(np.uint8).reshape(-1, 2).T).tobytes()


class _Matrix(NamedTuple):
    """A head to be packed.

    The product of left, strengths and right is the scores, but for what is the same in a whole row; without a softmax
    the weights.
    """

    weights: np.ndarray  # (n_queries, n_keys)
    allowed: np.ndarray | None  # bool, as large, True = may attend; None = all
    has_softmax: bool
    strengths: np.ndarray  # (r,), singular values
    left: np.ndarray  # (n_queries, r), orthonormal columns times strengths and the root of n_queries
    right: np.ndarray  # (n_keys, r), the same of n_keys

    @classmethod
    def of(cls, trace: AttentionTrace, head: int) -> _Matrix:
        weights, allowed = to_array(trace.weights(head).float().nan_to_num()), trace.allowed(head)
        factors = _factors_of_products(trace, head) or _leading_factors(_scores(trace, head))
        left, strengths, right = map(to_array, factors)
        sides = [(side * (strengths * math.sqrt(len(side)))).astype(np.float32) for side in (left, right)]
        return cls(weights, None if allowed is None else to_array(allowed), trace.has_softmax, strengths, *sides)

    def finest(self, room: int) -> tuple[int, float]:
        """Return the finest level that is likely to fit, and its bytes; where none is, the one of the fewest.

        A dimension takes the entropy of normal numbers in steps; how many weights need a correction, some rows tell.
        """
        rows = np.linspace(0, len(self.weights) - 1, min(SAMPLE, len(self.weights))).astype(int)
        sample = self._replace(weights=self.weights[rows], allowed=None if self.allowed is None else self.allowed[rows])
        best = (len(NOISE) - 1, math.inf)
        for level, noise in enumerate(NOISE):
            steps = self.strengths / self._unit(noise)
            bits = np.log2(1 + (4.13 * steps[steps > FAINT]) ** 2).sum() / 2
            size = 1.08 * sum(self.weights.shape) * bits / 8
            if size <= room * UNSURE or level == len(NOISE) - 1:
                missed = np.abs(sample.weights - sample._approximation(self._rounded(noise, rows)[-1])) > TOLERANCE
                size += BYTES_OF_A_CELL * missed.sum() * len(self.weights) / len(rows)
                best = min(best, (level, size), key=itemgetter(1))
                if size <= room:
                    break
        return best

    def packed(self, level: int) -> PackedHead:
        is_sparse = level >= len(NOISE)
        tolerance = TOLERANCE * 2.0 ** max(0, level - len(NOISE))
        codes, sides, unit, scores = self._rounded(NOISE[level]) if not is_sparse else _NOTHING
        error = self.weights.copy() if is_sparse else self.weights - self._approximation(scores)
        cells = np.flatnonzero(np.abs(error) > tolerance)
        rows, columns = np.divmod(cells, self.weights.shape[1])
        step = SPARSE_STEP * tolerance if is_sparse else STEP
        steps = np.rint(error.flat[cells] / step).clip(-32768, 32767)
        gaps = np.where(np.diff(rows, prepend=-1) > 0, columns, np.diff(columns, prepend=0))
        error.flat[cells] -= steps * step
        totals = self._totals()
        if is_sparse and self.has_softmax:
            free = np.ones(error.shape, dtype=bool) if self.allowed is None else self.allowed.copy()
            free.flat[cells] = False
            remainder = totals - self.weights.sum(-1) + error.sum(-1)
            error -= free * (remainder / free.sum(-1).clip(1)).clip(0, tolerance)[:, None]
        is_normalised = bool((np.abs(totals - 1) < 1e-3).all())
        counts = np.bincount(rows, minlength=len(self.weights))
        arrays = [codes, *(_signed(side.T.ravel()) for side in sides), counts, gaps, _signed(steps)]
        arrays += [] if is_normalised else [np.rint(65535 * totals)]
        data = text_of(planes(np.concatenate(arrays)), zlib.Z_RLE)
        entry = dict(rank=len(codes), cells=len(columns), unit=unit, step=step, whole=is_normalised, sparse=is_sparse)
        return PackedHead({**entry, "data": data}, float(np.abs(error).max(initial=0)))

    def _unit(self, noise: float) -> float:
        unit = noise * math.sqrt(6 * math.prod(self.shape) / max(len(self.strengths), 1))  # each dimension adds as much
        return max(unit, *(float(np.abs(side).max(initial=0)) / MAX_STEPS for side in (self.left, self.right)))

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.left), len(self.right)

    def _rounded(self, noise: float, rows: Any = ALL) -> tuple[np.ndarray, list[np.ndarray], float, np.ndarray]:
        """Return codes of the strengths, both sides in steps, the unit of a step, and the scores of some rows."""
        unit = self._unit(noise)
        rank = int((self.strengths > FAINT * unit).sum())
        codes = np.rint(CODES * np.log2(self.strengths[:rank])) + 32768
        strengths = 2.0 ** ((codes - 32768) / CODES)
        factor = (strengths / self.strengths[:rank] / unit).astype(np.float32)
        sides = [np.rint(side[:, :rank] * factor) for side in (self.left[rows], self.right)]
        scale = unit**2 / (strengths * math.sqrt(math.prod(self.shape)))
        scores = torch.from_numpy(sides[0] * scale.astype(np.float32)) @ torch.from_numpy(sides[1]).mT
        return codes, sides, unit, to_array(scores)

    def _totals(self) -> np.ndarray:
        return self.weights.sum(-1).clip(0, 1) if self.has_softmax else np.ones(len(self.weights))

    def _approximation(self, scores: np.ndarray) -> np.ndarray:
        allowed = True if self.allowed is None else self.allowed
        if self.has_softmax:
            scores = np.where(allowed, scores, -1e30)
            powers = np.exp(scores - scores.max(-1, keepdims=True, initial=-1e30))
            scores = powers * (self._totals() / powers.sum(-1).clip(1e-30)).astype(np.float32)[:, None]
        return np.where(allowed, scores, 0)


_NOTHING: Any = (np.zeros(0), [], 0.0, None)
Factors = tuple[Tensor, Tensor, Tensor]


def _factors_of_products(trace: AttentionTrace, head: int) -> Factors | None:
    """Return the factors of scores that are products of queries and keys; None where they are anything else."""
    factor = trace.score.dot_factor(trace.key.shape[-1])
    if not trace.has_softmax or factor is None or trace.bias is not None or trace.edits or not trace.key.shape[-1]:
        return None
    vectors = (tensor.detach().cpu().double().nan_to_num(0) for tensor in (trace.query[head], trace.key_of(head)))
    query, key = (tensor.clamp(-MAX_NUMBER, MAX_NUMBER) for tensor in vectors)
    (left, turned), (right, back) = map(_orthonormal, (query * factor, key - key.mean(0)))
    inner, strengths, outer = torch.linalg.svd(turned @ back.mT)
    rank = min(len(query), len(key), len(strengths))
    return left @ inner[:, :rank], strengths[:rank], right @ outer.mT[:, :rank]


def _orthonormal(vectors: Tensor) -> tuple[Tensor, Tensor]:
    """Return orthonormal columns and a square matrix whose product the vectors (n, d) are.

    By the products of dimensions with each other, which are few: to make n rows orthogonal takes ten times as long.
    """
    squares, turn = torch.linalg.eigh(vectors.mT @ vectors)
    lengths = squares.clamp(min=0).sqrt()
    lengths = lengths.where(lengths > 1e-7 * lengths.max(), 0)
    return vectors @ (turn * (1 / lengths).nan_to_num(posinf=0)), lengths[:, None] * turn.mT


def _scores(trace: AttentionTrace, head: int) -> Tensor:
    """Return the scores, or without a softmax the weights: finite, and 0 where a query may not attend."""
    if not trace.has_softmax:
        return trace.weights(head).detach().cpu().double().nan_to_num()
    scores, allowed = trace.masked_scores(head).detach().cpu().double(), trace.allowed(head)
    scores = scores - scores.amax(-1, keepdim=True).nan_to_num(0, 0, 0)
    scores = scores.nan_to_num(0, 0, FORBIDDEN).clamp(min=FORBIDDEN)
    allowed = torch.ones_like(scores, dtype=torch.bool) if allowed is None else allowed.cpu()
    means = (scores * allowed).sum(-1, keepdim=True) / allowed.sum(-1, keepdim=True).clamp(min=1)
    return (scores - means).masked_fill(~allowed, 0)


def _leading_factors(matrix: Tensor) -> Factors:
    """Return the strongest directions of a matrix. Source: Halko et al. 2011, "Finding Structure with Randomness"."""
    rank = min(MAX_RANK, *matrix.shape)
    sample = torch.randn(matrix.shape[1], rank, generator=torch.Generator().manual_seed(0)).to(matrix)
    for _ in range(2):
        sample = torch.linalg.qr(matrix.mT @ (matrix @ sample))[0]
    reach = torch.linalg.qr(matrix @ sample)[0]
    inner, strengths, right = torch.linalg.svd(reach.mT @ matrix, full_matrices=False)
    return reach @ inner, strengths, right.mT


def _signed(numbers: np.ndarray) -> np.ndarray:
    """Return whole numbers of either sign as 0, -1, 1, -2, 2 ... would be counted."""
    integers = numbers.astype(np.int32)
    return (integers << 1) ^ (integers >> 31)


LARGEST_SIDE, LARGEST_ORIGIN = 392, 196
"""Rows and columns of a step, and of what it is made of, with more numbers than a square of that: of each block the
strongest is kept."""
FINE, COARSE = 65534, 254
"""Steps between the lowest and the highest number; of a matrix in blocks only its colours can be seen."""
AS_THEY_ARE = 16_384
"""Bytes of a matrix that are not deflated, up to so many: a browser would inflate them some frames later."""


def step_data(
    trace: AttentionTrace,
    step: Step,
    head: int = 0,
    query: int | None = None,
    side: int = LARGEST_SIDE,
    column_indices: Sequence[int] | None = None,
) -> dict[str, Any]:
    """Return what the view of a step reads, as JSON has it; `side` bounds the rows and columns that are sent.

    `column_indices` are of the columns that are sent, None = all.
    """
    columns = ALL if column_indices is None else [*column_indices]
    origin, values = step.origin(head), _array(step.value(head))[:, columns]
    before, factors = (origin.matrices, ()) if len(origin.matrices) == 1 else ((), origin.matrices)
    coarse = min(side // 2, LARGEST_ORIGIN)
    grid, is_flat = step.picture if values.size <= side**2 else (None, False)
    labels = axis_labels(step.col_axis, side, values.size)
    return {
        **{name: getattr(step, name) for name in ("title", "symbol", "role")},
        **matrix_data(values, side),
        "rows": axis_labels(step.row_axis, side, values.size),
        "columns": labels if column_indices is None else tuple(labels[index] for index in column_indices),
        "names": [step.row_axis.name, step.col_axis.name],
        "grid": grid and list(grid),
        "flat": is_flat,
        "ink": step.role is Role.INPUT and step.shape[1] == 1 and step.row_axis.grid is not None,
        "isQuery": step.row_axis is trace.story.query_axis,
        "query": query,
        "kind": origin.kind,
        "before": next(
            ({"role": matrix.role, **matrix_data(_array(matrix.numbers)[:, columns], coarse)} for matrix in before),
            None,
        ),
        "factors": [
            {"symbol": factor.symbol, "role": factor.role, **matrix_data(_array(factor.numbers), coarse)}
            for factor in factors
        ],
    }


def share_parts(steps: Iterable[dict[str, Any]]) -> list[Any]:
    """Return numbers and labels of steps' data, equal ones once, and leave their places in it."""
    indices: dict[Any, int] = {}
    for step in steps:
        for matrix in filter(None, [step, step["before"], *step["factors"]]):
            shared = {"data", "rows", "columns"} & matrix.keys()
            matrix |= {name: indices.setdefault(matrix[name], len(indices)) for name in shared}
    return [*indices]


def _array(numbers: Tensor) -> np.ndarray:
    return to_array(numbers.float())


def matrix_data(values: np.ndarray, side: int) -> dict[str, Any]:
    """Return a matrix with its numbers as codes from the lowest to the highest finite one, 1 and up; 0 is neither.

    A code is a share of the way, or its root where small numbers have to be told apart in few steps.
    """
    full_shape, steps = values.shape, FINE
    if values.size > side**2:
        values, steps = _strongest(_strongest(values, 0, side), 1, side), COARSE
    finite = np.isfinite(values)
    low, high = (float(edge(values[finite])) if finite.any() else 0.0 for edge in (np.min, np.max))
    if low < 0 < high:
        low, high = min(low, -high), max(-low, high)  # so that 0 stays 0
    share, power = np.divide(np.where(finite, values, low) - low, (high - low) or 1.0), 1
    if steps == COARSE and low >= 0:
        share, power = np.sqrt(share), 2
    coded = np.where(finite, 1 + np.rint(steps * share), 0)
    data = planes(coded.ravel())
    text = text_of(data) if len(data) > AS_THEY_ARE else f"={base64.b64encode(data).decode()}"
    scale = {"low": low, "high": high, "steps": steps, "power": power}
    return {"shape": list(values.shape), "whole": list(full_shape), **scale, "data": text}


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
    along = np.moveaxis(matrix, axis, 0)
    filled = np.concatenate([along, along[-1:].repeat(-n % each, 0)])
    of_block = [filled[offset::each] for offset in range(each)]
    high, low = (np.moveaxis(reduce(strongest, of_block), 0, axis) for strongest in (np.maximum, np.minimum))
    return np.where(np.abs(low) > np.abs(high), low, high) if np.isfinite(low).all() else high
