"""How does my own text look? A text of the visitor's, read by the language model."""

import streamlit as st

from attention_core.attention.wording import format_count, percent
from pages.atlas.flight import LANDING, echo_of
from pages.atlas.inputs import OpenedAtlas, draw_surveyed_map, open_atlas
from pages.atlas.sources import choose_head, text_source
from ui.layout import stop_run


def draw_input() -> OpenedAtlas:
    """Draw the text, the layer and the head; ends the experiment where the text is empty."""
    LANDING.reset()  # the page flies to its own map again
    with st.container(key="experiment_input"):
        if source := text_source():
            return open_atlas(source, choose_head(source))
    stop_run()


def answer(opened: OpenedAtlas) -> str:
    """Say how far its pieces look back, and how much of that goes to what came next the first time."""
    source, shared = opened
    atlas = shared.atlas
    reach = f"Your text has {format_count(atlas.n_queries, 'pieces')}; each sees the last {atlas.trace.window}."
    if (echo := echo_of(source, shared)) is None:
        return reach
    return (
        f"{reach} Where words of one sentence return in the next, {percent(echo.shares[1])} of this head’s attention "
        "goes to what came next the first time."
    )


def draw(opened: OpenedAtlas) -> None:
    """Draw its map."""
    draw_surveyed_map(opened)
