"""The drawing told in a sentence: a recurrent decoder looks before every word, and the mask moves under the words."""

import numpy as np
import streamlit as st
from torch import Tensor

from attention_core.attention.edits import BlockKeys, Edits
from attention_core.charts import overlay_strip
from attention_core.data.scene_captions import sentence
from attention_core.device import to_array
from attention_core.models.scene_caption import LABELS, Caption
from ui.ask.asking import grid_of
from ui.ask.blocking import BlockedRegions
from ui.ask.drawing import NAME, AskedDrawing
from ui.chart import draw_chart
from ui.computed import card_or_empty, computed, model_or_stop
from ui.player import Walk
from ui.state import Field

TELLER = "scene-caption"
WALK = Walk(NAME, label="Look")
HIDDEN = BlockedRegions(Field[list[int]](NAME, "hidden", list, address="hidden"))
SIZE, MOST_NAMED = 200, 3


def telling(drawing: AskedDrawing) -> None:
    """Draw the sentence, the look of the present word to be clicked, and the looks of all words."""
    before = tell(drawing.picture)
    grid = grid_of(before.trace)
    hidden = HIDDEN.regions(grid)
    told = tell(drawing.picture, (BlockKeys(tuple(hidden)),)) if hidden else before
    labels = list(told.trace.story.query_axis.labels)
    _sentence(told, before if hidden else None)
    look = WALK.draw(labels)
    where, looks = st.columns([1, 2], gap="medium")
    with where:
        HIDDEN.draw(drawing.canvas, told.trace, SIZE, query=look)
        _next_word(told, look, labels)
    with looks:
        maps = to_array(told.trace.weights())[:, :-1].reshape(-1, *grid)
        shades = maps / maps.max((1, 2), keepdims=True).clip(1e-9)
        chart = overlay_strip(drawing.canvas, shades, labels, size=80, columns=7, chosen=look)
        draw_chart(
            chart, width="content", alt=f"The maps of all {len(labels)} looks over the drawing, each under its word"
        )
        st.caption(f"Each map is as dark as it can be where its own weight is largest. {_figures()}")


@computed(by_model=True)
def tell(picture: Tensor, edits: Edits = ()) -> Caption:
    return model_or_stop(TELLER).explain(picture, edits)


def _sentence(told: Caption, before: Caption | None) -> None:
    words = sentence(told.words)
    st.markdown(f"### {words[:1].upper()}{words[1:]}{'.' if told.finished else ' …'}")
    if not told.finished:
        st.caption("It never came to an end, and was stopped: a drawing unlike those that it has learned from.")
    if before is not None:
        changed = (
            "The sentence has not changed." if before.words == told.words else f"Before: {sentence(before.words)}."
        )
        st.caption(f"With regions blocked. {changed}")


def _next_word(told: Caption, look: int, labels: list[str]) -> None:
    if labels[look].startswith("glance"):
        st.markdown("**A first glance**, before any word: what it sees stays in the state and steers the next look.")
        return
    probabilities = to_array(told.probabilities[look])
    best = np.argsort(-probabilities)[:MOST_NAMED]
    rivals = ", ".join(f"{LABELS[place]} {probabilities[place]:.0%}" for place in best[1:])
    st.markdown(f"After this look it says **{labels[look]}** ({probabilities[best[0]]:.0%}), rather than {rivals}.")


def _figures() -> str:
    card = card_or_empty(TELLER)
    figures, pen = card.get("test_drawings", {}), card.get("held_out_strokes", {})
    if not ({"accuracy", "peak_inside"} <= set(figures) and "accuracy" in pen):
        return ""
    return (
        f"On {figures['n']:,} composed drawings of up to three digits that it never saw, whole sentences are right in "
        f"{figures['accuracy']:.1%}, on pen strokes that it never saw in {pen['accuracy']:.1%}; the peak of the mask "
        f"lies inside a digit being told in {figures['peak_inside']:.1%}. With uniform weights "
        f"{card['with_uniform_attention']:.1%} are right."
    )
