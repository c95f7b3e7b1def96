"""Files that are made while the app runs: a name is that of its content, so that browsers keep it for good."""

import hashlib
from collections.abc import Callable
from mimetypes import guess_type
from threading import Event

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

FOR_GOOD = {"Cache-Control": "private, max-age=31536000, immutable"}
IS_SERVED = Event()


def base_path() -> str:
    """Return the path below which the server has everything, such as /my/base; "" = none."""
    base = str(st.get_option("server.baseUrlPath")).strip("/")
    return f"/{base}" if base else ""


def content_name(content: bytes) -> str:
    """Return a name that no other content has."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def file_route(folder: str, find: Callable[[str], bytes | str | None]) -> Route:
    """Return the route of a folder's files; `find` gives a file's content by its name, None = there is none."""

    async def answer(request: Request) -> Response:
        name = request.path_params["name"]
        content = find(name)
        if content is None:
            return Response(status_code=404)
        return Response(content, media_type=guess_type(name)[0], headers=FOR_GOOD)

    IS_SERVED.set()
    return Route(f"{base_path()}/{folder}/{{name}}", answer)
