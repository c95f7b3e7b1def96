"""Vectors in a plane: what a browser needs to answer at once when one of them is dragged."""

import numpy as np

from attention_core.attention.trace import AttentionTrace
from attention_core.topics.vectors.problem import Problem

MOST_ARROWS = 8
"""Vectors that still can be told apart in a plane."""


def planar_tables(problem: Problem) -> list[str]:
    """Return the tables whose rows can be drawn as arrows in a plane: X, or Q and K, or those of them that can."""
    names = dict.fromkeys((problem.query_table, problem.key_table))
    tables = [name for name in names if problem.tables[name].shape[1] == 2]
    return tables if sum(len(problem.tables[name]) for name in tables) <= MOST_ARROWS else []


def pair_map(problem: Problem, trace: AttentionTrace) -> np.ndarray | None:
    """Return M (d_x, d_y) with scores = x M yᵀ for rows x that ask and y that are asked; None = no dot product."""
    factor = trace.score.dot_factor(trace.key.shape[-1])
    if factor is None:
        return None
    if problem.is_direct:
        return factor * np.eye(problem.tables["Q"].shape[1])
    return factor * problem.tables["W_Q"] @ problem.tables["W_K"].T
