"""Any scoring function, scaled and cooled: scores times a factor, divided by a temperature."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor

from attention_core.attention.scores import Location, Score, Stage

SCALES = ("none", "sqrt(d_k)", "free")


@dataclass(frozen=True, eq=False)
class Scaled:
    """A scoring function whose scores are multiplied by a factor and divided by a temperature.

    Attributes:
        base: gives the raw scores.
        scale: one of SCALES.
        factor: of the free scale.
        temperature: above 1 evens the weights out, towards 0 the largest score takes all.
    """

    base: Score
    scale: str = "sqrt(d_k)"
    factor: float = 1.0
    temperature: float = 1.0

    @property
    def name(self) -> str:
        """What people call it."""
        return f"scaled {self.base.name}"

    @property
    def looks_at_keys(self) -> bool:
        """False where the base scores positions, not keys."""
        return not isinstance(self.base, Location)

    def multiplier(self, d_k: int) -> float:
        """Return the number by which raw scores are multiplied."""
        scale = {"none": 1.0, "sqrt(d_k)": 1 / math.sqrt(d_k), "free": self.factor}[self.scale]
        return scale / self.temperature

    def __call__(self, query: Tensor, key: Tensor, cols: Tensor | None = None) -> Tensor:
        """Return the scaled score of every pair; `cols` as for Location."""
        raw = self.base(query, key, cols) if isinstance(self.base, Location) else self.base(query, key)
        return raw * self.multiplier(query.shape[-1])

    def stages(self, d_k: int) -> tuple[Stage, ...]:
        """Return the base's stages, then the scaled scores."""
        return (
            *self.base.stages(d_k),
            Stage("scaled", "Scaled scores", self._symbol(), self._formula(d_k), self._code(), self._words(d_k), self),
        )

    def _symbol(self) -> str:
        scale = {"none": "", "sqrt(d_k)": "÷√dₖ", "free": f"×{self.factor:.3g}"}[self.scale]
        return scale + ("" if self.temperature == 1 else "÷T")

    def _formula(self, d_k: int) -> str:
        temperature = "" if self.temperature == 1 else r"T"
        if self.scale == "sqrt(d_k)":
            value = math.sqrt(d_k) * self.temperature
            return rf"S' = \frac{{S}}{{\sqrt{{d_k}}\,{temperature}}} = \frac{{S}}{{{value:.3g}}}"
        factor = "" if self.scale == "none" else rf"{self.factor:.3g}\,"
        if not temperature:
            return rf"S' = {factor}S"
        return rf"S' = \frac{{{factor}S}}{{T}} = \frac{{{factor}S}}{{{self.temperature:.3g}}}"

    def _code(self) -> str:
        scale = {"none": "", "sqrt(d_k)": " / d_k ** 0.5", "free": f" * {self.factor!r}"}[self.scale]
        return "scores = scores" + scale + ("" if self.temperature == 1 else f" / {self.temperature!r}")

    def _words(self, d_k: int) -> str:
        words = {
            "none": "",
            "sqrt(d_k)": (
                f"The sum of {d_k} products grows with {d_k}; dividing by its square root keeps the softmax from "
                "saturating. "
            ),
            "free": "A factor of your own: 0 looks everywhere alike, a large one at a single key. ",
        }[self.scale]
        if self.temperature != 1:
            effect = "evens the weights out" if self.temperature > 1 else "lets the largest score win"
            words += f"The temperature {self.temperature:.3g} {effect}. "
        return words + "The order within a row stays, its spread changes."
