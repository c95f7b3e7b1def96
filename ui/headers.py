"""What a browser may do with the app's pages, said in the headers of every answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
POLICY = {
    "default-src": "'self' data: blob:",
    "script-src": "'self' 'unsafe-inline' 'unsafe-eval' blob:",  # Streamlit's own page and Vega's expressions need them
    "style-src": "'self' 'unsafe-inline'",
    "connect-src": "'self' ws: wss: data: blob:",
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'self'",
}
HEADERS = {
    "content-security-policy": "; ".join(f"{name} {sources}" for name, sources in POLICY.items()),
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "referrer-policy": "same-origin",  # an address holds what a visitor has drawn and typed
    "x-content-type-options": "nosniff",
}
_ENCODED = [(name.encode(), value.encode()) for name, value in HEADERS.items()]


class SecurityHeaders:
    """Middleware that adds them: pages ask no other server, run no foreign script, and tell nobody their address."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Callable[..., Any], send: Callable[..., Awaitable[None]]) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                there = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(pair for pair in _ENCODED if pair[0] not in there)]
            await send(message)

        await self.app(scope, receive, send_with_headers)
