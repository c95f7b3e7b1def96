"""Addresses that are no page's any more lead to the page that was meant, or to Start."""

import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import streamlit as st
from starlette.datastructures import Headers
from starlette.responses import RedirectResponse

from ui.navigation import PAGES

Message = MutableMapping[str, Any]
PAGE_NAMES = {entry.url_path for entry in PAGES}
MEANT = {re.sub(r"\W+", "-", entry.title.lower()): entry.url_path for entry in PAGES}
"""Titles as addresses write them, "draw-a-digit", with the address of the page."""


class OldAddresses:
    """Middleware that redirects unknown pages to others, with their query parameters."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Callable[..., Any], send: Callable[..., Awaitable[None]]) -> None:
        target = new_address(scope) if scope["type"] == "http" else None
        await (self.app if target is None else RedirectResponse(target))(scope, receive, send)


def new_address(scope: Message) -> str | None:
    """Return where a request for a page that is not there leads; None for all other requests."""
    base = f"/{st.get_option('server.baseUrlPath').strip('/')}/".replace("//", "/")
    name = scope["path"].removeprefix(base)
    if not re.fullmatch(r"[\w-]+", name) or name in PAGE_NAMES or name.startswith("_"):
        return None
    if "text/html" not in Headers(scope=scope).get("accept", ""):
        return None
    query = scope["query_string"].decode("latin-1")
    return base + MEANT.get(name.lower(), "") + (f"?{query}" if query else "")
