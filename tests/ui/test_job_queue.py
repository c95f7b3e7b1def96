"""Heavy runs take turns in a queue that has an end; who leaves or fails makes room; light computations go past."""

import asyncio
import threading
import time
from contextlib import suppress

import pytest
from streamlit.testing.v1 import AppTest

from attention_core.concurrency import BoundedCache
from attention_core.device import choose_device
from tests.support.server import served
from tests.support.session import Session
from tests.support.waiting import wait_until_async
from ui.computed import COMPUTE_LOCK, cached_computation
from ui.job_queue import Queue, heavy_run, queue_of

CAPTIONS = ("running", "One visitor is before you", "2 visitors are before you", "3 visitors are before you")


def order(queue: Queue, *threads: int) -> list[int | None]:
    return [queue.wait(thread, 0) for thread in threads]


def test_queue_is_bounded_and_keeps_the_order():
    queue = Queue(max_waiting=2)
    assert [queue.join(thread) for thread in (1, 2, 3, 4)] == [True, True, True, False]
    assert order(queue, 1, 2, 3) == [0, 1, 2]
    queue.leave(2)
    assert 2 not in queue
    assert order(queue, 1, 3) == [0, 1]
    queue.leave(1)
    assert queue.wait(3, 0) == 0
    assert queue.join(4)
    assert queue.wait(4, 0) == 1


def test_waiting_ends_as_soon_as_the_one_before_has_left():
    queue = Queue(max_waiting=2)
    queue.join(1)
    queue.join(2)
    threading.Timer(0.1, queue.leave, [1]).start()
    began = time.monotonic()
    assert queue.wait(2, 20) == 0
    assert time.monotonic() - began < 10


def test_addresses_have_their_turns_and_within_each_the_order_of_asking_stays():
    queue = Queue(max_waiting=8)
    for thread, address in enumerate("aaabac", start=1):
        assert queue.join(thread, f"session {thread}", address)
    ran = []
    for _ in range(6):
        (first,) = [thread for thread in range(1, 7) if thread in queue and queue.wait(thread, 0) == 0]
        ran.append(first)
        queue.leave(first)
    assert ran == [1, 4, 6, 2, 3, 5]


def test_twelve_tabs_of_one_visitor_refuse_nobody_else_and_a_hall_is_refused_only_when_all_is_full():
    queue = Queue(max_waiting=8)
    assert [queue.join(tab, f"tab {tab}", "one visitor") for tab in range(1, 13)] == [True] * 9 + [False] * 3
    assert queue.join(21, "another", "elsewhere")
    assert order(queue, 1, 21, 2, 8, 9) == [0, 1, 2, 8, None]  # the last of the tabs has lost its place
    assert [queue.join(thread, f"hall {thread}", "hall") for thread in range(31, 37)] == [True] * 4 + [False] * 2
    assert 1 in queue  # who runs stays


def test_of_a_session_one_thread_waits():
    queue = Queue(max_waiting=8)
    for thread, session in ((1, "first"), (2, "second"), (3, "third"), (4, "second")):
        assert queue.join(thread, session, "hall")
    assert order(queue, 1, 2, 3, 4) == [0, None, 1, 2]
    queue.leave(2)
    assert queue.join(5, "first", "hall")  # what it runs goes on
    assert order(queue, 1, 5) == [0, 3]


@pytest.fixture
def queue(monkeypatch):
    """The queue of the device, with a short end and nobody in it."""
    queue_of.cache_clear()
    found = queue_of(choose_device())
    found.max_waiting = 2
    yield found
    queue_of.cache_clear()


@pytest.fixture
def busy(queue):
    """An event: somebody runs something heavy until it is set."""
    over, begun = threading.Event(), threading.Event()

    def run() -> None:
        with heavy_run():
            begun.set()
            over.wait(60)

    thread = threading.Thread(target=run)
    thread.start()
    assert begun.wait(10)
    yield over
    over.set()
    thread.join(10)


def page_of_a_run() -> None:
    import streamlit as st

    from ui.job_queue import heavy_run

    st.text("above")
    with heavy_run():
        st.session_state["done"] = st.session_state.get("done", 0) + 1
    st.text("below")


