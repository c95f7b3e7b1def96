"""The atlas: what does attention look like over two thousand sentences?"""

import streamlit as st

from attention_core.hub.model import in_units
from pages.atlas.flight import draw_flight, draw_framed_text, follow_view, heaviest_key_of, shape_guess
from pages.atlas.map import TICK, draw_map, draw_search, draw_survey, follow_address
from pages.atlas.shared_atlas import NAME, SharedAtlas, shared_atlas
from pages.atlas.sources import MatrixSource, choose_head, choose_source
from ui.layout import last_on_phone
from ui.skeleton import Tab, draw_fragment, page_frame, page_tabs
from ui.try_this import try_this


def draw_reading_guide() -> None:
    move, read = st.columns(2, gap="large")
    move.markdown("Rows look at columns. Drag, wheel, pinch, double-click; arrow keys, +, − and 0.")
    read.markdown("Pinker is larger, each step multiplies. Far out, a point shows the largest weight of many.")


def draw_moving_map(source: MatrixSource, shared: SharedAtlas) -> None:
    follow_view(source, shared)
    draw_map(shared, source.title, not shared.atlas.is_surveyed)


def draw_memory(shared: SharedAtlas) -> None:
    atlas = shared.atlas
    sizes, formula = st.columns(2, gap="large")
    sizes.markdown(
        f"All weights: **{in_units(atlas.matrix_bytes)}**. Queries, keys and one sum per row: "
        f"**{in_units(atlas.stored_bytes)}**. What you look at is computed from these, exactly."
    )
    formula.latex(
        r"\begin{aligned} A_{ij} &= \exp(s\, q_i \cdot k_j - \ell_i) \\"
        r"\ell_i &= \log \textstyle\sum_m \exp(s\, q_i \cdot k_m) \end{aligned}"
    )


page_frame(
    NAME, "One attention head reads. Each row is a position, such as a piece of a word; pink cells are where it looks."
)
last_on_phone("atlas_screen", "atlas_story")
text_area = st.container(key="atlas_words")
with st.container(key="atlas_screen"):
    story_column, map_column = st.columns([1, 3.1], gap="medium")
story, stage = story_column.container(key="atlas_story"), map_column.container(key="atlas_stage")
tools = st.container(key="desk_atlas", horizontal=True, vertical_alignment="bottom", gap="medium")
deeper: tuple[Tab, ...] = ()
with tools, st.popover("Another map", icon=":material/map:"):
    source = choose_source()
    head = choose_head(source) if source else 0
if source:
    shared = shared_atlas(source.key, head, source.trace)
    follow_address(shared.atlas)
    with tools:
        draw_search(shared, heaviest_key_of(source, shared))
    with story:
        draw_flight(source, shared)
        if guess := shape_guess(source, shared):
            try_this(NAME, guess)
    with text_area:
        draw_framed_text(source, shared)  # after the flight, which moves the map
    is_surveyed = shared.atlas.is_surveyed
    with stage:
        draw_fragment(draw_moving_map, source, shared)
    if not is_surveyed:
        with story:
            draw_fragment(draw_survey, shared, beat=TICK)
    if shared.atlas.has_product_weights:
        deeper = (Tab("why", "Why it fits", lambda: draw_memory(shared)),)
else:
    stage.info("Choose under *Another map* what to show.")
page_tabs(NAME, Tab("read", "How to read it", draw_reading_guide), more=deeper)
