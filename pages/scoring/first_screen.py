"""The first screen: two scores that disagree about the best key, and a key that is laid onto the query.

The plane is a component rather than a chart because it is redrawn many times a second while an arrow is dragged.
"""

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

from attention_core import AttentionTrace, Role
from attention_core.attention.scores import SCORES
from attention_core.attention.wording import percent
from attention_core.charts.bars import bar_table
from attention_core.charts.ramps import ROLE_COLOURS
from attention_core.live_training import score_comparison as measures
from attention_core.live_training.score_comparison import EXTENT, VECTOR_PRESETS, Vectors
from pages.scoring import controls
from ui.chart import note_picture
from ui.try_this import TryThis

RIVAL_SCORES = ("dot", "L2 distance")


def draw_plane(vectors: Vectors, traces: Mapping[str, AttentionTrace], *, shows_all: bool) -> None:
    """Draw the arrows, and the scores of two functions or of all. Call it last, see VectorPlane.draw."""
    query, keys, is_planar = list(vectors.query), [list(key) for key in vectors.keys], vectors.d == 2
    shows_all, is_edited = shows_all or not is_planar, any(trace.edits for trace in traces.values())
    visible = {name: trace for name, trace in traces.items() if shows_all or name in RIVAL_SCORES or trace.edits}
    rows: list[dict[str, Any]] = []
    for name, trace in visible.items():
        numbers = {"scores": trace.scores(0)[0].tolist(), "weights": trace.weights(0)[0].tolist()}
        rows.append({"name": name, "formula": trace.score.short, **numbers})
    labels, names = [f"k{key + 1}" for key in range(len(keys))], list(visible)
    for quantity, role in (("scores", Role.SCORES), ("weights", Role.WEIGHTS)):
        columns = {quantity: [value for row in rows for value in row[quantity]]}
        drawing = partial(bar_table, labels, columns, [ROLE_COLOURS[role]], names)
        note_picture(drawing, f"{quantity.capitalize()} of every key")
    data = {
        "names": ["q", *map(controls.key_name, range(len(keys)))],
        "kinds": ["query", *["key"] * len(keys)],
        "extent": EXTENT,
        "functions": rows if shows_all or is_edited else None,
        "limit": _nice_limit(max(abs(score) for row in rows for score in row["scores"])),
        "bare": not is_planar,
    }
    controls.PLANE.draw([query, *keys], data, controls.on_move, active=controls.ACTIVE.value + 1)


def _nice_limit(largest: float) -> float:
    """Return the next of 1, 2, 5, 10, 20, ... that is not below: an axis that seldom jumps while scores move."""
    if not math.isfinite(largest) or largest <= 1:
        return 1
    power = 10 ** math.floor(math.log10(largest))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= largest)


def lay_on_query() -> None:
    """Put the first example, with its first key where the query is."""
    first = VECTOR_PRESETS[0]
    controls.arrange(Vectors(first.query, (first.query, *first.keys[1:]), "k₁ is the query itself, k₂ is longer."))


def key_of_dot_product() -> tuple[int, str]:
    """Return the key that the dot product prefers, and a sentence on its weight and that of the nearest key."""
    query, key = controls.query_and_keys(controls.VECTORS.value)
    traces = measures.compare({name: SCORES[name]() for name in RIVAL_SCORES}, query[None], key)
    favourites = measures.favourites(traces)
    dot, near = (favourites[name] for name in RIVAL_SCORES)
    if dot.key is None or near.key is None:
        return -1, "All keys fit equally well now."
    longer, nearer = controls.key_name(dot.key), controls.key_name(near.key)
    sentence = f"The dot product gives {longer} {percent(dot.weight)}, nearness gives {nearer} {percent(near.weight)}."
    if key[dot.key].norm() > key[near.key].norm():
        sentence += f" {longer} is longer, and a dot product grows with length."
    return dot.key, sentence


LAY_ON_QUERY = TryThis(
    "lay k₁ exactly onto the query",
    "k₁ is then the query itself. Which key will the dot product choose?",
    ("k₁", "k₂", "k₃"),
    lay_on_query,
    key_of_dot_product,
    controls.PLANE.container_key,
)
