"""How does it fit into memory? What all weights take, and what they are computed from."""

import math

import streamlit as st

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
        every += f", though of a row only the last {atlas.trace.window:,} are not 0"
    if not atlas.has_product_weights:
        return f"{every}. More than queries and keys makes them here, and that is kept, too."
    return f"{every}. Only queries, keys and one sum per row are kept: {in_units(atlas.stored_bytes)}."


def draw(opened: OpenedAtlas) -> None:
    """Draw both as squares, and how each weight that is looked at is computed, exactly."""
    atlas = opened.shared.atlas
    if not atlas.has_product_weights:
        return
    trace, squares = atlas.trace, ""
    for name, n_bytes, colour in (("weights", atlas.matrix_bytes, GREY), ("kept", atlas.stored_bytes, KEPT_COLOUR)):
        side = SIDE * math.sqrt(n_bytes / max(atlas.matrix_bytes, atlas.stored_bytes))
        square = f'<i style="width:{side:.2f}rem;height:{side:.2f}rem;background:{colour}"></i>'
        squares += f"<span>{square}{name}: {in_units(n_bytes)}</span>"
    bounds, reach = r"\textstyle\sum_m", ""
    if trace.window is not None:
        first = f"i - {trace.window - 1}"
        bounds, reach = (
            rf"\sum_{{m = \max(1,\, {first})}}^{{i}}",
            rf"\;\text{{if }} {first} \le j \le i, \text{{ else }} 0",
        )
    left, right = st.columns([1, 1.5], gap="large", vertical_alignment="center")
    left.html(f'<p class="squares">{squares}</p>')
    with right:
        st.latex(
            rf"\begin{{aligned}} A_{{ij}} &= \exp(s\, q_i \cdot k_j - \ell_i){reach} \\"
            rf"\ell_i &= \log {bounds} \exp(s\, q_i \cdot k_m) \end{{aligned}}"
        )
        st.markdown("Each weight is computed from these, exactly.")
