"""The allowance of websockets on a public server: what one browser sends too fast waits, and keeps no other waiting."""

import asyncio
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from attention_core.bounds.limits import Bound, is_hosted
from ui.hosting.bounds import (
    MESSAGES_AT_FIRST,
    MESSAGES_AT_ONCE,
    MESSAGES_BEYOND,
    MESSAGES_PER_SECOND,
    MESSAGES_SECONDS,
)
from ui.inside_streamlit import is_clear_cache

Message = MutableMapping[str, Any]
BYTES_PER_CREDIT = 50_000
"""A message costs one credit, and another for each so many bytes."""
NEGLIGIBLE = 1e-6
SECONDS_BETWEEN_LOOKS = 1.0
"""After which a message that waits has another share, and ends if its connection is lost."""
TRY_AGAIN_LATER = 1013  # of RFC 6455's registry


class Credit:
    """What somebody may still send at once; it fills up with time."""

    def __init__(self, at_once: Bound, per_second: Bound, at_first: Bound | None = None) -> None:
        self._at_once, self._per_second = at_once, per_second
        self._balance, self._last_time = float((at_first or at_once).maximum), time.monotonic()

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

    def skip(self) -> None:
        """Let the time since the last balance not count."""
        self._last_time = time.monotonic()


class Connection:
    """A connection's credit, for how many seconds its messages have waited without a pause, and whether it is lost."""

    def __init__(self) -> None:
        self.credit, self.waited = Credit(MESSAGES_AT_ONCE, MESSAGES_PER_SECOND, MESSAGES_AT_FIRST), 0.0
        self.is_lost = False

    @property
    def weight(self) -> float:
        """Return for how much it counts among those who wait: a flood soon for less than who drags a handle."""
        return 1 / (1 + self.waited)


class WebsocketAllowance:
    """Middleware that delays what a connection sends beyond its credit, where the app runs for the public.

    What is beyond is taken from one allowance of all, since many that are each within a bound of their own take the
    processor, too. Who waits has a share of it, and the longer without a pause, the smaller; no credit fills up
    meanwhile, so that all who flood together get the allowance and no more. Nothing is dropped but clear_cache, with
    which any visitor would empty everybody's cache, and which no page of ours sends; but a connection that has waited
    for too long is closed, and one that is lost ends with the first answer that does not arrive, though its messages
    still stand before the server's word of it. A page connects again by itself.
    """

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app, self._waiting = app, set[Connection]()
        self._beyond = Credit(MESSAGES_AT_ONCE, MESSAGES_BEYOND)

    async def __call__(
        self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[..., Any]
    ) -> None:
        """Answer as the app does, which receives its messages when their turn has come."""
        if scope["type"] != "websocket" or not is_hosted():
            await self.app(scope, receive, send)
            return
        connection = Connection()

        async def receive_in_turn() -> Message:
            while (message := await receive())["type"] == "websocket.receive":
                content = message.get("bytes") or (message.get("text") or "").encode()
                await self._pay(connection, 1 + len(content) / BYTES_PER_CREDIT)
                if connection.is_lost or connection.waited > MESSAGES_SECONDS.maximum:
                    return {"type": "websocket.disconnect", "code": TRY_AGAIN_LATER}
                if not is_clear_cache(content):
                    break
            return message

        async def send_if_open(message: Message) -> None:
            try:
                await send(message)
            except OSError:  # Streamlit would log it as an error of its own
                connection.is_lost = True

        await self.app(scope, receive_in_turn, send_if_open)

    async def _pay(self, connection: Connection, cost: float) -> None:
        """Return when a cost is paid: by the connection's credit, and by its share of what is for all who wait."""
        cost = connection.credit.spend(cost)
        if not self._waiting:
            cost = self._beyond.spend(cost)
        if cost <= NEGLIGIBLE:
            connection.waited = 0
            return
        self._waiting.add(connection)
        try:
            while cost > NEGLIGIBLE and not connection.is_lost:
                share = MESSAGES_BEYOND.maximum * connection.weight / sum(other.weight for other in self._waiting)
                seconds = min(cost / share, SECONDS_BETWEEN_LOOKS)
                await asyncio.sleep(seconds)
                connection.waited += seconds
                cost -= seconds * share
        finally:
            self._waiting.remove(connection)
            connection.credit.skip()
            self._beyond.skip()
