"""The separate pieces of ink in a picture, and what is unusual about them for a network that looks for one digit."""

from enum import StrEnum

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

INK = 0.3  # pixels above this hold together
SHORTEST, SECOND, LONGEST = 0.22, 0.27, 0.8
"""Shares of the picture's side: digits that networks were trained on are between a quarter and three quarters.
A second piece counts as another digit from SECOND on, for two pieces of clutter may touch."""


class PartsRemark(StrEnum):
    """What is unusual about the ink, for the page to say."""

    SMALL = "small"
    LARGE = "large"
    SEVERAL = "several"


def ink_parts(picture: np.ndarray) -> np.ndarray:
    """Return the boxes of the pieces of ink in a picture (height, width) in [0, 1] that touch, corners included.

    They are int (n, 4): top, left, bottom, right, the last two exclusive, in reading order of each piece's first pixel.
    """
    return np.array(part_boxes(torch.from_numpy(picture > INK)), dtype=int).reshape(-1, 4)


def part_boxes(ink: Tensor) -> list[tuple[int, ...]]:
    """Return (top, left, bottom, right) of the pieces of ink, bool (height, width), as ink_parts does."""
    labels = connected(ink)
    boxes = []
    for label in labels[labels > 0].unique().flip(0):
        rows, columns = torch.nonzero(labels == label, as_tuple=True)
        ends = (rows.min(), columns.min(), rows.max() + 1, columns.max() + 1)
        boxes.append(tuple(int(end) for end in ends))
    return boxes


def connected(inside: Tensor, corners: bool = True) -> Tensor:
    """Return one number above 0 for each region of a bool (height, width), larger for those that begin earlier.

    Pixels of one number take the largest around any of them until nothing changes; `corners`: regions may touch there.
    """
    labels = torch.arange(inside.numel(), 0, -1, device=inside.device).view(inside.shape) * inside
    while True:
        known = labels[None].double()
        if corners:
            spread = F.max_pool2d(known, 3, 1, 1)
        else:
            across, down = F.max_pool2d(known, (1, 3), 1, (0, 1)), F.max_pool2d(known, (3, 1), 1, (1, 0))
            spread = torch.maximum(across, down)
        largest = labels.new_zeros(inside.numel() + 1)  # around all pixels of a number
        largest.scatter_reduce_(0, labels.flatten(), (spread[0].long() * inside).flatten(), "amax")
        while not torch.equal(largest, largest[largest]):
            largest = largest[largest]
        if torch.equal(largest[labels], labels):
            return labels
        labels = largest[labels]


def parts_remark(picture: np.ndarray) -> PartsRemark | None:
    """Say whether a picture holds nothing as tall as a digit, something larger than digits are, or several digits."""
    boxes = ink_parts(picture)
    shares = (boxes[:, 2:] - boxes[:, :2]) / picture.shape[0]
    if not len(boxes) or shares[:, 0].max() < SHORTEST:
        return PartsRemark.SMALL
    if shares.max() > LONGEST:
        return PartsRemark.LARGE
    return PartsRemark.SEVERAL if (shares[:, 0] >= SECOND).sum() > 1 else None
