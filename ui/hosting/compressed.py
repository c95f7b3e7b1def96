"""Scripts and styles, compressed once and kept: slow lines wait for bytes, and every visitor asks for the same files.

Streamlit sends its own files plain, to spare the processor, and compresses others anew for every request.
"""

import asyncio
import gzip
import re
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response

from ui.hosting.middleware import Message, Middleware
from ui.served import base_path, content_name

COMPRESSED_BYTES = 8_000_000
"""How many bytes are kept at most: all of Streamlit's scripts have seven millions, those that our pages load one."""
FILES = re.compile(r"/(static/(js|css)|scripts)/[\w.-]+\.(js|css)")
"""A file has one such address, so that strangers cannot have it compressed under others."""
ACCEPTS_GZIP = re.compile(r"(?:^|,)\s*gzip\s*(?:,|$|;(?!\s*q=0(?:\.0*)?\s*(?:,|$)))")
CONDITIONS = {b"accept-encoding", b"if-none-match", b"if-modified-since"}


class Compressed(Middleware):
    """Middleware that answers with compressed files; HEAD and ranges are answered as without it."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        super().__init__(app)
        self._answers: dict[str, asyncio.Task[Response | None]] = {}
        self.n_bytes = 0

    async def __call__(self, scope: Message, receive: Callable[..., Any], send: Callable[..., Awaitable[None]]) -> None:
        requested = Headers(scope=scope) if scope["type"] == "http" and scope["method"] == "GET" else {"range": ""}
        if "range" in requested or not FILES.fullmatch(scope["path"].removeprefix(base_path())):
            return await self.app(scope, receive, send)
        if ACCEPTS_GZIP.search(requested.get("accept-encoding", "")) and (answer := await self._answer(scope)):
            if requested.get("if-none-match") == answer.headers["etag"]:
                kept = {name: answer.headers[name] for name in ("etag", "cache-control", "vary")}
                answer = Response(status_code=304, headers=kept)
            return await answer(scope, receive, send)

        async def send_varying(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["vary"] = "Accept-Encoding"
            await send(message)

        return await self.app(scope, receive, send_varying)

    async def _answer(self, scope: Message) -> Response | None:
        """Return the answer with a compressed file; None where there is none, or no room for it."""
        path = scope["path"]
        if path not in self._answers:
            self._answers[path] = asyncio.create_task(self._compress(scope))
        return await asyncio.shield(self._answers[path])  # others wait for it, too

    async def _compress(self, scope: Message) -> Response | None:
        plain = {**scope, "headers": [pair for pair in scope["headers"] if pair[0] not in CONDITIONS], "extensions": {}}
        sent: list[Message] = []

        async def receive() -> Message:
            return await asyncio.Future()  # nobody hangs up

        async def send(message: Message) -> None:
            sent.append(message)

        with ExitStack() as unless_read:
            unless_read.callback(self._answers.pop, scope["path"])
            await self.app(plain, receive, send)
            headers = Headers(raw=list(sent[0]["headers"]))
            if sent[0]["status"] != 200 or "html" in headers["content-type"]:  # the page, for a file that is not there
                return None
            unless_read.pop_all()
        content = b"".join(message.get("body", b"") for message in sent)
        compressed = await asyncio.to_thread(gzip.compress, content, 9, mtime=0)
        if self.n_bytes + len(compressed) > COMPRESSED_BYTES or len(compressed) >= len(content):
            return None
        self.n_bytes += len(compressed)
        about = {name: headers[name] for name in ("content-type", "cache-control")}
        about |= {"content-encoding": "gzip", "vary": "Accept-Encoding", "etag": f'"{content_name(compressed)}"'}
        return Response(compressed, headers=about)
