"""Does the map explain the answer? Erase what attention points at, and as much ink at random, and compare."""

import torch
from torch import Tensor

INK = 0.3  # pixels above this are ink


def ink_mask(image: Tensor) -> Tensor:
    """Return which pixels of a picture are ink, bool (side, side)."""
    return image > INK


def erase_highest(image: Tensor, importance: Tensor, n_pixels: int) -> Tensor:
    """Erase so many ink pixels, fewer when there is less ink, of the highest importance (side * side,).

    Source: deletion test, Samek et al. 2017.
    """
    ink = ink_mask(image).flatten()
    ranked = importance.to(image.device).masked_fill(~ink, -torch.inf)
    return _erase(image, ranked.topk(min(n_pixels, int(ink.sum()))).indices)


def erase_random(image: Tensor, n_pixels: int, seed: int) -> Tensor:
    """Erase ink pixels at random, the fair comparison to erase_highest."""
    ink = ink_mask(image).flatten().nonzero().flatten()
    order = torch.randperm(len(ink), generator=torch.Generator().manual_seed(seed)).to(ink.device)
    return _erase(image, ink[order[:n_pixels]])


def _erase(image: Tensor, positions: Tensor) -> Tensor:
    return image.flatten().index_fill(0, positions, 0).view_as(image)
