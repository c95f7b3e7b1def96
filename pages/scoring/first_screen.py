"""The first screen: scores that disagree about the best key, and a key that is laid onto the query.

The plane is a component rather than a chart because it is redrawn many times a second while an arrow is dragged.
"""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from attention_core import AttentionTrace, Role
from attention_core.attention.scores import SCORES, Score
from attention_core.attention.view.scene import scene_data
from attention_core.attention.wording import percent
from attention_core.charts.bars import bar_table
from attention_core.charts.ramps import ROLE_COLOURS
from attention_core.live_training import score_comparison as measures
from attention_core.live_training.score_comparison import EXTENT, VECTOR_PRESETS, Vectors
from pages.scoring import controls
from ui.chart import note_picture
from ui.edits import WeightsRow
from ui.scene import scene_choice
from ui.try_this import GUESSING, TRY_STAGE, TryThis

RIVAL_SCORES = ("dot", "L2 distance")
REWARDS = {
    "dot": "angle and lengths",
    "scaled dot": "the same, ÷ √d",
    "cosine": "angle alone",
    "L2 distance": "nearness",
    "general": "a trained matrix",
    "additive": "a trained network",
    "concat": "a trained network",
    "location": "not the key at all",
}
"""What each score counts, below its name."""
UNTRAINED = ("dot", "scaled dot", "cosine", "L2 distance")


def draw_plane(vectors: Vectors, traces: Mapping[str, AttentionTrace], *, is_hero: bool) -> None:
    """Draw the arrows and the scene of each score. Call it last, see VectorPlane.draw.

    In the hero, which a guess may cover, stand those without learned numbers, and the chosen one.
    """
    if is_hero:
        traces = {name: trace for name, trace in traces.items() if name in (*UNTRAINED, controls.SCORE.value)}
    query, keys, names = list(vectors.query), [list(key) for key in vectors.keys], list(traces)
    labels = [f"k{key + 1}" for key in range(len(keys))]
    for quantity, role in (("scores", Role.SCORES), ("weights", Role.WEIGHTS)):
        numbers = (getattr(trace, quantity)(0)[0].tolist() for trace in traces.values())
        columns = {quantity: [value for row in numbers for value in row]}
        drawing = partial(bar_table, labels, columns, [ROLE_COLOURS[role]], names)
        note_picture(drawing, f"{quantity.capitalize()} of every key")
    data = {
        "names": ["q", *map(controls.key_name, range(len(keys)))],
        "kinds": ["query", *["key"] * len(keys)],
        "extent": EXTENT,
        "values": keys,
        "bare": vectors.d != 2,
        "parameters": {name: _parameters(trace.score) for name, trace in traces.items()},
    }
    covered = is_hero and TRY_STAGE[controls.NAME].value == GUESSING
    scene = scores_scene(traces) | {"query": names.index(controls.SCORE.value), "plays": True, "covered": covered}
    if is_hero:
        scene["glosses"] = [REWARDS.get(name, "") for name in names]
    choose, active = partial(on_choose, traces), controls.ACTIVE.value + 1
    controls.PLANE.draw([query, *keys], data, controls.on_move, scene, choose, active=active)


def _parameters(score: Score) -> dict[str, Any]:
    return {name: parameter.tolist() for name, parameter in score.parameters().items()}


def scores_scene(traces: Mapping[str, AttentionTrace]) -> dict[str, Any]:
    """Return a scene of which each row is one score of the same query and keys."""
    names, rows = list(traces), [scene_data(trace) for trace in traces.values()]
    joined = {name: [row[name][0] for row in rows] for name in ("scores", "weights", "cut")}
    numbers = rows[0]["numbers"]
    edited = [row for row, trace in enumerate(traces.values()) if trace.edits]
    return {
        **rows[0],
        **joined,
        "numbers": numbers | {"queries": numbers["queries"] * len(names)},
        "queries": names,
        "keys": [controls.key_name(key) for key in range(len(rows[0]["keys"]))],
        "axes": None,
        "formulas": [re.sub("<.*?>", "", trace.score.short) for trace in traces.values()],
        "isSoft": True,
        "isEdited": bool(edited),
        "changed": edited,
        "tour": [names.index(name) for name in RIVAL_SCORES],
    }


def on_choose(traces: Mapping[str, AttentionTrace]) -> None:
    """Take another score, or change a weight of it."""
    names, n_keys = list(traces), next(iter(traces.values())).n_keys
    choice = scene_choice(controls.NAME, len(names), n_keys, "plane")
    if choice is None:
        return
    controls.SCORE.value = name = names[choice.row]
    if choice.is_reset:
        controls.EDITS.reset()
    elif choice.key is not None:
        row = WeightsRow(controls.EDITS, traces[name], attention=name, prefix=f"{name}: ")
        row.set_weight([choice.key], choice.weight)


def lay_on_query() -> None:
    """Put the first example, with its first key where the query is."""
    first = VECTOR_PRESETS[0]
    vectors = Vectors(first.query, (first.query, *first.keys[1:]), "k₁ is the query itself, k₂ is longer.")
    controls.arrange_example(vectors)


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
