"""How does it fit into memory? What all weights take, and what they are computed from."""

import math

import streamlit as st

from attention_core.atlas import Atlas
from attention_core.attention.types import Role
from attention_core.charts.ramps import GREY, ROLE_COLOURS
from attention_core.hub.model import in_units
from pages.atlas.inputs import OpenedAtlas, draw_atlas_input

SIDE = 56  # hundredths of the window's height, of the largest square

draw_input = draw_atlas_input


def answer(opened: OpenedAtlas) -> str:
    """Say how many bytes all weights take, and how many are kept."""
    atlas = opened.shared.atlas
    every = f"All {atlas.n_queries:,} × {atlas.n_keys:,} weights would take {in_units(atlas.matrix_bytes)}."
    if not atlas.has_product_weights:
        return f"{every} More than queries and keys makes them here, and that is kept, too."
    return f"{every} Only queries, keys and one sum per row are kept: each weight follows from these."


def _band_bytes(atlas: Atlas) -> int:
    """Return what those weights take that are not 0."""
    n = atlas.n_queries
    window = min(atlas.trace.window or n, n)
    return round(atlas.matrix_bytes * (n * window - window * (window - 1) / 2) / (n * atlas.n_keys))


def draw(opened: OpenedAtlas) -> None:
    """Draw as squares what all weights take, those within reach, and what they are computed from."""
    atlas = opened.shared.atlas
    if not atlas.has_product_weights:
        return
    window, squares = atlas.trace.window, ""
    pink, kept = ROLE_COLOURS[Role.WEIGHTS], ROLE_COLOURS[Role.KEY]
    sizes = [("all weights", atlas.matrix_bytes, GREY), ("queries, keys and sums", atlas.stored_bytes, kept)]
    if window is not None:
        reached = f"linear-gradient(to top right, {GREY} 49.7%, {pink} 49.7% 50.3%, {GREY} 50.3%)"
        sizes[0] = ("all weights; pink: those in reach", atlas.matrix_bytes, reached)
        sizes.insert(1, (f"in reach: {window:,} a row", _band_bytes(atlas), pink))
    for name, n_bytes, colour in sizes:
        side = SIDE * math.sqrt(n_bytes / max(atlas.matrix_bytes, atlas.stored_bytes))
        squares += f'<span><i style="--side:{side:.2f};background:{colour}"></i><b>{in_units(n_bytes)}</b>{name}</span>'
    st.html(f'<p class="squares">{squares}</p>')
