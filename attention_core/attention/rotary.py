"""Places as rotations: each pair of a vector's numbers is turned by an angle that grows with the place.

A dot product of two turned vectors depends on the difference of their places alone, so that attention can say "two
pixels to the left" wherever it stands. Source: Su et al. 2021, "RoFormer", section 3.2, here with two-dimensional
waves, as for pictures.
"""

import math

import torch
from torch import Tensor


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
