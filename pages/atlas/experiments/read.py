"""How is this map read? Rows, columns and colours, with a word to jump to."""

import streamlit as st

from pages.atlas.flight import heaviest_key_of
from pages.atlas.inputs import OpenedAtlas, draw_atlas_input, draw_surveyed_map
from pages.atlas.map import draw_search

draw_input = draw_atlas_input


def answer(opened: OpenedAtlas) -> str:
    """Say what a point is, and how many there are."""
    atlas = opened.shared.atlas
    return f"Rows look at columns: each point is one of {atlas.n_queries:,} × {atlas.n_keys:,} weights."


def draw(opened: OpenedAtlas) -> None:
    """Draw how it is moved and what its colours say, the search, and the map."""
    st.markdown(
        "Far out, a point shows the largest weight of many. Drag, wheel, pinch; arrow keys, +, −, and 0 for the whole."
    )
    with st.container(key="desk_atlas_search", horizontal=True, vertical_alignment="bottom", gap="medium"):
        draw_search(opened.shared, heaviest_key_of(*opened))
    draw_surveyed_map(opened)
