"""Three ways to tell attention where a word stands: sinusoidal, learned, rotary.

Rotary places turn each pair of a vector's numbers by an angle that grows with the place. A dot product of two turned
vectors depends on the difference of their places alone, so that attention can say "two pixels to the left" wherever it
stands. Source: Su et al. 2021, "RoFormer", section 3.2; for pictures with two-dimensional waves.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

LONGEST_WAVE = 10_000.0


def sinusoidal(n: int, d: int) -> Tensor:
    """Return one vector per position, (n, d), d even: even dimensions are sines, odd ones cosines of ever slower waves.

    Source: Vaswani et al. 2017, section 3.5.
    """
    if d % 2:
        raise ValueError(f"d must be even, got {d}")
    angles = rotary_angles(n, d)
    return torch.stack((angles.sin(), angles.cos()), -1).flatten(1)


def rotary_angles(n: int, d: int) -> Tensor:
    """Return by how much each pair of numbers is turned at each position, (n, d / 2) radians.

    Source: Su et al. 2021, "RoFormer", section 3.2.
    """
    frequencies = [math.exp(-math.log(LONGEST_WAVE) * pair / d) for pair in range(0, d, 2)]
    return torch.arange(n)[:, None] * torch.tensor(frequencies)


def dot_products(vectors: Tensor) -> Tensor:
    """Return p_i . p_j for all pairs of positions, (n, n), from vectors (n, d)."""
    return vectors @ vectors.T


def rotary_scores(query: Tensor, key: Tensor, n: int) -> Tensor:
    """Return the scores of one query (d,) and one key (d,), turned to each pair of positions, (n, n).

    Source: Su et al. 2021, "RoFormer", eq. 16: they depend on the difference of the positions alone.
    """
    angles = rotary_angles(n, len(query))
    return turn(query.expand(n, -1), angles) @ turn(key.expand(n, -1), angles).T


def alike_pair(d: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Return a random query (d,) of length 1 and the key that it likes best: itself."""
    query = torch.nn.functional.normalize(torch.randn(d, generator=torch.Generator().manual_seed(seed)), dim=0)
    return query, query.clone()


class ByDistance(NamedTuple):
    """A matrix over pairs of positions, seen by their distance."""

    distances: Tensor  # int64 (m,), j - i, rising
    mean: Tensor  # (m,) over the pairs of that distance
    low: Tensor  # (m,) lowest
    high: Tensor  # (m,) highest; low = high everywhere: only the distance counts


def by_distance(matrix: Tensor, most: int | None = None) -> ByDistance:
    """Return mean and range of each diagonal of a matrix (n, n), for distances up to `most` either way.

    Diagonals near the corners hold few pairs; most = n // 2 if None.
    """
    n = len(matrix)
    reach = min(n // 2 if most is None else most, n - 1)
    diagonals = [matrix.diagonal(offset) for offset in range(-reach, reach + 1)]
    return ByDistance(
        torch.arange(-reach, reach + 1),
        torch.stack([diagonal.mean() for diagonal in diagonals]),
        torch.stack([diagonal.min() for diagonal in diagonals]),
        torch.stack([diagonal.max() for diagonal in diagonals]),
    )


def turn(vectors: Tensor, angles: Tensor) -> Tensor:
    """Turn pairs of numbers, i and i + d / 2 of vectors (..., n, d), by angles (n, d / 2) in radians."""
    first, second = vectors.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat((first * cos - second * sin, first * sin + second * cos), dim=-1)


def plane_waves(n: int, frequency: float) -> Tensor:
    """Return n waves that run in directions spread over half a circle, (n, 2) radians per pixel."""
    directions = (torch.arange(n) + 0.5) * math.pi / max(n, 1)
    return frequency * torch.stack((directions.cos(), directions.sin()), 1)


def places(side: int, full_side: int) -> Tensor:
    """Return where a picture's cells lie, (side * side, 2) rows and columns in full-size pixels from its middle."""
    line = (torch.arange(side) + 0.5) * (full_side / side) - full_side / 2
    return torch.stack(torch.meshgrid(line, line, indexing="ij"), -1).reshape(-1, 2)
