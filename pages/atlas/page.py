"""The atlas: what does attention look like over two thousand sentences?"""

import streamlit as st

from pages.atlas.flight import (
    SUBTITLE,
    draw_flight,
    draw_story,
    follow_source,
    follow_view,
    heaviest_key_of,
    map_notes,
    rest_guess,
)
from pages.atlas.inputs import OpenedAtlas, choose_atlas
from pages.atlas.map import TICK, draw_map, draw_search, draw_survey
from pages.atlas.shared_atlas import NAME
from ui.questions import draw_experiment, page_questions
from ui.skeleton import draw_fragment, page_body, page_frame
from ui.try_this import try_this


def draw_moving_map(opened: OpenedAtlas) -> None:
    """Draw the map, again whenever it is moved."""
    follow_view(*opened)
    draw_map(opened.shared, opened.source.title, not opened.shared.atlas.is_surveyed, map_notes(*opened))


def draw_atlas() -> None:
    """Draw the open experiment, or the map, the flight over it, and the page's questions."""
    if draw_experiment(NAME):
        return
    with st.container(key="atlas_screen"):
        story = st.container(key="atlas_story", horizontal=True, gap="medium")
        stage = st.container(key="atlas_stage")
    tools = st.container(key="desk_atlas", horizontal=True, vertical_alignment="bottom", gap="medium")
    with tools:
        opened = choose_atlas()
    if opened:
        with tools:
            draw_search(opened.shared, heaviest_key_of(*opened))
        follow_source(*opened)
        with stage:
            draw_flight(*opened)
        with story:
            draw_story(*opened)  # after the flight, which moves the map
            if guess := rest_guess(*opened):
                try_this(NAME, guess)
        is_surveyed = opened.shared.atlas.is_surveyed
        with stage:
            draw_fragment(draw_moving_map, opened)
        if not is_surveyed:
            with story:
                draw_fragment(draw_survey, opened.shared, beat=TICK)
    else:
        stage.info("Choose under *Another map* what to show.")
    page_questions(NAME, None)


page_frame(NAME, SUBTITLE.value)
page_body(draw_atlas)
