"""Rotary positions rotate each pair of a vector's numbers by an angle that grows with the position.

Attention knows no order. The dot product of two rotated vectors depends on the difference of their positions alone, so
that attention can express "two pixels to the left". Source: Su et al. 2021, "RoFormer", section 3.2; for pictures with
two-dimensional waves.
"""

import math

import torch
from torch import Tensor


def rotary_angles(n: int, d: int) -> Tensor:
    """Return by how much each pair of numbers is rotated at each position, (n, d / 2) radians.

    Source: Su et al. 2021, "RoFormer", section 3.2.
    """
    frequencies = [math.exp(-math.log(10_000.0) * pair / d) for pair in range(0, d, 2)]
    return torch.arange(n)[:, None] * torch.tensor(frequencies)


def rotate(vectors: Tensor, angles: Tensor) -> Tensor:
    """Rotate pairs of numbers, i and i + d / 2 of vectors (..., n, d), by angles (n, d / 2) in radians."""
    first, second = vectors.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat((first * cos - second * sin, first * sin + second * cos), dim=-1)


def plane_waves(n: int, frequency: float) -> Tensor:
    """Return n waves that run in directions spread over half a circle, (n, 2) radians per pixel."""
    directions = (torch.arange(n) + 0.5) * math.pi / max(n, 1)
    return frequency * torch.stack((directions.cos(), directions.sin()), 1)
