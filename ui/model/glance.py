"""The model at a glance: every layer and head as a small picture; a click chooses one."""

from __future__ import annotations

from functools import partial

import streamlit as st

from attention_core.charts.heads import heads_chart
from attention_core.charts.mosaic import Mosaic, mosaic
from attention_core.explain.heads import PLAIN, HeadSummary, Look, groups, habit, has_values, summaries
from attention_core.hub.run import ModelRun, patches_of, special_keys
from ui.layout import section
from ui.model.handed_over import what_is_shown
from ui.model.kept import kept
from ui.model.state import Chosen, choose, chosen

WIDTH = 1000
"""Screen pixels for all heads of a layer."""
LARGEST, SMALLEST = 150, 12
"""Screen pixels of one picture; below the smallest the chart is scrolled."""
SCROLLS = """<style>[class*="_glance"] { overflow-x: auto; }</style>"""


def glance(run: ModelRun, name: str, look: Look = PLAIN, *, width: int = WIDTH) -> None:
    """Draw all heads of the chosen kind of attention, and what chooses among them.

    Args:
        run: what is on the page.
        name: prefix of its state.
        look: what is shown in place of the plain weights.
        width: screen pixels for all heads of a layer.
    """
    section("Every layer and head")
    st.markdown("One picture a head: queries down, keys across. A click chooses it.")
    now = choice(run, name)
    pictures = glance_picture(run, now, look, width=width, select=name)
    st.caption(_how_to_read(pictures, look))


def choice(run: ModelRun, name: str) -> Chosen:
    """Let a person choose kind of attention, layer and head without a mouse; returns what is chosen."""
    now, found = chosen(name, run), groups(run.recording)
    layers = found[now.group]
    if len(found) > 1:
        st.session_state[f"{name}_group"] = now.group
        st.segmented_control(
            "Attention of",
            list(found),
            key=f"{name}_group",
            format_func=lambda group: group.capitalize(),
            required=True,
            wrap=True,
            on_change=partial(_take_field, name, "group"),
        )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key=f"{name}_choice"):
        for what, n, value in (("layer", len(layers), now.layer), ("head", layers[now.layer].n_heads, now.head)):
            key = f"{name}_{what}"
            st.session_state[key] = value + 1
            st.number_input(
                f"{what.capitalize()} (1 to {n})",
                min_value=1,
                max_value=n,
                key=key,
                width=150,
                on_change=partial(_take_field, name, what),
            )
    return now


def glance_picture(
    run: ModelRun, at: Chosen, look: Look = PLAIN, *, width: int = WIDTH, select: str | None = None
) -> Mosaic:
    """Draw all heads of a kind of attention; returns what was drawn.

    Args:
        run: whose heads.
        at: the kind, and the head to frame.
        look: what is shown in place of the plain weights; plain where values are unknown.
        width: screen pixels for all heads of a layer.
        select: prefix of the state into which a click is put, or None.
    """
    layers = groups(run.recording)[at.group]
    look = look if all(map(has_values, layers)) else Look(hidden=look.hidden)
    size = picture_size(max(trace.n_heads for trace in layers), width)
    pictures = kept(
        run, ("mosaic", at.group, size, look), lambda: mosaic(layers, size=size, look=look, of_its_own=True)
    )
    notes = [[habit(one) for one in layer] for layer in summaries_of(run, at.group)]
    frame = (at.layer, at.head)
    chart = heads_chart(pictures, notes, chosen=frame, title=what_is_shown(look), select="head" if select else None)
    words = f"All heads of {len(layers)} layers, {at.group}"
    if select is None:
        st.altair_chart(chart, width="content", alt=words)
        return pictures
    st.html(SCROLLS)
    key = f"{select}_heads_{at.group}"
    with st.container(key=f"{select}_glance"):
        st.altair_chart(
            chart,
            key=key,
            on_select=partial(_take_head, select, at.group, key),
            selection_mode="head",
            width="content",
            alt=f"{words}; click one",
        )
    return pictures


def picture_size(n_heads: int, width: int = WIDTH) -> int:
    """Return the screen pixels of one picture, so that all heads of a layer fit where they can."""
    gap = 9 if width / n_heads >= 49 else 3
    return max(SMALLEST, min(LARGEST, width // n_heads - gap))


def summaries_of(run: ModelRun, group: str) -> list[list[HeadSummary]]:
    """Return the summary of every head of a kind of attention, computed once."""
    layers = groups(run.recording)[group]
    special, patches = special_keys(run, layers[0]), patches_of(run, layers[0])
    return kept(run, ("summaries", group), lambda: summaries(layers, special, patches))


def _how_to_read(pictures: Mosaic, look: Look) -> str:
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
    return words


def _take_head(name: str, group: str, key: str) -> None:
    clicked = st.session_state[key]["selection"].get("head")
    if clicked:
        choose(name, group=group, layer=int(clicked[0]["layer"]), head=int(clicked[0]["head"]))


def _take_field(name: str, what: str) -> None:
    value = st.session_state[f"{name}_{what}"]
    if value is not None:
        choose(name, **{what: value if what == "group" else int(value) - 1})
