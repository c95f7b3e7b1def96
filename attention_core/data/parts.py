"""The separate pieces of ink in a picture, and what is unusual about them for a network that looks for one digit."""

from __future__ import annotations

from enum import StrEnum

import numpy as np
import torch
import torch.nn.functional as F

INK = 0.3
"""Pixels above this hold together."""
SHORTEST, SECOND, LONGEST = 0.22, 0.27, 0.8
"""Shares of the picture's side: digits that networks were trained on are between a quarter and three quarters.
A second piece counts as another digit from SECOND on, for two pieces of clutter may touch."""


class PartsRemark(StrEnum):
    """What is unusual about the ink, for the page to say."""

    SMALL = "small"
    LARGE = "large"
    SEVERAL = "several"


def ink_parts(picture: np.ndarray) -> np.ndarray:
    """Return the boxes of the pieces of ink that hold together, corners included.

    Args:
        picture: float (height, width) in [0, 1], 1 = ink.

    Returns:
        int (n, 4): top, left, bottom, right, the last two exclusive, in reading order of each piece's first pixel.
    """
    height, width = picture.shape
    ink = torch.from_numpy(picture > INK)
    names = torch.arange(height * width, 0, -1, dtype=torch.float64).view(height, width) * ink
    while True:  # every pixel takes the largest name around it until nothing changes
        spread = F.max_pool2d(names[None, None], 3, 1, 1)[0, 0] * ink
        if torch.equal(spread, names):
            break
        names = spread
    boxes = []
    for name in names.unique(sorted=True).flip(0).tolist():
        if name:
            rows, columns = torch.nonzero(names == name, as_tuple=True)
            ends = (rows.min(), columns.min(), rows.max() + 1, columns.max() + 1)
            boxes.append([int(end) for end in ends])
    return np.array(boxes, dtype=int).reshape(-1, 4)


def parts_remark(picture: np.ndarray) -> PartsRemark | None:
    """Say whether a picture holds nothing as tall as a digit, something larger than digits are, or several digits.

    Args:
        picture: float (height, width) in [0, 1], 1 = ink.
    """
    boxes = ink_parts(picture)
    shares = (boxes[:, 2:] - boxes[:, :2]) / picture.shape[0]
    if not len(boxes) or shares[:, 0].max() < SHORTEST:
        return PartsRemark.SMALL
    if shares.max() > LONGEST:
        return PartsRemark.LARGE
    return PartsRemark.SEVERAL if (shares[:, 0] >= SECOND).sum() > 1 else None
