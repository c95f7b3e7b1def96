"""How does it fit into memory? What all weights take, and what they are computed from."""

import math

import streamlit as st

from attention_core.atlas import Atlas
from attention_core.attention.types import Role
from attention_core.charts.ramps import GREY, ROLE_COLOURS
from attention_core.hub.model import in_units
from pages.atlas.inputs import OpenedAtlas, draw_atlas_input

SIDE = 13.0  # rem, of the larger square
KEPT_COLOUR = ROLE_COLOURS[Role.KEY]

draw_input = draw_atlas_input


def answer(opened: OpenedAtlas) -> str:
    """Say how many bytes all weights take, and how many are kept."""
    atlas = opened.shared.atlas
    every = f"All {atlas.n_queries:,} × {atlas.n_keys:,} weights take {in_units(atlas.matrix_bytes)}"
    if atlas.trace.window is not None:
        every += f", those that are not 0, {atlas.trace.window:,} a row, {in_units(_band_bytes(atlas))}"
    if not atlas.has_product_weights:
        return f"{every}. More than queries and keys makes them here, and that is kept, too."
    return f"{every}. Only queries, keys and one sum per row are kept: {in_units(atlas.stored_bytes)}."


def _band_bytes(atlas: Atlas) -> int:
    """Return what those weights take that are not 0."""
    n = atlas.n_queries
    window = min(atlas.trace.window or n, n)
    return round(atlas.matrix_bytes * (n * window - window * (window - 1) / 2) / (n * atlas.n_keys))


def draw(opened: OpenedAtlas) -> None:
    """Draw both as squares, and how each weight that is looked at is computed, exactly."""
    atlas = opened.shared.atlas
    if not atlas.has_product_weights:
        return
    trace, squares = atlas.trace, ""
    sizes = [("all", atlas.matrix_bytes, GREY), ("kept", atlas.stored_bytes, KEPT_COLOUR)]
    if trace.window is not None:
        sizes.insert(1, ("not 0", _band_bytes(atlas), ROLE_COLOURS[Role.WEIGHTS]))
    for name, n_bytes, colour in sizes:
        side = SIDE * math.sqrt(n_bytes / max(atlas.matrix_bytes, atlas.stored_bytes))
        square = f'<i style="width:{side:.2f}rem;height:{side:.2f}rem;background:{colour}"></i>'
        squares += f"<span>{square}{name}: {in_units(n_bytes)}</span>"
    st.html(f'<p class="squares">{squares}</p>')
    reach = "" if trace.window is None else rf"\;\text{{if }} i - {trace.window - 1} \le j \le i, \text{{ else }} 0"
    st.latex(rf"A_{{ij}} = \exp(s\, q_i \cdot k_j - \ell_i){reach}", width="content")
    st.markdown("Each weight is computed from these, exactly; $\\ell_i$ is the logarithm of a row's sum.")
