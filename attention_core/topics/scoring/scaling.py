"""Why scores are divided by sqrt(d_k): measured over random vectors.

The dot product of two vectors of d_k independent numbers of variance 1 has variance d_k. Source: Vaswani et al. 2017,
footnote 4.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

DIMENSIONS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


@dataclass(frozen=True)
class ScaleRow:
    """What was measured for one d_k."""

    d_k: int  # numbers in a vector
    scaled: bool  # whether scores were divided by sqrt(d_k)
    variance: float  # of the scores q . k.
    entropy: float  # of the weights, in bits, mean over queries; log2(n_keys) = all alike
    largest: float  # largest weight, mean over queries
    gradient: float  # Frobenius norm of the softmax's Jacobian, mean over queries; 0 = nothing can be learned any more


def random_scores(d_k: int, *, n_queries: int, n_keys: int, seed: int = 0) -> Tensor:
    """Return q . k for random queries with n_keys random keys each, (n_queries, n_keys); numbers have variance 1."""
    generator = torch.Generator().manual_seed(seed * 4099 + d_k)
    query = torch.randn(n_queries, 1, d_k, generator=generator)
    key = torch.randn(n_queries, n_keys, d_k, generator=generator)
    return (query * key).sum(-1)


def softmax_jacobian_norm(weights: Tensor) -> Tensor:
    """Return the Frobenius norm of d weights / d scores = diag(w) - w w^T, for weights (..., n_keys)."""
    squares = weights.square().sum(-1)
    return (squares - 2 * weights.pow(3).sum(-1) + squares.square()).clamp(min=0).sqrt()


def measure_scale(
    *, n_queries: int = 512, n_keys: int = 16, seed: int = 0, dimensions: tuple[int, ...] = DIMENSIONS
) -> list[ScaleRow]:
    """Measure scores and softmax for each d_k, without and with the division by sqrt(d_k)."""
    rows = []
    for d_k in dimensions:
        raw = random_scores(d_k, n_queries=n_queries, n_keys=n_keys, seed=seed)
        for scaled in (False, True):
            scores = raw / math.sqrt(d_k) if scaled else raw
            weights = scores.softmax(-1)
            rows.append(
                ScaleRow(
                    d_k=d_k,
                    scaled=scaled,
                    variance=scores.var().item(),
                    entropy=(-torch.xlogy(weights, weights).sum(-1) / math.log(2)).mean().item(),
                    largest=weights.amax(-1).mean().item(),
                    gradient=softmax_jacobian_norm(weights).mean().item(),
                )
            )
    return rows


def example_weights(d_k: int, *, n_keys: int = 16, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Return one query's weights over n_keys random keys, largest first: without the division, and with it."""
    scores = random_scores(d_k, n_queries=1, n_keys=n_keys, seed=seed)[0].sort(descending=True).values
    return scores.softmax(-1), (scores / math.sqrt(d_k)).softmax(-1)
