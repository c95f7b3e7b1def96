"""The page's address: followed on arrival and after Back and Forward, written here alone."""

from typing import Any
from urllib.parse import urlencode

import streamlit as st

from ui.inside_streamlit import came_by_history
from ui.labels import literal
from ui.state import APP, Field, arrival, arrive, fields_of, forget_faults
from ui.try_this import settle

PAGE, PLAYING = Field(APP, "page_shown", ""), Field(APP, "playing", "")
"""The page that a visitor is on; the player that goes on by itself."""
WRITTEN = Field[dict[str, str] | None](APP, "address_written", None)
TOLD = Field[dict[str, str]](APP, "address_told", dict)
"""All that the page's fields say, in one and the same dict, for who reads it while no script runs."""
CAME_BACK = Field(APP, "address_came_back", False)
OPENED = Field[dict[str, str] | None](APP, "session_opened", None)
WITHOUT = "without"
"""In an address: what was too long for it."""
MOST_IN_ADDRESS = 3_900
"""Letters of all that an address tells; a link of 4,000 has room for its server and page."""


def take_address(page: str) -> None:
    """Let the page follow its address: on arrival what a link says, after Back and Forward all of it.

    So it follows a session's file that was opened for it. What every page has stays as it is unless the address says.

    Args:
        page: see PageEntry.name.
    """
    present = st.query_params.to_dict()
    opened, OPENED.value = OPENED.value, None
    goes_back = came_by_history()
    asked = present if opened is None else opened
    everything = goes_back or opened is not None
    if PAGE.value != page or everything:
        arrive(asked)
        WRITTEN.value, PLAYING.value, CAME_BACK.value = present, "", goes_back
        for field in fields_of(page):
            if field.address in asked or (everything and field not in fields_of(APP)):
                field.forget()
    PAGE.value = page


def told(page: str) -> dict[str, str]:
    """Return what an address without bounds would say of a page."""
    texts = {field.address: field.address_text() for field in fields_of(page)}
    return {name: text for name, text in texts.items() if text}


def write_address() -> None:
    """Let the address tell what the page shows, in one message: one entry for the browser's Back.

    While something plays it waits: Back undoes what a visitor did, not every beat. What is too long is left out, the
    longest first, and named.
    """
    present, page = st.query_params.to_dict(), PAGE.value
    if PLAYING.value:
        return
    now, whole = told(page), TOLD.value
    whole.clear()
    whole.update(now)
    settle(now)
    ours = {WITHOUT, *(field.address for field in fields_of(page))}
    wanted = {name: text for name, text in present.items() if name not in ours} | now
    left_out: list[str] = []
    while len(urlencode(wanted)) > MOST_IN_ADDRESS and ours & wanted.keys() - {WITHOUT}:
        left_out.append(max(ours & wanted.keys() - {WITHOUT}, key=lambda name: len(wanted[name])))
        del wanted[left_out[-1]]
        wanted[WITHOUT] = ".".join(left_out)
    common = {field.address for field in fields_of(APP)}
    if CAME_BACK.value and {*wanted.items()} ^ {*present.items()} <= {(name, wanted.get(name)) for name in common}:
        return  # an entry from before, say, lecture mode: a new one in its place would end the way back
    if wanted != present or wanted != WRITTEN.value:  # what the browser says may be older than what was written
        WRITTEN.value, CAME_BACK.value = wanted, False
        st.query_params.from_dict(wanted)


def tell_faults() -> None:
    """Say once what of the address was no value; and what it had no room for, on arrival and when that happens."""
    asked_for, faults = arrival()
    for name, asked in (faults or {}).items():
        part = literal(f"{name}={asked}")
        st.toast(f"{part} in the link is no value here: that part is as on a first visit.", **_FAULT)
    missing = asked_for.get(WITHOUT) if faults is not None else None
    if missing:
        st.toast(f"The link was too long to hold {literal(missing)}: ask for the session file.", **_FAULT)
    forget_faults()


_FAULT: dict[str, Any] = {"icon": ":material/link_off:", "duration": "infinite"}
