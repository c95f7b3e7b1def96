"""Pictures and large tables of numbers as files: one of each for all visitors, which a browser fetches once."""

import hashlib
from mimetypes import guess_type
from threading import Event

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ui.bounded_cache import BoundedCache

MOST_BYTES = 96 * 2**20  # of all files together; the one that was used longest ago goes first
FOLDER = "pictures"
FOR_GOOD = {"Cache-Control": "public, max-age=31536000, immutable"}  # a name is that of its content
FILES = BoundedCache(MOST_BYTES, size=lambda found: len(found[0]))
IS_SERVED = Event()


async def _answer(request: Request) -> Response:
    name = request.path_params["name"]
    found = FILES.find(name)
    return Response(found[0], media_type=guess_type(name)[0], headers=FOR_GOOD) if found else Response(status_code=404)


def route() -> Route:
    """Return the way to the files, for the server that answers it."""
    if not st.get_option("server.baseUrlPath"):
        IS_SERVED.set()
    return Route(f"/{FOLDER}/{{name}}", _answer)


def address(content: bytes, ending: str = "png") -> str | None:
    """Return where browsers find a file; None where no server answers, as in tests of pages without one."""
    if not IS_SERVED.is_set():
        return None
    name = f"{hashlib.blake2b(content, digest_size=16).hexdigest()}.{ending}"
    if FILES.find(name) is None:
        FILES.keep(name, (content,))
    return f"{FOLDER}/{name}"
