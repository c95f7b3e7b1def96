"""How does so large a matrix fit into memory? What all weights take, and what they are computed from."""

import streamlit as st

from attention_core.hub.model import in_units
from pages.atlas.inputs import OpenedAtlas, draw_atlas_input

draw_input = draw_atlas_input


def answer(opened: OpenedAtlas) -> str:
    """Say how many bytes all weights take, and how many are kept."""
    atlas = opened.shared.atlas
    every = f"All {atlas.n_queries:,} × {atlas.n_keys:,} weights take {in_units(atlas.matrix_bytes)}"
    if atlas.trace.window is not None:
        every += f", though of a row only the last {atlas.trace.window:,} are not 0"
    if not atlas.has_product_weights:
        return f"{every}. More than queries and keys makes them here, and that is kept, too."
    return f"{every}. Queries, keys and one sum per row take {in_units(atlas.stored_bytes)}, and these alone are kept."


def draw(opened: OpenedAtlas) -> None:
    """Draw how each weight that is looked at is computed, exactly."""
    if opened.shared.atlas.has_product_weights:
        st.latex(
            r"\begin{aligned} A_{ij} &= \exp(s\, q_i \cdot k_j - \ell_i) \\"
            r"\ell_i &= \log \textstyle\sum_m \exp(s\, q_i \cdot k_m) \end{aligned}"
        )
        st.markdown("What you look at is computed from these, exactly.")
