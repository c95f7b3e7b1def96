"""Dot products as they are, without 1 / sqrt(d_k)."""

from collections.abc import Sequence
from dataclasses import dataclass

from attention_core.attention.edits.edit import Edit, EditError, register
from attention_core.attention.pairs import Pairs
from attention_core.attention.score import Scaled, Score


@register
@dataclass(frozen=True)
class NoScale(Edit):
    """Scores are not scaled any more, in all heads."""

    name = "no scale"
    place = "scoring"
    is_even = True

    def check(self, pairs: Pairs) -> None:
        score = pairs.score
        if not isinstance(score, Scaled) or score.factor(pairs.key.shape[-1]) in (0, 1):
            raise EditError(f"these scores ({score.name}) have no scale that could be left out")

    def scoring(self, score: Score, d_k: int) -> Score:
        """Return the raw scores, perhaps capped."""
        if not isinstance(score, Scaled):
            return score
        return score.base if score.cap is None else Scaled(score.base, 1.0, cap=score.cap)

    def describe(self, queries: Sequence[str] = (), keys: Sequence[str] = ()) -> str:
        return "its scores are not scaled"
