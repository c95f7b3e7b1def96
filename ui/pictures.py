"""Pictures of charts as files of their own: one of each for all visitors, which a browser fetches once."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from threading import Lock

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

MOST_BYTES = 96 * 2**20
"""Of all pictures together; the one that was used longest ago goes first."""
FOLDER = "pictures"
FOR_GOOD = {"Cache-Control": "public, max-age=31536000, immutable"}
"""A name is that of its content."""


class Shelf:
    """Files by the names of their contents, within a bound.

    Args:
        most_bytes: of all together.
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.is_served = False
        self._files: OrderedDict[str, bytes] = OrderedDict()
        self._bytes, self._turn = 0, Lock()

    def put(self, content: bytes) -> str:
        """Keep a picture; returns its name."""
        name = f"{hashlib.blake2b(content, digest_size=16).hexdigest()}.png"
        with self._turn:
            if name not in self._files:
                self._files[name] = content
                self._bytes += len(content)
            self._files.move_to_end(name)
            while self._bytes > self.most_bytes and len(self._files) > 1:
                self._bytes -= len(self._files.popitem(last=False)[1])
        return name

    def get(self, name: str) -> bytes | None:
        """Return a picture, or None if it is not there."""
        with self._turn:
            return self._files.get(name)


SHELF = Shelf(MOST_BYTES)


async def _answer(request: Request) -> Response:
    content = SHELF.get(request.path_params["name"])
    if content is None:
        return Response(status_code=404)
    return Response(content, media_type="image/png", headers=FOR_GOOD)


def route() -> Route:
    """Return the way to the pictures, for the server that answers it."""
    SHELF.is_served = not st.get_option("server.baseUrlPath")
    return Route(f"/{FOLDER}/{{name}}", _answer)


def address(content: bytes) -> str | None:
    """Return where browsers find a picture; None where no server answers, as in tests of pages without one."""
    return f"{FOLDER}/{SHELF.put(content)}" if SHELF.is_served else None
