"""Arrangements of a query and keys in the plane that show how scoring functions differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Vector = Sequence[float]
DIMENSIONS = (2, 3, 4, 8)
"""Numbers of a vector; only links of the first version have more than two."""
MIN_KEYS, MAX_KEYS = 2, 6
EXTENT = 4.0
"""Largest absolute value of a number in a vector."""


@dataclass(frozen=True, eq=False)
class Vectors:
    """A query and its keys; no two are equal, so that a change is seen by `is`."""

    query: Vector  # d numbers
    keys: Sequence[Vector]  # as many numbers each
    note: str = ""  # one or two sentences on what to look at, with keys named k₁, k₂ and so on; "" = somebody's own
    name: str = ""  # of a preset, on its button

    @property
    def d(self) -> int:
        return len(self.query)

    @classmethod
    def parse(cls, text: str) -> Vectors:
        """Read vectors from an address, such as "2,1.5;1.75,2.25;3.5,2", the query first; ValueError for others."""
        query, *keys = [[float(number) for number in row.split(",")] for row in text[:1000].split(";")]
        if len(query) not in DIMENSIONS or not MIN_KEYS <= len(keys) <= MAX_KEYS:
            raise ValueError(f"text must hold a query and {MIN_KEYS} to {MAX_KEYS} keys, got {text[:60]!r}")
        if not all(len(row) == len(query) and all(abs(number) <= EXTENT for number in row) for row in [query, *keys]):
            raise ValueError(f"vectors must be equally long, with numbers up to {EXTENT}, got {text[:60]!r}")
        return cls(query, keys)

    def text(self) -> str:
        return ";".join(",".join(f"{number:.12g}" for number in row) for row in [self.query, *self.keys])


VECTOR_PRESETS = (
    Vectors(
        (2.0, 1.5),
        ((1.75, 2.25), (3.5, 2.0), (-2.25, 1.75), (0.75, 0.25)),
        "The other keys: k₃ points away from q, k₄ is short.",
        "Mixed",
    ),
    Vectors(
        (2.0, 2.0),
        ((2.35, 0.85), (1.25, 2.15), (-0.85, 2.35), (-2.35, 0.85)),
        "All keys are equally long: the two scores agree.",
        "Equal lengths",
    ),
    Vectors(
        (1.5, 1.5),
        ((1.5, 1.5), (3.9, 0.5), (-1.5, 1.5), (0.5, 1.0)),
        "k₁ is the query itself, k₂ is merely long. The dot product prefers the long one.",
        "One long key",
    ),
    Vectors(
        (2.0, 1.0),
        ((-1.0, 2.0), (-0.5, 1.0), (1.0, 2.5), (-2.5, 0.5)),
        "k₁ and k₂ stand at right angles to q: a score of 0, and still some weight.",
        "Right angles",
    ),
)
