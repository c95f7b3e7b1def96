"""The story that Start tells: the pages in order, in steps; a large picture of a step's first page, links to all."""

import base64
from functools import lru_cache

import streamlit as st

from attention_core.files import find_file
from ui.chart import file_address
from ui.navigation import PAGES, entry_of, path_of

STORY = (
    ("memory",),
    ("translate", "matter"),
    ("lookup", "vectors"),
    ("scoring",),
    ("transformer",),
    ("photograph", "pixels"),
    ("read", "ask"),
    ("model", "train", "groups", "atlas"),
)
"""Pages of each step by name, in the order in which one leads to the next; a page of none ends the last step."""


def draw_story() -> None:
    """Draw the steps, whose pictures stand left and right in turn."""
    unlisted = {entry.name for entry in PAGES[1:]}.difference(*STORY)
    for number, names in enumerate((*STORY[:-1], (*STORY[-1], *sorted(unlisted))), 1):
        with st.container(key=f"start_step_{number}"):
            is_left = number % 2 == 1
            columns = st.columns([1.25, 1] if is_left else [1, 1.25], gap="large", vertical_alignment="center")
        picture, words = columns if is_left else reversed(columns)
        first, *beside = map(entry_of, names)
        if image := _card(first.name, st.context.theme.type or "light"):
            url = file_address(image, "webp") or f"data:image/webp;base64,{base64.b64encode(image).decode()}"
            picture.html(f'<img class="card" src="{url}" alt="" loading="lazy">')
        with words:
            st.subheader(f":gray[{number}] {first.promise}", anchor=False)
            for entry in (first, *beside):
                label = f"**{entry.title}**" if entry is first else entry.title
                st.page_link(path_of(entry), label=label, icon=":material/arrow_forward:")


@lru_cache
def _card(page: str, ground: str) -> bytes:
    """Return the picture of a page; b"" as long as it has none."""
    path = find_file(f"pages/{page}/card-{ground}.webp")
    return path.read_bytes() if path.exists() else b""
