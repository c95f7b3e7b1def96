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
from bisect import bisect_left
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
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
FORBIDDEN = -30.0  # a score so far below the largest of its row adds nothing to a weight


class PackedHead(NamedTuple):
    """One head in bytes, and how coarse it had to be."""

    entry: dict[str, Any]  # what the script of the view reads
    level: int  # of the ladder of NOISE, then of tolerances
    error: float  # the largest error of a weight


def pack_head(trace: AttentionTrace, head: int, near: int = 0, most_bytes: int | None = None) -> PackedHead:
    """Return a head as fine as there is room for, most_bytes: where it has to, the tolerance grows.

    Near is a level that may be the right one, such as that of the head before. Without most_bytes there is room for
    BYTES_OF_A_HEAD, and TOLERANCE stays.
    """
    room = round(BYTES_OF_A_HEAD * math.sqrt(trace.n_queries)) if most_bytes is None else most_bytes
    last = len(NOISE) + (1 if most_bytes is None else COARSER)
    matrix = _Matrix.of(trace, head)
    by_level: dict[int, PackedHead] = {}

    def size(level: int) -> int:
        if level not in by_level:
            by_level[level] = matrix.packed(level)
        return len(by_level[level].entry["data"]) * 3 // 4

    def is_enough(level: int) -> bool:  # finer takes more room; from some level on coarser does too, for corrections
        return size(level) <= room or (level < len(NOISE) - 1 and size(level) <= size(level + 1))

    near = min(near, len(NOISE) - 1)
    if not is_enough(near) or (near > 0 and is_enough(near - 1)):
        near = bisect_left(range(len(NOISE) - 1), True, key=is_enough)
    if size(near) <= room:
        return by_level[near]
    sparse = next((level for level in range(len(NOISE), last) if size(level) <= room), last - 1)
    return by_level[min((near, sparse), key=size)]


