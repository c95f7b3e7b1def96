"""Pictures of charts as files of their own: one of each for all visitors, which a browser fetches once."""

from __future__ import annotations

import hashlib
from threading import Event

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ui.shelf import Shelf

MOST_BYTES = 96 * 2**20
"""Of all pictures together; the one that was used longest ago goes first."""
FOLDER = "pictures"
FOR_GOOD = {"Cache-Control": "public, max-age=31536000, immutable"}
"""A name is that of its content."""
FILES = Shelf(MOST_BYTES, size=lambda found: len(found[0]))
IS_SERVED = Event()


async def _answer(request: Request) -> Response:
    found = FILES.find(request.path_params["name"])
    return Response(found[0], media_type="image/png", headers=FOR_GOOD) if found else Response(status_code=404)


def route() -> Route:
    """Return the way to the pictures, for the server that answers it."""
    if not st.get_option("server.baseUrlPath"):
        IS_SERVED.set()
    return Route(f"/{FOLDER}/{{name}}", _answer)


def address(content: bytes) -> str | None:
    """Return where browsers find a picture; None where no server answers, as in tests of pages without one."""
    if not IS_SERVED.is_set():
        return None
    name = f"{hashlib.blake2b(content, digest_size=16).hexdigest()}.png"
    if FILES.find(name) is None:
        FILES.keep(name, (content,))
    return f"{FOLDER}/{name}"
