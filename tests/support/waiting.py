"""Waits for what happens in its own time: nothing else in tests sleeps."""

import asyncio
import time
from collections.abc import Callable


def wait_until(has_happened: Callable[[], object], seconds: float = 60) -> None:
    """Wait until a condition holds; it may raise what shows that it never will."""
    end = time.monotonic() + seconds
    while not has_happened():
        assert time.monotonic() < end, "it has not happened in time"
        time.sleep(0.02)


async def wait_until_async(has_happened: Callable[[], object], seconds: float = 60) -> None:
    """Wait as wait_until does while other coroutines go on."""
    async with asyncio.timeout(seconds):
        while not has_happened():
            await asyncio.sleep(0.02)
