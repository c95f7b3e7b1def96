"""Where things are: codes for the positions in a sentence, and places of the cells of a picture."""

import torch
from torch import Tensor

from attention_core.attention.rotations import rotary_angles


def sinusoidal(n: int, d: int) -> Tensor:
    """Return one vector per position, (n, d), d even: even dimensions are sines, odd ones cosines of ever slower waves.

    Source: Vaswani et al. 2017, section 3.5.
    """
    if d % 2:
        raise ValueError(f"d must be even, got {d}")
    angles = rotary_angles(n, d)
    return torch.stack((angles.sin(), angles.cos()), -1).flatten(1)


def cell_positions(side: int, full_side: int) -> Tensor:
    """Return where a picture's cells lie, (side * side, 2) rows and columns in full-size pixels from its middle."""
    line = (torch.arange(side) + 0.5) * (full_side / side) - full_side / 2
    return torch.stack(torch.meshgrid(line, line, indexing="ij"), -1).reshape(-1, 2)
