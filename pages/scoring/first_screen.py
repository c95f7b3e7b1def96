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
from attention_core.charts.bars import bar_table
from attention_core.charts.ramps import ROLE_COLOURS
from attention_core.live_training import score_comparison as measures
from attention_core.live_training.score_comparison import EXTENT, Vectors
from pages.scoring import controls
from ui.chart import note_picture
from ui.edits import WeightsRow
from ui.scene import scene_choice
from ui.try_this import TryThis, is_guessing

GUESSED_SCORES = ("dot", "cosine", "L2 distance")
REWARDS = {
    "dot": "angle and lengths",
    "scaled dot": "dot, divided by √d",
    "cosine": "angle alone",
    "L2 distance": "nearness alone",
    "general": "a trained matrix",
    "additive": "learned nearness",
    "concat": "a trained network",
    "location": "not the key at all",
}
"""What each score counts, below its name."""


def draw_plane(vectors: Vectors, traces: Mapping[str, AttentionTrace], *, is_hero: bool) -> None:
    """Draw the arrows and the scene of each score. Call it last, see VectorPlane.draw.

    In the hero, which a guess may cover, stand GUESSED_SCORES, and the chosen one.
    """
    if is_hero:
        traces = {name: traces[name] for name in dict.fromkeys((*GUESSED_SCORES, controls.SCORE.value))}
    query, keys, names = list(vectors.query), [list(key) for key in vectors.keys], list(traces)
    titles = [*map(controls.score_title, names)]
    labels = [f"k{key + 1}" for key in range(len(keys))]
    for quantity, role in (("scores", Role.SCORES), ("weights", Role.WEIGHTS)):
        numbers = (getattr(trace, quantity)(0)[0].tolist() for trace in traces.values())
        columns = {quantity: [value for row in numbers for value in row]}
        drawing = partial(bar_table, labels, columns, [ROLE_COLOURS[role]], titles)
        note_picture(drawing, f"All {quantity}")
    data = {
        "names": ["q", *map(controls.key_name, range(len(keys)))],
        "kinds": ["query", *["key"] * len(keys)],
        "extent": EXTENT,
        "values": keys,
        "bare": vectors.d != 2,
        "isProjected": vectors.d == 2,
        "projectedName": "q′",
        "turn": vectors.turn,
        "scores": dict(zip(titles, names, strict=True)),
        "parameters": {controls.score_title(name): _parameters(trace.score) for name, trace in traces.items()},
    }
    covered = is_hero and is_guessing(controls.NAME)
    scene = scores_scene(traces) | {"query": names.index(controls.SCORE.value), "plays": True, "covered": covered}
    if is_hero:
        data["grows"] = vectors.text() == controls.FIRST.text()
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
        "queries": [*map(controls.score_title, names)],
        "keys": [controls.key_name(key) for key in range(len(rows[0]["keys"]))],
        "axes": None,
        "formulas": [re.sub("<.*?>", "", trace.score.short) for trace in traces.values()],
        "isSoft": True,
        "isEdited": bool(edited),
        "changed": edited,
        "tour": [names.index(name) for name in GUESSED_SCORES],
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
        row = WeightsRow(controls.EDITS, traces[name], attention=name, prefix=f"{controls.score_title(name)}: ")
        row.set_weight([choice.key], choice.weight)


def _doubled_vectors() -> Vectors:
    query = [2 * number for number in controls.FIRST.query]
    return Vectors(query, controls.FIRST.keys, "q is twice as long as before.")


def _double_query() -> None:
    """Arrange the first example, with its query twice as long, and choose the score that is asked about last."""
    controls.arrange_example(_doubled_vectors())
    controls.SCORE.value = GUESSED_SCORES[-1]


def _score_that_changes() -> tuple[int, str]:
    """Return which of GUESSED_SCORES prefers another key once the query is twice as long, and a sentence on it."""
    doubled = _doubled_vectors()
    if controls.VECTORS.value.text() != doubled.text():
        return -1, "These are other arrows now."
    functions = {name: SCORES[name]() for name in GUESSED_SCORES}
    before, after = (_favourites(functions, vectors) for vectors in (controls.FIRST, doubled))
    (name,) = (name for name in GUESSED_SCORES if before[name].key != after[name].key)
    old, new = (controls.key_name(favourites[name].key or 0) for favourites in (before, after))
    sentence = f"**{controls.score_title(name).capitalize()}**: q's tip is now nearest to {new}, not {old}."
    return GUESSED_SCORES.index(name), f"{sentence} Dot products double, angles stay."


def _favourites(functions: Mapping[str, Score], vectors: Vectors) -> dict[str, measures.FavouriteKey]:
    query, key = controls.query_and_keys(vectors)
    return measures.favourites(measures.compare(functions, query[None], key))


DOUBLE_QUERY = TryThis(
    "make q twice as long",
    "q becomes twice as long and keeps its direction. Which of these then prefers another key?",
    [*map(controls.score_title, GUESSED_SCORES)],
    _double_query,
    _score_that_changes,
    controls.PLANE.container_key,
)
