"""Arrangements of a query and keys in the plane that show how scoring functions differ."""

from __future__ import annotations

from dataclasses import dataclass

import torch

Vector = tuple[float, ...]


@dataclass(frozen=True)
class VectorPreset:
    """A query, keys, and what to look at.

    Attributes:
        name: on its button.
        explanation: one or two sentences, with keys named k₁, k₂ and so on.
        query: two numbers from -4 to 4.
        keys: as many pairs.
    """

    name: str
    explanation: str
    query: Vector
    keys: tuple[Vector, ...]


VECTOR_PRESETS = (
    VectorPreset(
        "Mixed",
        "k₁ is nearest to q, k₂ points nearly the same way but is longer, k₃ points away, k₄ is short.",
        (2.0, 1.5),
        ((1.75, 2.25), (3.5, 2.0), (-2.25, 1.75), (0.75, 0.25)),
    ),
    VectorPreset(
        "Equal lengths",
        "All keys are equally long: dot product, cosine and L2 distance agree on their order, because "
        "|q − k|² = |q|² + |k|² − 2 q · k and only the last part differs.",
        (2.0, 2.0),
        ((2.35, 0.85), (1.25, 2.15), (-0.85, 2.35), (-2.35, 0.85)),
    ),
    VectorPreset(
        "One long key",
        "k₁ is the query itself, k₂ is merely long. Dot products prefer the long one; cosine does not, and neither do "
        "the L2 distance and the two small networks, which were trained to find the nearest.",
        (1.5, 1.5),
        ((1.5, 1.5), (3.9, 0.5), (-1.5, 1.5), (0.5, 1.0)),
    ),
    VectorPreset(
        "Right angles",
        "k₁ and k₂ stand at right angles to q: their dot product is 0, however long they are. A score of 0 is not a "
        "weight of 0: the softmax compares it with the other scores.",
        (2.0, 1.0),
        ((-1.0, 2.0), (-0.5, 1.0), (1.0, 2.5), (-2.5, 0.5)),
    ),
)


def random_vectors(d: int, n_keys: int, seed: int) -> tuple[Vector, tuple[Vector, ...]]:
    """Return a query and keys of d even numbers in [-4, 4], the last one of each in [0, 4], as in the training task."""
    points = torch.rand(n_keys + 1, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) * 8 - 4
    points[:, -1] = points[:, -1].abs()
    query, *keys = [tuple(round(number, 2) for number in row) for row in points.tolist()]
    return query, tuple(keys)
