"""Floods of messages over websockets: they wait, others' do not, and nobody empties everybody's cache."""

import asyncio
import time
from contextlib import suppress
from itertools import repeat

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from ui.hosting import allowance
from ui.hosting.allowance import WebsocketAllowance

RERUN = BackMsg(rerun_script={"query_string": "a"}).SerializeToString()
CLEAR = BackMsg(clear_cache=True).SerializeToString()


class Clock:
    """Time that goes on only while somebody sleeps."""

    def __init__(self):
        self.now, self._sleepers = 100.0, []

    def monotonic(self):
        return self.now

    async def sleep(self, seconds):
        woken = asyncio.get_running_loop().create_future()
        self._sleepers.append((self.now + seconds, len(self._sleepers), woken))
        await woken

    async def run(self, seconds):
        """Let so much time go by."""
        end = self.now + seconds
        while True:
            for _ in range(200):
                await ORIGINAL_SLEEP(0)
            self._sleepers.sort(key=lambda sleeper: sleeper[:2])
            if not self._sleepers or self._sleepers[0][0] > end:
                self.now = end
                return
            self.now, _, woken = self._sleepers.pop(0)
            woken.set_result(None)


ORIGINAL_SLEEP = asyncio.sleep


@pytest.fixture
def clock(monkeypatch):
    monkeypatch.setenv("ATTENTION_HOSTED", "1")
    mine = Clock()
    monkeypatch.setattr(time, "monotonic", mine.monotonic)
    monkeypatch.setattr(allowance.asyncio, "sleep", mine.sleep)
    return mine


class Line:
    """A connection: what its browser sends, and when the app got it."""

    def __init__(self, clock, middleware, contents, kind="websocket", pause=0, lost_after=1e9):
        self.got, self._clock, self._contents, self._pause = [], clock, iter(contents), pause
        self._lost_at = clock.now + lost_after
        middleware.app = self.app
        self._task = asyncio.ensure_future(middleware({"type": kind, "line": self}, self._receive, self._send))

    async def _send(self, message):
        if self._clock.now >= self._lost_at:
            raise OSError

    async def _receive(self):
        if self._pause:
            await self._clock.sleep(self._pause)
        with suppress(StopIteration):
            return {"type": "websocket.receive", "bytes": next(self._contents)}
        return {"type": "websocket.disconnect"}

    @staticmethod
    async def app(scope, receive, send):
        line = scope["line"]
        while (message := await receive())["type"] == "websocket.receive":
            line.got.append((line._clock.now - 100, message["bytes"]))
            await send({"type": "websocket.send", "bytes": b""})
            await ORIGINAL_SLEEP(0)
        line.closed = message

    def n_until(self, seconds):
        return sum(when <= seconds for when, _ in self.got)

    @property
    def has_ended(self):
        return self._task.done()

    def stop(self):
        self._task.cancel()


async def test_a_flood_waits_and_others_do_not(clock):
    middleware = WebsocketAllowance(None)
    floods = [Line(clock, middleware, repeat(RERUN)) for _ in range(10)]
    await clock.run(10)
    assert sum(flood.n_until(0) for flood in floods) <= 10 * 4 + 15  # each costs a little more than one credit
    n_messages = [flood.n_until(10) - flood.n_until(0) for flood in floods]
    assert 10 * 6 - 15 <= sum(n_messages) <= 10 * 6  # however many flood
    assert max(n_messages) <= 10
    visitor = Line(clock, middleware, [RERUN] * 3)
    await clock.run(0)
    assert visitor.got == [(10, RERUN)] * 3
    for flood in floods:
        flood.stop()


async def test_who_drags_a_handle_alone_waits_for_nothing(clock):
    line = Line(clock, WebsocketAllowance(None), [RERUN] * 80, pause=1 / 8)
    await clock.run(11)
    assert [when for when, _ in line.got] == pytest.approx([(i + 1) / 8 for i in range(80)])


async def test_a_large_message_costs_more(clock):
    line = Line(clock, WebsocketAllowance(None), [RERUN, bytes(8_000_000), RERUN])
    await clock.run(60)
    seconds = [when for when, _ in line.got]
    assert seconds[0] == 0
    assert seconds[1] == pytest.approx((1 + 160 - 3 - 15) / 6, abs=0.01)
    assert len(seconds) == 3


async def test_a_visitor_does_not_stand_behind_floods(clock):
    middleware = WebsocketAllowance(None)
    floods = [Line(clock, middleware, repeat(RERUN)) for _ in range(10)]
    await clock.run(30)
    dragging = Line(clock, middleware, [RERUN] * 44)
    clicking = Line(clock, middleware, [RERUN] * 40, pause=1.01)
    await clock.run(60)
    assert [when for when, _ in clicking.got] == pytest.approx([30 + 1.01 * (i + 1) for i in range(40)])
    seconds = [when - 30 for when, _ in dragging.got]
    assert seconds[:3] == [0] * 3
    assert len(seconds) == 44
    assert seconds[12] < 10 * 11 / 6 / 3  # the first ten that wait come three times as fast as from an equal share
    for flood in floods:
        flood.stop()


async def test_a_connection_that_never_pauses_is_closed_since_its_browser_may_be_gone(clock):
    middleware = WebsocketAllowance(None)
    lines = [Line(clock, middleware, [RERUN] * 1_000) for _ in range(2)]
    await clock.run(100)
    assert all(line.has_ended and line.n_until(100) < 350 for line in lines)
    assert {line.closed["code"] for line in lines} == {1013}
    later = Line(clock, middleware, [RERUN] * 18)
    await clock.run(0)
    assert later.n_until(100) == 18


async def test_a_connection_that_is_lost_ends_with_the_first_answer_that_does_not_arrive(clock):
    line = Line(clock, WebsocketAllowance(None), [RERUN] * 1_000, lost_after=10)
    await clock.run(12)
    assert line.has_ended
    assert sum(when >= 10 for when, _ in line.got) == 1


async def test_nobody_empties_everybody_s_cache(clock, monkeypatch):
    contents = [CLEAR, RERUN, CLEAR, b"\xff damaged"]
    line = Line(clock, WebsocketAllowance(None), contents)
    await clock.run(1)
    assert [content for _, content in line.got] == [RERUN, b"\xff damaged"]
    monkeypatch.setenv("ATTENTION_HOSTED", "0")
    own = Line(clock, WebsocketAllowance(None), [CLEAR, *[RERUN] * 100])
    await clock.run(0)
    assert len(own.got) == 101


async def test_flooding_pages_with_requests_is_not_its_matter(clock):
    line = Line(clock, WebsocketAllowance(None), [RERUN] * 30, kind="http")
    await clock.run(0)
    assert line.n_until(0) == 30
