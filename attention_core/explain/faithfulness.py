"""Does the map explain the answer? Erase what attention points at, and as much ink at random, and compare."""

from typing import NamedTuple

import torch
from torch import Tensor

from attention_core.attention.trace import AttentionTrace

INK = 0.3  # pixels above this are ink


class ErasedPicture(NamedTuple):
    """A picture with some ink taken away."""

    image: Tensor  # float (side, side)
    removed: Tensor  # bool (side, side), which pixels were ink and are paper now


def ink_mask(image: Tensor) -> Tensor:
    """Return which pixels of a picture are ink, bool (side, side)."""
    return image > INK


def erase_highest(image: Tensor, importance: Tensor, n_pixels: int) -> ErasedPicture:
    """Erase so many ink pixels, fewer when there is less ink, of the highest importance (side * side,).

    Source: deletion test, Samek et al. 2017.
    """
    ink = ink_mask(image).flatten()
    ranked = importance.to(image.device).masked_fill(~ink, -torch.inf)
    return _erase(image, ranked.topk(min(n_pixels, int(ink.sum()))).indices)


def erase_random(image: Tensor, n_pixels: int, seed: int) -> ErasedPicture:
    """Erase ink pixels at random, the fair comparison to erase_highest."""
    ink = ink_mask(image).flatten().nonzero().flatten()
    order = torch.randperm(len(ink), generator=torch.Generator().manual_seed(seed)).to(ink.device)
    return _erase(image, ink[order[:n_pixels]])


def erase_along(image: Tensor, path: Tensor, radius: float = 1.7) -> ErasedPicture:
    """Erase the ink nearer than a radius, in pixels, to a stroke: path (n, 2), rows and columns in the picture."""
    side = image.shape[-1]
    rows, cols = torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij")
    places = torch.stack((rows, cols), -1).reshape(-1, 2).to(path)
    near = torch.cdist(places, path).amin(1) <= radius
    return _erase(image, (near.to(image.device) & ink_mask(image).flatten()).nonzero().flatten())


def mean_total_variation(before: AttentionTrace, after: AttentionTrace, head: int = 0) -> float:
    """Return how much of the attention moved: half the summed change of each row of the weights, averaged, 0 to 1."""
    moved = [(weights - after.weights(head, rows)).abs().sum(1) / 2 for rows, _, weights in before.blocks(head)]
    return float(torch.cat(moved).mean())


def _erase(image: Tensor, positions: Tensor) -> ErasedPicture:
    removed = torch.zeros(image.numel(), dtype=torch.bool, device=image.device)
    removed[positions] = True
    removed = removed.view_as(image)
    return ErasedPicture(image.masked_fill(removed, 0), removed)
