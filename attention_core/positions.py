"""Three ways to tell attention where a word stands: sinusoidal, learned, rotary."""

from __future__ import annotations

import math

import torch
from torch import Tensor

LONGEST_WAVE = 10_000.0


def sinusoidal(n: int, d: int) -> Tensor:
    """Return one vector per position, (n, d): even dimensions are sines, odd ones cosines of ever slower waves.

    Args:
        n: positions, from 0.
        d: width, even.

    Raises:
        ValueError: d is odd.

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
    return torch.arange(n)[:, None] * torch.tensor(_frequencies(d))


def _frequencies(d: int) -> list[float]:
    return [math.exp(-math.log(LONGEST_WAVE) * pair / d) for pair in range(0, d, 2)]
