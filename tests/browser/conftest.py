"""A running app and a browser page that watches it: `app_url` and `page`.

Every request to another host finds none and fails the test, as do errors and warnings in the browser's console; the
server's log is read when all tests are done.
"""

import asyncio
import os
import re
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, expect, sync_playwright

from benchmarks import browser
from benchmarks.server import SECONDS_TO_START, command, free_port, started
from benchmarks.session import Session

ARGUMENTS = [
    *browser.ARGUMENTS,
    "--disable-component-update",
    "--disable-sync",
    "--process-per-site",  # the next visitor's scripts are compiled already
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # a route that aborts would switch the cache off
]
BAD_LINE = re.compile(r"Traceback|[Dd]eprecat|Warning|ERROR|Error:")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.flaky(reruns=1))  # a busy machine can lose a click; told in the summary


def _chromium() -> str:
    """Return the browser's path; without one skip, or fail where the variable ATTENTION_REQUIRE_BROWSER is set."""
    if browser.CHROMIUM:
        return browser.CHROMIUM
    reason = "no Chromium on the PATH nor in the variable CHROMIUM"
    if os.environ.get("ATTENTION_REQUIRE_BROWSER"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def app_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the app, run by Streamlit in its own process for all browser tests."""
    with serving(tmp_path_factory.mktemp("streamlit")) as url:
        yield url


@contextmanager
def serving(folder: Path, **environment: str) -> Iterator[str]:
    """Run the app in a process of its own, with these variables besides; its log is read at the end."""
    _chromium()
    port, log = free_port(), folder / "server.log"
    url, environment = f"http://127.0.0.1:{port}", {"ATTENTION_WARM": "0", **environment}
    with log.open("w") as output, started(command("app.py", port), url, output=output, **environment):
        _visit_once(url)
        yield url
    bad = [line for line in log.read_text().splitlines() if BAD_LINE.search(line)]
    assert not bad, f"the server's log must be clean:\n{log.read_text()}"


def _visit_once(url: str) -> None:
    """Be the first visitor: until app.py has run once, Streamlit greets deep links with an error in the console."""

    async def visit() -> None:
        session = Session(url)
        await session.open(seconds=SECONDS_TO_START)
        await session.close()

    in_thread(visit())


def in_thread(work: Coroutine) -> Any:
    """Return what a coroutine does; in this thread Playwright's loop is running already."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


@pytest.fixture(scope="package")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """One browser of 1440 x 900 for all tests of this folder; it keeps Streamlit's scripts, read and compiled once.

    Nothing fades in it, which costs a fifth of a visit; `page.emulate_media(reduced_motion="no-preference")` lets it.
    """
    path = _chromium()
    expect.set_options(timeout=30_000)
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("profile"),
            executable_path=path,
            args=ARGUMENTS,
            viewport={"width": 1440, "height": 900},
            reduced_motion="reduce",
        )
        context.set_default_timeout(30_000)
        yield context
        context.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A fresh visitor; afterwards: no request went outside, nothing was complained about."""
    context.clear_cookies()
    visitor = context.new_page()
    outside, complaints = [], []

    def keep_inside(asked) -> None:
        if not _is_inside(asked.url):
            outside.append(asked.url)

    def complain(message) -> None:
        complaints.extend(_complaint(message))

    visitor.on("request", keep_inside)
    visitor.on("websocket", keep_inside)
    visitor.on("console", complain)
    visitor.on("pageerror", lambda error: complaints.append(f"uncaught: {error}"))
    yield visitor
    inside = urlsplit(visitor.url).hostname == "127.0.0.1"
    if inside:
        visitor.evaluate("localStorage.clear()")
    visitor.remove_listener("console", complain)
    visitor.goto(urljoin(visitor.url, "/_stcore/health") if inside else "about:blank")
    for other in context.pages:
        if other is not visitor:  # which keeps the process of the app's site until the next visitor has come
            other.close()
    assert not outside, f"requests to other hosts: {outside}"
    assert not complaints, "the browser's console must be clean:\n" + "\n".join(complaints)


def _is_inside(url: str) -> bool:
    return url.startswith(("data:", "blob:")) or urlsplit(url).hostname == "127.0.0.1"


def _complaint(message) -> list[str]:
    """Return an error or a warning of the console; Streamlit's own 404s for `_stcore` on deep links are no news."""
    where = message.location.get("url", "") if message.location else ""
    its_own = "404" in message.text and "_stcore" in where
    return [f"{message.type}: {message.text} ({where})"] if message.type in ("error", "warning") and not its_own else []
