"""The learned scoring functions on one small task, for vectors of several widths: find the nearest key."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from attention_core.attention.scores import SCORES, Score, all_scores
from attention_core.models.registry import register


@dataclass(frozen=True)
class ScoringConfig:
    dimensions: tuple[int, ...] = (2, 3, 4, 8)  # widths of query and key for which there are parameters
    # scoring functions whose parameters are learned; others keep their plain ones
    learned: tuple[str, ...] = ("general", "additive", "concat", "location")
    d_a: int = 8  # hidden units of additive and concat
    n_positions: int = 6  # keys that the location-based function knows


class ScoringFunctions(nn.Module):
    """All ways to compare a query with a key; some of them are learned, with one set per width of the vectors."""

    def __init__(self, config: ScoringConfig = ScoringConfig()) -> None:
        super().__init__()
        self.config = config
        self.sets = nn.ModuleDict()
        for d in config.dimensions:
            shapes = {name: parameter.shape for name, parameter in _plain(config.learned, d, config).items()}
            random = {name: torch.randn(shape) / math.sqrt(shape[-1]) for name, shape in shapes.items()}
            starts = {name.replace(".", "_"): nn.Parameter(start) for name, start in random.items()}
            self.sets[str(d)] = nn.ParameterDict(starts)

    def parameters_of(self, d: int) -> dict[str, Tensor]:
        """Return the parameters of all scoring functions for vectors of d numbers, such as "general.W"."""
        if d not in self.config.dimensions:
            raise ValueError(f"d must be one of {self.config.dimensions}, got {d}")
        parameters: Mapping[str, Tensor] = self.sets[str(d)]  # type: ignore[assignment]
        like = next(iter(parameters.values()))
        plain = _plain(tuple(SCORES), d, self.config)
        return {name: parameters.get(name.replace(".", "_"), parameter.to(like)) for name, parameter in plain.items()}

    def scores(self, d: int) -> dict[str, Score]:
        return all_scores(self.parameters_of(d))

    def forward(self, query: Tensor, key: Tensor) -> Mapping[str, Tensor]:
        """Return each function's scores (batch, n_keys) of query (batch, d) with key (batch, n_keys, d)."""
        scores = self.scores(query.shape[-1])
        return {name: score(query[:, None], key)[:, 0] for name, score in scores.items()}


def _plain(names: tuple[str, ...], d: int, config: ScoringConfig) -> dict[str, Tensor]:
    sets = {name: SCORES[name].plain_parameters(d, d, config.n_positions, config.d_a) for name in names}
    return {f"{name}.{key}": parameter for name, parameters in sets.items() for key, parameter in parameters.items()}


register("scoring-functions", "classification:evaluate_nearest", ScoringFunctions, ScoringConfig())
