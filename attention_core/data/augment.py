"""Random changes of digit pictures, so that a model learns the digit and not one way of drawing it."""

import torch
import torch.nn.functional as F
from torch import Tensor

ROTATION, SCALE, SHEAR = 0.12, 0.08, 0.15  # standard deviations: radians, log of the factor, share of the height
SHIFT_PIXELS = 1.5  # largest shift in each direction
ELASTIC, ELASTIC_GRID = 0.05, 5
"""Standard deviation of the elastic shifts, as a share of half the side, and how many knots they have a side."""
THICKEN_SHARE, CONTRAST = 0.12, 0.25
"""Share of pictures whose strokes are thickened by a pixel; standard deviation of the log of gamma."""


def augment(images: Tensor, generator: torch.Generator) -> Tensor:
    """Turn, scale, shear, shift, bend, thicken and shade pictures (batch, side, side) in [0, 1] at random.

    Source: affine and elastic distortions of MNIST after Simard et al. 2003.
    """
    batch, side = images.shape[0], images.shape[-1]

    def normal(*shape: int) -> Tensor:
        return torch.randn(batch, *shape, generator=generator, device=images.device)

    def uniform(*shape: int) -> Tensor:
        return torch.rand(batch, *shape, generator=generator, device=images.device)

    angle, factor, shear = normal() * ROTATION, (normal(2) * SCALE).exp(), normal() * SHEAR
    shift = (uniform(2) * 2 - 1) * SHIFT_PIXELS / (side / 2)
    cos, sin = angle.cos(), angle.sin()
    first = torch.stack((cos * factor[:, 0], shear - sin, shift[:, 0]), 1)
    second = torch.stack((sin, cos * factor[:, 1], shift[:, 1]), 1)
    grid = F.affine_grid(torch.stack((first, second), 1), [batch, 1, side, side], align_corners=False)
    bend = F.interpolate(normal(2, ELASTIC_GRID, ELASTIC_GRID) * ELASTIC, size=(side, side), mode="bicubic")
    moved = F.grid_sample(images[:, None], grid + bend.permute(0, 2, 3, 1), align_corners=False)
    thick = F.max_pool2d(F.pad(moved, (0, 1, 0, 1)), 2, 1)
    moved = torch.where(uniform(1, 1, 1) < THICKEN_SHARE, thick, moved)
    return moved.clamp(0, 1).pow((normal(1, 1, 1) * CONTRAST).exp())[:, 0]
