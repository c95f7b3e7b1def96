"""What a browser needs to answer at once when one vector is dragged."""

import numpy as np

from attention_core.attention.trace import AttentionTrace
from attention_core.topics.vectors.problem import Mode, Problem

MOST_ARROWS = 8
"""Vectors that still can be told apart in a plane, and rows and columns of pairs whose weights can be read."""


def planar_tables(problem: Problem) -> list[str]:
    """Return the tables whose rows can be drawn as arrows in a plane: X, or Q and K, or those of them that can."""
    names = dict.fromkeys((problem.query_table, problem.key_table))
    tables = [name for name in names if problem.tables[name].shape[1] == 2]
    return tables if sum(len(problem.tables[name]) for name in tables) <= MOST_ARROWS else []


def pair_map(problem: Problem, trace: AttentionTrace, head: int) -> np.ndarray | None:
    """Return M (d_x, d_y) with scores = x M yᵀ for rows x that ask and y that are asked; None = no dot product."""
    d_k = trace.key.shape[-1]
    factor = trace.score.dot_factor(d_k)
    if factor is None:
        return None
    columns = slice(head * d_k, (head + 1) * d_k)
    names = (problem.query_table, "W_Q"), (problem.key_table, "W_K")
    to_query, to_key = (
        np.eye(problem.tables[rows].shape[1]) if problem.mode == Mode.DIRECT else problem.tables[projection]
        for rows, projection in names
    )
    return factor * to_query[:, columns] @ to_key[:, columns].T
