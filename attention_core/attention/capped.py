"""Scores that cannot grow beyond a cap, as Gemma 2 has them."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from attention_core.attention.scores import ScaledDot, Stage


@dataclass(frozen=True, eq=False)
class Capped:
    """cap * tanh(scaled q . k / cap). Source: Gemma Team 2024, "Gemma 2", section 2, logit soft-capping.

    Attributes:
        base: the scaled dot product.
        cap: no score is larger than this, none smaller than its negative.
    """

    base: ScaledDot
    cap: float
    name: str = "capped scaled dot"

    def __post_init__(self) -> None:
        if self.cap <= 0:
            raise ValueError(f"cap must be positive, got {self.cap}")

    def __call__(self, query: Tensor, key: Tensor) -> Tensor:
        """Return the capped score of every pair."""
        return (self.base(query, key) / self.cap).tanh() * self.cap

    def stages(self, d_k: int) -> tuple[Stage, ...]:
        """Return the raw scores, the scaled ones, the capped ones."""
        return (
            *self.base.stages(d_k),
            Stage(
                "capped",
                "Capped scores",
                "tanh",
                rf"S'' = {self.cap:.3g}\, \tanh\!\left(\frac{{S'}}{{{self.cap:.3g}}}\right)",
                f"scores = torch.tanh(scores / {self.cap!r}) * {self.cap!r}",
                f"A soft limit: small scores stay as they are, large ones bend towards {self.cap:.3g}.",
                self,
            ),
        )
