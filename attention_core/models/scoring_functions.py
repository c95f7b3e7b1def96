"""The learned scoring functions on one small task, for vectors of several widths: find the nearest key."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from attention_core.attention.scores import Score
from attention_core.models.registry import register
from attention_core.topics.scoring.compare import PARAMETER_NAMES, seven_scores


@dataclass(frozen=True)
class ScoringConfig:
    """Sizes.

    Attributes:
        dimensions: widths of query and key for which there are parameters.
        d_a: hidden units of additive and concat.
        n_positions: keys that the location-based function knows.
    """

    dimensions: tuple[int, ...] = (2, 3, 4, 8)
    d_a: int = 8
    n_positions: int = 6


class ScoringFunctions(nn.Module):
    """Seven ways to compare a query with a key; four of them have parameters, one set per width of the vectors."""

    def __init__(self, config: ScoringConfig = ScoringConfig()) -> None:
        super().__init__()
        self.config = config
        self.sets = nn.ModuleDict({str(d): _parameters(d, config) for d in config.dimensions})

    def parameters_of(self, d: int) -> dict[str, Tensor]:
        """Return the parameters for vectors of d numbers, named as in PARAMETER_NAMES.

        Raises:
            ValueError: there are none for this d.
        """
        if d not in self.config.dimensions:
            raise ValueError(f"d must be one of {self.config.dimensions}, got {d}")
        chosen = self.sets[str(d)]
        return {name: chosen[name.replace(".", "_")] for name in PARAMETER_NAMES}  # type: ignore[index]

    def scores(self, d: int) -> dict[str, Score]:
        """Return the seven functions for vectors of d numbers."""
        return seven_scores(self.parameters_of(d))

    def forward(self, query: Tensor, key: Tensor) -> Mapping[str, Tensor]:
        """Return each function's scores (batch, n_keys) of query (batch, d) with key (batch, n_keys, d)."""
        scores = self.scores(query.shape[-1])
        return {name: score(query[:, None], key)[:, 0] for name, score in scores.items()}


def _parameters(d: int, config: ScoringConfig) -> nn.ParameterDict:
    shapes = {
        "general_W": (d, d),
        "additive_W_q": (config.d_a, d),
        "additive_W_k": (config.d_a, d),
        "additive_v": (config.d_a,),
        "concat_W": (config.d_a, 2 * d),
        "concat_v": (config.d_a,),
        "location_W": (config.n_positions, d),
    }
    return nn.ParameterDict(
        {name: nn.Parameter(torch.randn(shape) / math.sqrt(shape[-1])) for name, shape in shapes.items()}
    )


register("scoring-functions", "nearest:evaluate_nearest", ScoringFunctions, ScoringConfig())
