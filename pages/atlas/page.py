"""The atlas: what does attention look like over two thousand sentences?"""

import streamlit as st

from pages.atlas.flight import draw_flight, draw_framed_text, follow_view, heaviest_key_of, reach_guess
from pages.atlas.inputs import OpenedAtlas, choose_atlas
from pages.atlas.map import TICK, draw_map, draw_search, draw_survey
from pages.atlas.shared_atlas import NAME
from ui.questions import draw_experiment, page_questions
from ui.skeleton import draw_fragment, page_body, page_frame
from ui.try_this import try_this


def draw_moving_map(opened: OpenedAtlas) -> None:
    """Draw the map, again whenever it is moved."""
    follow_view(*opened)
    draw_map(opened.shared, opened.source.title, not opened.shared.atlas.is_surveyed)


def draw_atlas() -> None:
    """Draw the open experiment, or the map, the flight over it, and the page's questions."""
    if draw_experiment(NAME):
        return
    text_area = st.container(key="atlas_words")
    with st.container(key="atlas_screen"):
        story = st.container(key="atlas_story", horizontal=True, vertical_alignment="center", gap="medium")
        stage = st.container(key="atlas_stage")
    tools = st.container(key="desk_atlas", horizontal=True, vertical_alignment="bottom", gap="medium")
    with tools:
        opened = choose_atlas()
    if opened:
        with tools:
            draw_search(opened.shared, heaviest_key_of(*opened))
        with story:
            draw_flight(*opened)
            if guess := reach_guess(*opened):
                try_this(NAME, guess)
        with text_area:
            draw_framed_text(*opened)  # after the flight, which moves the map
        is_surveyed = opened.shared.atlas.is_surveyed
        with stage:
            draw_fragment(draw_moving_map, opened)
        if not is_surveyed:
            with story:
                draw_fragment(draw_survey, opened.shared, beat=TICK)
    else:
        stage.info("Choose under *Another map* what to show.")
    page_questions(NAME, None)


page_frame(
    NAME,
    "One attention head reads. Each row is a piece of text, a word or less; pink cells are where it looks.",
)
page_body(draw_atlas)
