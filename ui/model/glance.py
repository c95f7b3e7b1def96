"""The model at a glance: every layer and head as a small picture, or as one number; a click chooses the head."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from attention_core.charts.head_maps import layer_head_map
from attention_core.charts.heads import heads_chart
from attention_core.charts.heatmap import MAX_RECT_SIDE
from attention_core.charts.mosaic import Mosaic, mosaic
from attention_core.explain.heads import PLAIN, HeadSummary, Look, groups, habit, has_values, summaries
from attention_core.hub.run import ModelRun, patches_of, special_keys
from ui.layout import section
from ui.model.look import what_is_shown
from ui.model.state import FRAMED, HEAD, Chosen, choose, chosen, clickable_chart
from ui.model.work import kept_with

WIDTH = 700
"""Screen pixels for all heads of a layer."""
LARGEST, SMALLEST = 150, 12
"""Screen pixels of one picture; below the smallest the chart is scrolled."""
SCROLLS = """<style>[class*="_glance"] { overflow-x: auto; }</style>"""


def glance(run: ModelRun, look: Look = PLAIN) -> None:
    """Draw all heads of the chosen kind of attention, and what chooses among them."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        with st.container(width="stretch", gap="xxsmall"):
            section("Every layer and head")
            st.markdown("One picture a head: queries down, keys across. A click chooses it.")
        now = _choice(run)
        FRAMED.value = HEAD.value
    st.html(SCROLLS)
    with st.container(key="model_glance"):
        pictures = glance_picture(run, now, look, takes_click=True)
    n_keys = pictures.ramp.reference_label
    words = (
        f"Weights shrink with longer inputs, so each picture has its own colours: looking everywhere alike, {n_keys}, "
        "is the same blue in all of them, and the brightest is the picture's own largest weight."
    )
    if look.times_value and not look.normalised:
        words = "Each picture has colours of its own; the brightest is its own largest weight × |value|."
    if pictures.n_queries > pictures.height:
        words += " Each pixel stands for several tokens and shows the largest of them."
    if pictures.n_rows < pictures.n_queries:
        words += f" {pictures.n_rows:,} of {pictures.n_queries:,} queries, evenly spaced, were computed for it."
    st.caption(words)


def _choice(run: ModelRun) -> Chosen:
    """Let a person choose kind of attention, layer and head without a mouse; returns what is chosen."""
    state, now, found = st.session_state, chosen(run), groups(run.recording)
    layers = found[now.group]
    if len(found) > 1:
        state["model_group"] = now.group
        st.segmented_control(
            "Attention of",
            list(found),
            key="model_group",
            format_func=str.capitalize,
            required=True,
            wrap=True,
            on_change=lambda: choose(group=state["model_group"]),
        )
    state["model_layer"], state["model_head"] = now.layer + 1, now.head + 1
    most = {"min_value": 1, "width": 120}
    st.number_input(
        f"Layer (1 to {len(layers)})",
        max_value=len(layers),
        key="model_layer",
        on_change=lambda: choose(layer=(state["model_layer"] or now.layer + 1) - 1),
        **most,
    )
    n_heads = layers[now.layer].n_heads
    st.number_input(
        f"Head (1 to {n_heads})",
        max_value=n_heads,
        key="model_head",
        on_change=lambda: choose(head=(state["model_head"] or now.head + 1) - 1),
        **most,
    )
    return now


def glance_picture(
    run: ModelRun, at: Chosen, look: Look = PLAIN, *, width: int = WIDTH, takes_click: bool = False
) -> Mosaic:
    """Draw all heads of a kind of attention; returns what was drawn.

    Args:
        run: whose heads.
        at: the kind, and the head to frame.
        look: what is shown in place of the plain weights; plain where values are unknown.
        width: screen pixels for all heads of a layer.
        takes_click: whether a click chooses a head.
    """
    layers = groups(run.recording)[at.group]
    look = look if all(map(has_values, layers)) else Look(hidden=look.hidden)
    n_heads = max(trace.n_heads for trace in layers)
    gap = 9 if width / n_heads >= 49 else 3
    size = max(SMALLEST, min(LARGEST, width // n_heads - gap))
    drawn = "mosaic", at.group, size, look
    pictures = kept_with(run, drawn, lambda: mosaic(layers, size=size, look=look, of_its_own=True))
    notes = [[habit(head) for head in layer] for layer in summaries_of(run, at.group)]
    frame, select = (at.layer, at.head), "head" if takes_click else None
    clickable_chart(
        heads_chart(pictures, notes, chosen=frame, title=what_is_shown(look), select=select),
        f"model_heads_{at.group}",
        f"All heads of {len(layers)} layers, {at.group}" + "; click one" * takes_click,
        select,
        lambda head: choose(group=at.group, layer=int(head["layer"]), head=int(head["head"])),
    )
    return pictures


def head_map(
    key: str,
    values: Sequence[Sequence[float]],
    at: Chosen,
    *,
    title: str,
    on_choose: Callable[[], None] = lambda: None,
    **colours: Any,
) -> None:
    """Draw one number for every layer and head; a click chooses the head.

    Args:
        key: of the chart; one that changes with the shape of the values.
        values: of each layer, its heads; nan = no number.
        at: the group, and the head to frame.
        title: of the colour bar.
        on_choose: called after a click on a head.
        colours: see layer_head_map.
    """
    small = max(len(values), *map(len, values)) <= MAX_RECT_SIDE  # larger charts are pictures, which take no click
    frame, select = (at.layer, at.head), "cell" if small else None

    def take(cell: dict[str, Any]) -> None:
        choose(group=at.group, layer=int(cell["row"]), head=int(cell["col"]))
        on_choose()

    words = f"{title} of every layer and head" + "; click one" * small
    chart = layer_head_map(values, title=title, chosen=frame, select=select, **colours)
    clickable_chart(chart, key, words, select, take)


def summaries_of(run: ModelRun, group: str) -> list[list[HeadSummary]]:
    """Return the summary of every head of a kind of attention."""
    layers = groups(run.recording)[group]
    special, patches = special_keys(run, layers[0]), patches_of(run, layers[0])
    return kept_with(run, ("summaries", group), lambda: summaries(layers, special, patches))
