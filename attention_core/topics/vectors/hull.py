"""The convex hull of points in a plane: where every weighted average of them must lie."""

import numpy as np


def convex_hull(points: np.ndarray) -> np.ndarray:
    """Return the corners of the convex hull, counter-clockwise, (n_corners, 2).

    Args:
        points: float (n, 2), at least one; repeated points and points on a line are fine.

    Raises:
        ValueError: points that are not in a plane.

    Source: monotone chain, Andrew 1979.
    """
    if points.ndim != 2 or points.shape[1] != 2 or not len(points):
        raise ValueError(f"points must be (n, 2) with n at least 1, got {points.shape}")
    ordered = np.unique(points, axis=0)
    if len(ordered) < 3:
        return ordered
    lower, upper = _chain(ordered), _chain(ordered[::-1])
    return np.array(lower[:-1] + upper[:-1])


def _chain(ordered: np.ndarray) -> list[np.ndarray]:
    chain: list[np.ndarray] = []
    for point in ordered:
        while len(chain) > 1 and _turn(chain[-2], chain[-1], point) <= 0:
            chain.pop()
        chain.append(point)
    return chain


def _turn(first: np.ndarray, second: np.ndarray, third: np.ndarray) -> float:
    """Return above 0 for a turn to the left."""
    (ax, ay), (bx, by) = second - first, third - first
    return float(ax * by - ay * bx)
