"""The data of a scene, which shows how one query after another scores its keys, weighs them and takes their values.

scene.js draws it: keys and queries stay in their places, and what stands at them changes. Every number is the trace's.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from attention_core.attention.trace import AttentionTrace, check_pairs
from attention_core.attention.view.pack import MAX_NUMBER
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
    joined_keys: Sequence[int] = (),
) -> dict[str, Any]:
    """Return what scene.js reads of a head, as JSON has it; without what a model answers.

    Args:
        trace: the attention.
        head: from 0.
        queries: those that can be chosen, None = all.
        query_labels: their labels, None = those of the trace.
        key_labels: those of all keys, None = those of the trace.
        nouns: what a query and a key are called.
        joined_keys: those that go on with the word of the key before.

    Raises:
        ValueError: the trace has no softmax, of whose halves the scene makes two pictures, or has no weights.
    """
    check_pairs(trace)
    if not trace.has_softmax or not trace.key.shape[-1]:
        raise ValueError("a scene needs weights of a softmax, of queries and keys that are known")
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
        "joinedKeys": [*joined_keys],
        "scores": [_scores(*row) for row in zip(scores, masked, strict=True)],
        "weights": [_weights(row) for row in weights],
        "axes": [trace.story.query_axis.name, trace.story.key_axis.name],
        "firsts": rows,
        "cut": [np.flatnonzero(row).tolist() for row in masked & ~before],
        "numbers": _shown_numbers(query[rows], key, value),
        "answers": None,
        "vector": None,
    }


def picture_scene_data(
    looks: Sequence[AttentionTrace],
    picture: str,
    words: Sequence[Sequence[tuple[str, float]]],
    answer: Sequence[tuple[str, float, str]],
    even: Sequence[tuple[str, float, str]] | None = None,
    *,
    queries: Sequence[int] | None = None,
) -> dict[str, Any]:
    """Return what picture_scene.js reads of looks at a picture that follow one another, as JSON has it.

    Args:
        looks: their traces, of one head each; keys are regions of the picture, after which others may come.
        picture: its address, or "data:...".
        words: of each look the question's words, each with its weight.
        answer: what is said, the likeliest first: text, probability, colour or "".
        even: what would be said were all weights equal, None = that is not known.
        queries: which query each look is, None = the first.

    Raises:
        ValueError: the keys of a look are no regions of a picture, or a trace has no softmax.
    """
    grid = looks[0].story.key_axis.grid
    if grid is None or not all(trace.has_softmax for trace in looks):
        raise ValueError("a scene over a picture needs weights of a softmax over its regions")
    rows = [0] * len(looks) if queries is None else queries
    return {
        "picture": picture,
        "grid": [*map(int, grid)],
        "looks": [
            {
                "label": f"look {number}",
                "words": [(word, round(weight, DECIMALS)) for word, weight in weighted],
                "scores": _scores(to_array(trace.scores(0, [row]))[0], _hidden_cells(trace, 0, [row])[0]),
                "weights": _weights(to_array(trace.weights(0, [row]))[0]),
            }
            for number, (trace, weighted, row) in enumerate(zip(looks, words, rows, strict=True), 1)
        ],
        "query": len(looks) - 1,
        "answer": answer,
        "even": even,
        "nouns": ("question", "region"),
    }


def shown_dimensions(vectors: np.ndarray) -> np.ndarray:
    """Return in which dimensions vectors (n, d) differ most, in order, at most N_NUMBERS."""
    vectors = np.nan_to_num(vectors.astype(float)).clip(-MAX_NUMBER, MAX_NUMBER)
    return np.sort(np.argsort(-vectors.var(0), kind="stable")[:N_NUMBERS])


def show_scene(trace: AttentionTrace, head: int = 0, query: int = 0) -> View:
    """Return a head's scene for a notebook's cell, which plays once, or for a file; a ValueError where it has none."""
    data = scene_data(trace, head)
    if trace.weights(head, [query]).isnan().any():
        raise ValueError(f"query {query} has weights that are not a number (NaN)")
    title = f"How {trace.story.query_axis.labels[query]} attends"
    return View(title, data | {"query": query, "plays": True, "canChange": True}, SCRIPT)


def scaled_numbers(vectors: np.ndarray) -> list[list[float]]:
    """Return vectors with the largest of their numbers as 1 or -1."""
    vectors = np.nan_to_num(vectors.astype(float)).clip(-MAX_NUMBER, MAX_NUMBER)
    return _rounded(vectors / (np.abs(vectors).max(initial=0) or 1.0), 3)


def numbers_beside(vector: np.ndarray, vectors: np.ndarray) -> list[float]:
    """Return what is drawn of a vector (d,) beside others (n, d): in the same dimensions, on the same scale."""
    dimensions = shown_dimensions(vectors)
    return _rounded(vector[dimensions] / (np.abs(vectors[:, dimensions]).max(initial=0) or 1.0), 3)


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


def _scores(scores: np.ndarray, is_hidden: np.ndarray) -> list[float | None]:
    """Return the scores of a query, None for a key that it may not attend to, or where a score is no number."""
    is_hidden = is_hidden | ~np.isfinite(scores)
    return [None if hidden else score for score, hidden in zip(_rounded(scores), is_hidden.tolist(), strict=True)]


def _weights(weights: np.ndarray) -> list[float]:
    return [float(f"{weight:.{DIGITS}g}") for weight in np.nan_to_num(weights).tolist()]


def _rounded(matrix: np.ndarray, decimals: int = DECIMALS) -> Any:
    return np.round(matrix.astype(float), decimals).tolist()
