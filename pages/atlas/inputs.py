"""What one changes on the page and in its experiments: the matrix, its head; the map of both."""

from typing import NamedTuple

import streamlit as st

from pages.atlas.map import TICK, draw_map, draw_survey, follow_address
from pages.atlas.shared_atlas import MatrixSource, SharedAtlas, shared_atlas
from pages.atlas.sources import choose_head, choose_source
from ui.layout import stop_run
from ui.skeleton import draw_fragment


class OpenedAtlas(NamedTuple):
    """A matrix and the atlas of one of its heads."""

    source: MatrixSource
    shared: SharedAtlas


def choose_atlas() -> OpenedAtlas | None:
    """Draw, behind a button, the choice of a matrix and a head; return None where there is nothing to show yet."""
    with st.popover("Another map", icon=":material/map:"):
        source = choose_source()
        return open_atlas(source, choose_head(source)) if source else None


def open_atlas(source: MatrixSource, head: int) -> OpenedAtlas:
    """Return the atlas of a head, where the address says."""
    shared = shared_atlas(source.key, head, source.trace)
    follow_address(shared.atlas)
    return OpenedAtlas(source, shared)


def draw_atlas_input() -> OpenedAtlas:
    """Draw the choice of an experiment's matrix; ends the experiment where there is nothing to show yet."""
    with st.container(key="experiment_input"):
        opened = choose_atlas()
    if opened is None:
        st.info("Choose under *Another map* what to show.")
        stop_run()
    return opened


def draw_surveyed_map(opened: OpenedAtlas) -> None:
    """Draw the map, and while it is surveyed how far that is."""
    source, shared = opened
    is_surveyed = shared.atlas.is_surveyed
    with st.container(key="atlas_stage"):
        draw_fragment(draw_map, shared, source.title, not is_surveyed)
    if not is_surveyed:
        draw_fragment(draw_survey, shared, beat=TICK)