def texts(page: AppTest) -> list[str]:
    assert not page.exception
    return [text.value for text in page.text]


def test_run_inside_a_run_is_the_same_turn(queue):
    with heavy_run(), heavy_run():
        assert threading.get_ident() in queue
    assert threading.get_ident() not in queue


def test_failed_run_makes_room(queue):
    with suppress(ValueError), heavy_run():
        raise ValueError
    assert texts(AppTest.from_function(page_of_a_run, default_timeout=60).run()) == ["above", "below"]


def test_light_computation_goes_past_a_heavy_run(busy):
    answers = []
    light = cached_computation()(lambda number: number + 1)
    thread = threading.Thread(target=lambda: answers.append(light(1.25)))
    thread.start()
    thread.join(10)
    assert answers == [2.25]
    assert not busy.is_set()


def test_where_too_many_wait_the_next_is_told(busy, queue):
    queue.join(-1)
    queue.join(-2)
    page = AppTest.from_function(page_of_a_run, default_timeout=60).run()
    assert texts(page) == ["above"]
    assert "Try again in a moment" in page.info[0].value
    queue.leave(-1)
    queue.leave(-2)
    busy.set()
    page.button[0].click().run()
    assert texts(page) == ["above", "below"]


def caption(session: Session) -> str:
    return " ".join(session.texts("markdown", "text", "alert"))


@pytest.fixture(scope="module")
def address():
    """Of an app with something heavy and something light."""
    with served("tests/support/queue_app.py") as server:
        yield server.address


async def test_visitors_see_their_places_cancel_and_vanish(address):
    """Real sessions: the first runs, the second cancels, the third closes the tab, the fourth comes next."""
    first, second, third, fourth = sessions = [Session(address) for _ in range(4)]
    for session in sessions:
        await session.open()
    runs = []
    for number, session in enumerate(sessions):
        runs.append(asyncio.create_task(session.set_value(session.widgets("checkbox", "run")[0], "bool_value", True)))
        await wait_until_async(lambda session=session, number=number: CAPTIONS[number] in caption(session))
    await second.set_value(second.widgets("button", "queue_cancel*")[0], "trigger_value", True)
    assert second.widgets("button", "queue_again*")
    await wait_until_async(lambda: "2 visitors are before you" in caption(fourth))
    runs[2].cancel()
    await third.close()
    await wait_until_async(lambda: "One visitor is before you" in caption(fourth))
    light = Session(address)
    await light.open()
    answer = await light.set_value(light.widgets("button", "light")[0], "trigger_value", True, 20)
    assert not answer.faults
    assert "light is done" in caption(light)
    assert "running" in caption(first)
    assert "is done" not in caption(first)
    runs[0].cancel()
    await first.close()
    await wait_until_async(lambda: "running" in caption(fourth))
    await second.send_value(second.widgets("button", "queue_again*")[0], "trigger_value", True)
    await wait_until_async(lambda: "One visitor is before you" in caption(second))
    for session in (second, fourth, light):
        await session.close()


async def test_twelve_tabs_of_one_visitor_let_the_next_one_in(address):
    """Real sessions; a proxy on this machine says whose they are."""
    sessions = [Session(address) for _ in range(13)]
    for number, session in enumerate(sessions):
        session.headers = {"X-Forwarded-For": "203.0.113.8" if number == 12 else "203.0.113.7"}
        await session.open()
        await session.send_value(session.widgets("checkbox", "run")[0], "bool_value", True)
    await wait_until_async(lambda: "One visitor is before you" in caption(sessions[12]))
    await wait_until_async(
        lambda: sum("Many visitors are waiting" in caption(session) for session in sessions[:12]) == 4
    )
    for session in sessions:
        await session.close()


def test_a_value_is_kept_before_the_next_visitor_has_the_turn(monkeypatch):
    """Else whoever waited for the same would compute it again."""
    holders = []
    monkeypatch.setattr(BoundedCache, "put", lambda *_: holders.append(COMPUTE_LOCK._holder))
    assert cached_computation()(lambda: 1)() == 1
    assert holders == [threading.get_ident()]
