"""Problems of attention on paper, solved plainly in numpy."""

import math

import numpy as np
from hypothesis import strategies as st

from attention_core.attention.scores import SCORES
from pages.vectors.problem import Problem, Settings, table_dimensions

EXACT = {"rtol": 0, "atol": 1e-10}
MODES = {"itself": "X", "another": "XY", "given": "Q"}
"""Letters of tables that say whom the rows ask."""


@st.composite
def problems(draw):
    """A problem that fits together: any tables, scoring function, scale and mask, shapes 1 to 32."""
    names = table_dimensions(draw(st.sampled_from(list(MODES.values()))))
    sizes = {name: draw(st.integers(1, 32)) for name in ("n_queries", "n_keys", "d_model", "d_memory", "d_k", "d_v")}
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    tables = {name: random.normal(size=(sizes[rows], sizes[cols])) for name, (rows, cols) in names.items()}
    settings_ = Settings(
        scoring=draw(st.sampled_from(list(SCORES))),
        scaled=draw(st.booleans()),
        temperature=draw(st.sampled_from([0.5, 1.0, 3.0])),
        causal=draw(st.booleans()),
        softmax=draw(st.booleans()),
    )
    return Problem(tables, settings=settings_)


def reference(problem):
    """Row by row, from the textbook."""
    tables, chosen = problem.tables, problem.settings
    if "Q" in tables:
        query, key, value = tables["Q"], tables["K"], tables["V"]
    else:
        memory = tables.get("Y", tables["X"])
        query, key, value = tables["X"] @ tables["W_Q"], memory @ tables["W_K"], memory @ tables["W_V"]
    allowed = np.array([[j <= i or not chosen.causal for j in range(len(key))] for i in range(len(query))])
    raw = np.array([[plain_score(chosen.scoring, a, b, j) for j, b in enumerate(key)] for a in query])
    scaled = raw / (math.sqrt(query.shape[1]) if chosen.scaled else 1) / chosen.temperature
    weights = softmax_by_row(scaled, allowed) if chosen.softmax else np.where(allowed, scaled, 0)
    return query, key, value, raw, scaled, weights, weights @ value, allowed


def softmax_by_row(scaled, allowed):
    """Shares of what is allowed."""
    shares = np.zeros_like(scaled)
    for i, row in enumerate(scaled):
        exponentials = np.where(allowed[i], np.exp(row - row[allowed[i]].max()), 0)
        shares[i] = exponentials / exponentials.sum()
    return shares


def plain_score(scoring, query, key, position):
    """One pair, with identities and ones for parameters."""
    if scoring in ("additive", "concat"):
        return np.tanh(query + key).sum()
    if scoring == "location":
        return query[position % len(query)]
    if scoring == "L2 distance":
        return -float(np.sum((query - key) ** 2)) / 2
    product = float(np.sum(query * key))
    if scoring == "cosine":
        return product / (math.sqrt(np.sum(query**2)) * math.sqrt(np.sum(key**2)))
    return product
