"""The scene of a head over a short text: what the chosen token asks the others, and what it takes."""

from functools import partial

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.view.page import pieces
from attention_core.attention.view.scene import scene_data
from attention_core.charts.words import word_weights
from attention_core.device import to_array
from attention_core.explain.heads import is_self_attention
from attention_core.hub.run import ModelRun, patches_of
from pages.model import glance
from ui.chart import note_picture
from ui.scene import draw_scene, scene_choice

MAX_KEYS = 24
SCENE = "model_tokens"


def fits_scene(run: ModelRun, trace: AttentionTrace, head: int) -> bool:
    """Return whether a head's attention over a text is drawn as a scene: few tokens, and weights of a softmax."""
    is_short = is_self_attention(trace) and trace.n_keys <= MAX_KEYS and trace.has_softmax and trace.key.shape[-1] > 0
    return is_short and patches_of(run, trace) is None and not run.tiles and not glance.is_off(trace, head)


def draw_head_scene(trace: AttentionTrace, head: int, query: int, before: list[float] | None = None) -> None:
    """Draw the scene of a head at a query; another one is chosen in it. `before` are its weights in the first text."""

    def on_choose() -> None:
        if choice := scene_choice(SCENE, trace.n_queries, trace.n_keys):
            glance.choose(query=choice.row)

    labels, is_joined = zip(*pieces(trace.story.key_axis.labels), strict=True)
    joined = [index for index, joins in enumerate(is_joined) if joins and index]  # the first goes on with none
    weights = to_array(trace.weights(head))
    note_picture(partial(word_weights, labels, labels, weights, query, ""), f"“{labels[query]}”, where it looks")
    data = scene_data(trace, head, query_labels=labels, key_labels=labels, nouns=("query", "token"))
    lengths = to_array(trace.value_of(head).float().norm(dim=-1).nan_to_num(0))
    data["lengths"] = (lengths / (lengths.max() or 1.0)).round(3).tolist()
    data |= {"joinedKeys": joined, "joinedQueries": joined, "query": query, "plays": before is None, "canChange": False}
    if before is not None:
        data["before"] = {"row": query, "weights": before, "says": "with “tired”"}
    draw_scene(SCENE, data, on_choose)
