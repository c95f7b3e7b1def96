"""The allowance of websockets on a public server: what one browser sends too fast waits, and keeps no other waiting."""

import asyncio
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from attention_core.bounds.limits import Bound, is_hosted
from ui.hosting.bounds import MESSAGES_AT_ONCE, MESSAGES_BEYOND, MESSAGES_PER_SECOND
from ui.inside_streamlit import is_clear_cache

Message = MutableMapping[str, Any]
BYTES_PER_CREDIT = 50_000
"""A message costs one credit, and another for each so many bytes."""


class Credit:
    """What somebody may still send at once; it fills up again with time."""

    def __init__(self, at_once: Bound, per_second: Bound) -> None:
        self._at_once, self._per_second = at_once, per_second
        self._balance, self._last_time = float(at_once.maximum), time.monotonic()

    def balance(self) -> float:
        """Return what is left."""
        present = time.monotonic()
        filled = self._balance + (present - self._last_time) * self._per_second.maximum
        self._balance, self._last_time = min(filled, self._at_once.maximum), present
        return self._balance

    def spend(self, cost: float) -> float:
        """Spend what there is of a cost; return how much is beyond."""
        self.balance()
        spent = min(cost, self._balance)
        self._balance -= spent
        return cost - spent


class WebsocketAllowance:
    """Middleware that delays what a connection sends beyond its credit, where the app runs for the public.

    What is beyond waits for one allowance that all connections share, since many that are each within a bound of their
    own take the processor, too. Nothing is dropped but clear_cache, with which any visitor would empty everybody's
    cache, and which no page of ours sends.
    """

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app, self._free_at = app, 0.0

    async def __call__(
        self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[..., Any]
    ) -> None:
        """Answer as the app does, which receives its messages when their turn has come."""
        if scope["type"] != "websocket" or not is_hosted():
            await self.app(scope, receive, send)
            return
        credit = Credit(MESSAGES_AT_ONCE, MESSAGES_PER_SECOND)

        async def receive_in_turn() -> Message:
            while (message := await receive())["type"] == "websocket.receive":
                content = message.get("bytes") or (message.get("text") or "").encode()
                if beyond := credit.spend(1 + len(content) / BYTES_PER_CREDIT):
                    await asyncio.sleep(self._seconds_until_turn(beyond))
                if not is_clear_cache(content):
                    break
            return message

        await self.app(scope, receive_in_turn, send)

    def _seconds_until_turn(self, cost: float) -> float:
        """Put a cost behind all that waits already; return after how many seconds it is paid."""
        present = time.monotonic()
        self._free_at = max(present, self._free_at) + cost / MESSAGES_BEYOND.maximum
        return self._free_at - present
