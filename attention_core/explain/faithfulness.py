"""Does the map explain the answer? Erase what attention points at, and compare."""

import torch
from torch import Tensor

INK = 0.3  # pixels above this are ink


def ink_mask(image: Tensor) -> Tensor:
    """Return which pixels of a picture are ink, bool (side, side)."""
    return image > INK


def erase_ink(image: Tensor, importance: Tensor, n_pixels: int) -> Tensor:
    """Erase so many ink pixels, fewer when there is less ink, of the highest importance (side * side,).

    Source: deletion test, Samek et al. 2017.
    """
    ink = ink_mask(image).flatten()
    ranked = importance.to(image.device).masked_fill(~ink, -torch.inf)
    erased = ranked.topk(min(n_pixels, int(ink.sum()))).indices
    return image.flatten().index_fill(0, erased, 0).view_as(image)
