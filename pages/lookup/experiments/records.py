"""Does it find things in my own records? The records are edited, and the query is looked up in them."""

import streamlit as st

from pages.lookup import records, table
from pages.lookup.inputs import LookUp, draw_lookup
from pages.lookup.scene import draw_lookup_scene
from ui.fragments import with_rerun


def draw_input() -> LookUp:
    """Draw the query, and the records to edit; return how it is looked up."""
    lookup = draw_lookup()
    with st.container(key="experiment_input_records"):
        label = f"Records, one per line: key = value, up to {records.MAX_RECORDS}."
        on_change = with_rerun(table.guess_again)
        table.RECORDS.widget(st.text_area, label, height=220, max_chars=records.MAX_LETTERS, on_change=on_change)
        st.button("Restore", key="lookup_restore", on_click=with_rerun(table.LOADED.reset))
    return lookup


def answer(lookup: LookUp) -> str:
    """Say what the query finds."""
    return lookup.describe_answer()


def draw(lookup: LookUp) -> None:
    """Draw the scene of the records."""
    draw_lookup_scene(lookup)
