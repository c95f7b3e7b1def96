"""The pages' own style, written into what the server sends: sent later, it would move what is there."""

import gzip
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders

from attention_core.files import find_file

Message = MutableMapping[str, Any]
BODY_END = b"</body>"  # behind the styles that Streamlit adds to the head, which would win there
VALIDATORS = (b"etag", b"last-modified")  # of the page without its style
LATER = "lecture.css"
"""For a link to lecture mode alone. The lecture's script takes it away again; the mode, once on, brings its own."""
OPENING = "opening.css"
SECONDS = 12
"""For so long alone: while it is there, whatever changes lets browsers look at the whole page."""
_FOLDER = find_file("ui/assets/pages")
_FILES = [path for path in sorted(_FOLDER.iterdir()) if path.name not in (LATER, OPENING)]
_STYLE = b"".join(b"<style>%s</style>" % path.read_bytes() for path in _FILES)
_STYLE += b"<style id=opening>%s</style>" % (_FOLDER / OPENING).read_bytes()
_STYLE += b'<script>setTimeout(() => document.getElementById("opening").remove(), %d)</script>' % (1000 * SECONDS)
_LECTURE = b'<style id="lecture-style">%s</style>' % (_FOLDER / LATER).read_bytes()


class PageStyle:
    """Middleware that writes it into every page; what is inside must not compress pages."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Callable[..., Any], send: Callable[..., Awaitable[None]]) -> None:
        asked = Headers(scope=scope) if scope["type"] == "http" else {}
        if "text/html" not in asked.get("accept", ""):
            return await self.app(scope, receive, send)
        plain = {**scope, "headers": [pair for pair in scope["headers"] if pair[0] != b"accept-encoding"]}
        start: Message = {}
        body = b""

        async def send_styled(message: Message) -> None:
            nonlocal body
            if message["type"] == "http.response.start":
                start.update(message)
                return
            body += message.get("body", b"")
            if message.get("more_body"):
                return
            headers = MutableHeaders(raw=[pair for pair in start["headers"] if pair[0].lower() not in VALIDATORS])
            style = _STYLE + _LECTURE if b"lecture=1" in scope["query_string"].split(b"&") else _STYLE
            styled = body.replace(BODY_END, style + BODY_END, 1)
            if body and "gzip" in asked.get("accept-encoding", ""):
                styled, headers["content-encoding"] = gzip.compress(styled), "gzip"
            if body:  # what is asked by HEAD has none
                headers["content-length"] = str(len(styled))
            await send({**start, "headers": headers.raw})
            await send({"type": "http.response.body", "body": styled})

        return await self.app(plain, receive, send_styled)
