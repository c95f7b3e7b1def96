"""The data of a scene, which shows how one query after another scores its keys, weighs them and takes their values.

scene.js draws it: keys and queries stay in their places, and what stands at them changes. Every number is the trace's.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.view.page import View
from attention_core.device import to_array

N_NUMBERS = 12
"""Numbers of a vector that are drawn: those in which vectors differ most."""
DECIMALS, DIGITS = 5, 4
SCRIPT = "attention_core/attention/view/scene_page.js"


def scene_data(
    trace: AttentionTrace,
    head: int = 0,
    *,
    queries: Sequence[int] | None = None,
    query_labels: Sequence[str] | None = None,
    key_labels: Sequence[str] | None = None,
    nouns: tuple[str, str] = ("query", "key"),
) -> dict[str, Any]:
    """Return what scene.js reads of a head, as JSON has it; without what a model answers.

    Args:
        trace: the attention.
        head: from 0.
        queries: those that can be chosen, None = all.
        query_labels: their labels, None = those of the trace.
        key_labels: those of all keys, None = those of the trace.
        nouns: what a query and a key are called.

    Raises:
        ValueError: the trace has no softmax, of whose halves the scene makes two pictures.
    """
    if not trace.has_softmax:
        raise ValueError("a scene needs weights of a softmax")
    rows = list(range(trace.n_queries)) if queries is None else [*queries]
    weights, masked = to_array(trace.weights(head, rows)), _hidden_cells(trace, head, rows)
    scores, before = to_array(trace.scores(head, rows)), _hidden_cells(trace.replace(()), head, rows)
    key, value, query = (to_array(matrix) for matrix in (trace.key_of(head), trace.value_of(head), trace.query[head]))
    labels = trace.story.query_axis.labels
    return {
        "keys": [*map(str, trace.story.key_axis.labels if key_labels is None else key_labels)],
        "queries": [str(labels[row]) for row in rows] if query_labels is None else [*query_labels],
        "query": 0,
        "nouns": nouns,
        "scores": [
            [None if is_masked else number for number, is_masked in zip(*row, strict=True)]
            for row in zip(_rounded(scores), masked.tolist(), strict=True)
        ],
        "weights": [[float(f"{weight:.{DIGITS}g}") for weight in row] for row in weights.tolist()],
        "axes": [trace.story.query_axis.name, trace.story.key_axis.name],
        "firsts": rows,
        "cut": [np.flatnonzero(row).tolist() for row in masked & ~before],
        "numbers": _shown_numbers(query[rows], key, value),
        "answers": None,
        "vector": None,
    }


def shown_dimensions(vectors: np.ndarray) -> np.ndarray:
    """Return in which dimensions vectors (n, d) differ most, in order, at most N_NUMBERS."""
    return np.sort(np.argsort(-vectors.var(0), kind="stable")[:N_NUMBERS])


def show_scene(trace: AttentionTrace, head: int = 0, query: int = 0) -> View:
    """Return a head's scene for a notebook's cell, which plays once, or for a file."""
    title = f"How {trace.story.query_axis.labels[query]} attends"
    return View(title, scene_data(trace, head) | {"query": query, "plays": True, "canChange": True}, SCRIPT)


def scaled_numbers(vectors: np.ndarray) -> list[list[float]]:
    """Return vectors with the largest of their numbers as 1 or -1."""
    return _rounded(vectors / (np.abs(vectors).max() or 1.0), 3)


def _shown_numbers(query: np.ndarray, key: np.ndarray, value: np.ndarray) -> dict[str, Any]:
    dimensions = shown_dimensions(key)
    is_comparable, is_one = query.shape[1] == key.shape[1], np.array_equal(key, value)
    return {
        "queries": scaled_numbers(query[:, dimensions if is_comparable else shown_dimensions(query)]),
        "keys": scaled_numbers(key[:, dimensions]),
        "values": None if is_one else scaled_numbers(value[:, shown_dimensions(value)]),
        "sizes": [query.shape[1], key.shape[1], value.shape[1]],
    }


def _hidden_cells(trace: AttentionTrace, head: int, rows: Sequence[int]) -> np.ndarray:
    """Return which keys these queries may not attend to, bool (n_rows, n_keys)."""
    allowed = trace.allowed(head, rows)
    return np.zeros((len(rows), trace.n_keys), bool) if allowed is None else ~to_array(allowed)


def _rounded(matrix: np.ndarray, decimals: int = DECIMALS) -> list[list[float]]:
    return np.round(matrix.astype(float), decimals).tolist()
