"""The cards of Start: every page with what it shows, photographed beforehand on a light ground and on a dark one."""

import base64
from functools import lru_cache

import streamlit as st

from attention_core.files import find_file
from ui.chart import address
from ui.first_screen import is_dark
from ui.navigation import PAGES, PageEntry, path_of

ACROSS = 3
STYLE = "<style>.card { display: block; width: 100%; aspect-ratio: 16 / 9; border-radius: 4px; }</style>"


def page_cards() -> None:
    """Draw a card for every other page, in their order."""
    st.html(STYLE)
    for first in range(1, len(PAGES), ACROSS):
        for column, entry in zip(st.columns(ACROSS, gap="medium"), PAGES[first : first + ACROSS], strict=False):
            with column.container(border=True, height="stretch"):
                _photograph(entry)
                st.page_link(path_of(entry), label=f"**{entry.title}**")
                st.caption(entry.promise)


def _photograph(entry: PageEntry) -> None:
    content = _file(f"{entry.name}-{'dark' if is_dark() else 'light'}.webp")
    place = address(content, "webp") or f"data:image/webp;base64,{base64.b64encode(content).decode()}"
    st.html(f'<img class="card" src="{place}" alt="" loading="lazy">')


@lru_cache
def _file(name: str) -> bytes:
    return find_file(f"ui/assets/start/{name}").read_bytes()
