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
NEGLIGIBLE = 1e-6


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

    What is beyond waits for an allowance that is divided among all who wait, since many that are each within a bound of
    their own take the processor, too; meanwhile its own credit fills up, so that a message of one credit waits a third
    of a second at most, whoever floods. Nothing is dropped but clear_cache, with which any visitor would empty
    everybody's cache, and which no page of ours sends.
    """

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app, self._n_waiting = app, 0

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
                await self._pay(credit, 1 + len(content) / BYTES_PER_CREDIT)
                if not is_clear_cache(content):
                    break
            return message

        await self.app(scope, receive_in_turn, send)

    async def _pay(self, credit: Credit, cost: float) -> None:
        """Return when a cost is paid: by the connection's credit, and by its share of what is for all who wait."""
        self._n_waiting += 1
        try:
            while (cost := credit.spend(cost)) > NEGLIGIBLE:
                share = MESSAGES_BEYOND.maximum / self._n_waiting
                seconds = min(cost, 1) / (MESSAGES_PER_SECOND.maximum + share)
                await asyncio.sleep(seconds)
                cost -= seconds * share
        finally:
            self._n_waiting -= 1