def text_of(data: bytes, strategy: int = zlib.Z_DEFAULT_STRATEGY) -> str:
    """Return bytes as the text in which they travel: deflated, base64."""
    deflate = zlib.compressobj(9, strategy=strategy)
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
    left: np.ndarray  # (n_queries, r), orthonormal columns
    strengths: np.ndarray  # (r,), singular values
    right: np.ndarray  # (n_keys, r), orthonormal columns

    @classmethod
    def of(cls, trace: AttentionTrace, head: int) -> _Matrix:
        weights, allowed = to_array(trace.weights(head).float().nan_to_num()), trace.allowed(head)
        factors = _factors_of_products(trace, head) or _leading_factors(_scores(trace, head))
        seen = None if allowed is None else to_array(allowed)
        return cls(weights, seen, trace.has_softmax, *map(to_array, factors))

    def packed(self, level: int) -> PackedHead:
        is_sparse = level >= len(NOISE)
        tolerance = TOLERANCE * 2.0 ** max(0, level - len(NOISE))
        codes, sides, unit, approximation = self._rounded(NOISE[level]) if not is_sparse else _NOTHING
        totals = self.weights.sum(-1).clip(0, 1) if self.has_softmax else np.ones(len(self.weights))
        is_whole = bool((np.abs(totals - 1) < 1e-3).all())
        shares = np.rint(65535 * totals)
        if not is_sparse:
            approximation = self._masked(self._softmax(approximation, totals) if self.has_softmax else approximation)
        cells = np.abs(self.weights - approximation) > tolerance
        rows, columns = np.nonzero(cells)
        step = SPARSE_STEP * tolerance if is_sparse else STEP
        steps = np.rint((self.weights - approximation)[cells] / step).clip(-32768, 32767)
        gaps = np.where(np.diff(rows, prepend=-1) > 0, columns, np.diff(columns, prepend=0))
        unpacked = np.broadcast_to(approximation, self.weights.shape).copy()
        unpacked[cells] += steps * step
        if is_sparse and self.has_softmax:
            free = self._masked(~cells)
            rest = (totals - unpacked.sum(-1)) / free.sum(-1).clip(1)
            unpacked += free * rest.clip(0, tolerance)[:, None]
        parts = [codes, *(_signed(side.T.ravel()) for side in sides), cells.sum(-1), gaps, _signed(steps)]
        data = text_of(planes(np.concatenate(parts if is_whole else [*parts, shares])), zlib.Z_RLE)
        known = {
            "rank": len(codes),
            "cells": len(columns),
            "unit": unit,
            "step": step,
            "whole": is_whole,
            "sparse": is_sparse,
        }
        return PackedHead({**known, "data": data}, level, float(np.abs(self.weights - unpacked).max(initial=0)))

    def _rounded(self, noise: float) -> tuple[np.ndarray, list[np.ndarray], float, np.ndarray]:
        """Return codes of the strengths, both sides in steps, the unit of a step, and the scores that these make."""
        n_queries, n_keys = self.weights.shape
        unit = noise * math.sqrt(6 * n_queries * n_keys / max(len(self.strengths), 1))  # each dimension adds as much
        sides = [side * self.strengths * math.sqrt(len(side)) for side in (self.left, self.right)]
        unit = max(unit, *(np.abs(side).max(initial=0) / MAX_STEPS for side in sides))
        rank = int((self.strengths > FAINT * unit).sum())
        codes = np.rint(CODES * np.log2(self.strengths[:rank])) + 32768
        strengths = 2.0 ** ((codes - 32768) / CODES)
        whole = [np.rint(side[:, :rank] * (strengths / self.strengths[:rank] / unit)) for side in sides]
        scale = unit**2 / (strengths * math.sqrt(n_queries * n_keys))
        scores = (whole[0] * scale).astype(np.float32) @ whole[1].astype(np.float32).T
        return codes, whole, unit, scores

    def _softmax(self, scores: np.ndarray, totals: np.ndarray) -> np.ndarray:
        if self.allowed is not None:
            scores = np.where(self.allowed, scores, -1e30)
        powers = np.exp(scores - scores.max(-1, keepdims=True, initial=-1e30))
        return powers * (totals / powers.sum(-1).clip(1e-30)).astype(np.float32)[:, None]

    def _masked(self, matrix: np.ndarray) -> np.ndarray:
        return matrix if self.allowed is None else np.where(self.allowed, matrix, 0)


_NOTHING: Any = (np.zeros(0), [], 0.0, np.float32(0))
Factors = tuple[Tensor, Tensor, Tensor]


def _factors_of_products(trace: AttentionTrace, head: int) -> Factors | None:
    """Return the factors of scores that are products of queries and keys; None where they are anything else."""
    factor = trace.score.dot_factor(trace.key.shape[-1])
    if not trace.has_softmax or factor is None or trace.bias is not None or trace.edits:
        return None
    query, key = (part.detach().cpu().double().nan_to_num() for part in (trace.query[head], trace.key_of(head)))
    (left, turned), (right, back) = map(torch.linalg.qr, (query * factor, key - key.mean(0)))
    inner, strengths, outer = torch.linalg.svd(turned @ back.mT, full_matrices=False)
    return left @ inner, strengths, right @ outer.mT


def _scores(trace: AttentionTrace, head: int) -> Tensor:
    """Return the scores, or without a softmax the weights: finite, and 0 where a query may not attend."""
    if not trace.has_softmax:
        return trace.weights(head).detach().cpu().double().nan_to_num()
    scores, allowed = trace.masked_scores(head).detach().cpu().double(), trace.allowed(head)
    scores = scores - scores.amax(-1, keepdim=True).nan_to_num(0, 0, 0)
    scores = scores.nan_to_num(0, 0, FORBIDDEN).clamp(min=FORBIDDEN)
    seen = torch.ones_like(scores, dtype=torch.bool) if allowed is None else allowed.cpu()
    means = (scores * seen).sum(-1, keepdim=True) / seen.sum(-1, keepdim=True).clamp(min=1)
    return (scores - means).masked_fill(~seen, 0)


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
    whole = numbers.astype(np.int32)
    return (whole << 1) ^ (whole >> 31)
