"""The pages' own style, written into the head of what the server sends: sent later, it would move what is there."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders

from attention_core.files import find_file

Message = MutableMapping[str, Any]
HEAD_END = b"</head>"
VALIDATORS = (b"etag", b"last-modified")  # of the page without its style
FILES = ("page.css", "readable.css")
_STYLE = b"".join(b"<style>%s</style>" % find_file(f"ui/assets/pages/{name}").read_bytes() for name in FILES)


class PageStyle:
    """Middleware that writes it into every HTML answer."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Callable[..., Any], send: Callable[..., Awaitable[None]]) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        start: Message = {}
        body = b""

        async def send_styled(message: Message) -> None:
            nonlocal body
            if message["type"] == "http.response.start" and _is_page(message):
                start.update(message)
            elif not start:
                await send(message)
            else:
                body += message.get("body", b"")
                if not message.get("more_body"):
                    styled = body.replace(HEAD_END, _STYLE + HEAD_END, 1)
                    headers = MutableHeaders(
                        raw=[pair for pair in start["headers"] if pair[0].lower() not in VALIDATORS]
                    )
                    if body:  # what is asked by HEAD has none
                        headers["content-length"] = str(len(styled))
                    await send({**start, "headers": headers.raw})
                    await send({"type": "http.response.body", "body": styled})

        return await self.app(scope, receive, send_styled)


def _is_page(message: Message) -> bool:
    headers = Headers(raw=list(message["headers"]))
    return headers.get("content-type", "").startswith("text/html") and "content-encoding" not in headers
