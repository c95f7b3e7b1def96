"""What a browser may do with the app's pages, said in the headers of every answer."""

import os
import re
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
FRAMED_BY = "ATTENTION_FRAMED_BY"
"""The variable that names who else may show the app in a frame: addresses such as https://moodle.example."""
ORIGIN = re.compile(r"https?://(\*\.)?[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*(:\d{1,5})?")
POLICY = {
    "default-src": "'self' data: blob:",
    "script-src": "'self' 'unsafe-inline' 'unsafe-eval' blob:",  # Streamlit's own page and Vega's expressions need them
    "style-src": "'self' 'unsafe-inline'",
    "connect-src": "'self' ws: wss: data: blob:",
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'self'",
}


def headers(framed_by: str) -> dict[str, str]:
    """Return the headers for an app that those may frame whom FRAMED_BY names.

    Raises:
        ValueError: one of them is no address such as https://moodle.example.
    """
    for origin in framed_by.split():
        if not ORIGIN.fullmatch(origin):
            raise ValueError(f"{FRAMED_BY} must name addresses such as https://moodle.example, got {origin!r}")
    policy = POLICY | {"frame-ancestors": " ".join(["'self'", *framed_by.split()])}
    named = {
        "content-security-policy": "; ".join(f"{name} {sources}" for name, sources in policy.items()),
        "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
        "referrer-policy": "same-origin",  # an address holds what a visitor has drawn and typed
        "x-content-type-options": "nosniff",
    }
    return named if framed_by.split() else named | {"x-frame-options": "SAMEORIGIN"}  # it knows no list


try:
    HEADERS = headers(os.environ.get(FRAMED_BY, ""))
except ValueError as error:
    sys.exit(str(error))
_ENCODED = [(name.encode(), value.encode()) for name, value in HEADERS.items()]


class SecurityHeaders:
    """Middleware that adds headers: pages load from no other server, run no foreign script, and send no referrer."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Callable[..., Any], send: Callable[..., Awaitable[None]]) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                there = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(pair for pair in _ENCODED if pair[0] not in there)]
            await send(message)

        await self.app(scope, receive, send_with_headers)
