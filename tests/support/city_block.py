"""A scoring function of the tests' own: one class, its words, and nothing else anywhere."""

from dataclasses import dataclass

import torch
from torch import Tensor

from attention_core.attention.scores import Score, check_same_width


@dataclass(frozen=True, eq=False)
class CityBlock(Score):
    """-sum of w |q - k|: known nowhere else."""

    name = "city block"
    short = "−w · |q − k|"
    picture = "A pyramid."
    symbol = "−|q−k|₁"
    formula = r"S_{ij} = -\sum_c w_c |q_{ic} - k_{jc}|"
    code = "scores = -((query[:, None] - key[None]).abs() * w).sum(-1)"
    explanation = "As one walks in a city of square blocks."

    w: Tensor

    def __call__(self, query, key):
        check_same_width(query, key)
        return -((query.unsqueeze(-2) - key.unsqueeze(-3)).abs() @ self.w)

    @classmethod
    def plain_parameters(cls, d_q, d_k, n_keys, n_hidden=None):
        return {"w": torch.ones(d_q, dtype=torch.float64)}
