"""Whether this process can do its work, said by the status of its answers."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

from attention_core.files import MISSING

Message = MutableMapping[str, Any]
PATH = "/_stcore/health"
OF_PAGES = {"referer", "sec-fetch-site"}
"""Headers of what a page in a browser asks."""


class Health:
    """Middleware that answers 503 once something needed could not be read: nginx then asks the next process.

    A page comes whole with that status and works, for where no other process is better off; so health is told to those
    who watch the server, and not to its pages in browsers, which connect only while it is well.
    """

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Callable[..., Any], send: Callable[..., Awaitable[None]]) -> None:
        if scope["type"] != "http" or not MISSING:
            await self.app(scope, receive, send)
        elif scope["path"].endswith(PATH) and OF_PAGES.isdisjoint(Headers(scope=scope)):
            await PlainTextResponse("Something cannot be read here: see the log.", 503)(scope, receive, send)
        else:

            async def send_page(message: Message) -> None:
                if message["type"] == "http.response.start" and message["status"] == 200:
                    kind = Headers(raw=list(message["headers"])).get("content-type", "")
                    message["status"] = 503 if kind.startswith("text/html") else 200
                await send(message)

            await self.app(scope, receive, send_page)
