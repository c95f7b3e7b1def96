"""A running app and visitors who look at it in a browser: `app_url`, `page` and `visit`, in files named *_browser.py.

Every request to another host finds none and fails the test, as do errors and warnings in the browser's console; the
server's log is read when all tests are done.
"""

import asyncio
import os
import re
from collections.abc import Callable, Coroutine, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partialmethod
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, expect, sync_playwright

from tests.support import browser
from tests.support.server import SECONDS_TO_START, command, free_port, started
from tests.support.session import Session

ARGUMENTS = [
    *browser.ARGUMENTS,
    "--disable-component-update",
    "--disable-sync",
    "--process-per-site",  # the next visitor's scripts are compiled already
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # a route that aborts would switch the cache off
]
Page.wait_for_function = partialmethod(Page.wait_for_function, polling=50)  # to look in every frame makes frames
SIZE = {"width": 1440, "height": 900}
FAILED = pytest.StashKey[bool]()
"""Whether a test, or what comes before or after it, has failed."""
_OPEN: list[tuple[ExitStack, BrowserContext]] = []
"""The browser, if it runs."""
HEAR = """{
  const Socket = WebSocket;
  window.WebSocket = class extends Socket {
    constructor(...given) {
      super(...given);
      this.addEventListener("message", () => { window.heard = performance.now(); });
    }
    send(message) {
      window.sent = performance.now();
      super.send(message);
    }
  };
}"""
"""Notes when the browser and the server have last sent something."""
GO = """(address) => {
  window.asked = performance.now();
  history.pushState({}, "", address);
  dispatchEvent(new PopStateEvent("popstate"));
}"""
"""Goes to an address as the browser's Back does."""
THERE = f"window.heard > asked && performance.now() - heard > 150 && {browser.IDLE}"
"""The server has answered, all of it: a short run is over before the browser has drawn that it had begun."""
CALM = """() => {
  localStorage.clear();
  document.activeElement.blur();
  document.querySelector("[data-testid=stMain]")?.scrollTo(0, 0);
}"""
BAD_LINE = re.compile(r"Traceback|[Dd]eprecat|Warning|ERROR|Error:")


def is_in_browser(path: Path) -> bool:
    """Return whether a file's tests drive a browser."""
    return path.stem.endswith("_browser")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if is_in_browser(item.path):
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
    """The address of the app, which runs in a process of its own for all browser tests; phones have another for it."""
    with serving(tmp_path_factory.mktemp("streamlit"), ATTENTION_URL="http://hall.example") as url:
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


@pytest.fixture
def context(tmp_path_factory: pytest.TempPathFactory) -> BrowserContext:
    """One browser of 1440 x 900 for tests in a row; it keeps Streamlit's scripts, read and compiled.

    Nothing fades in it, which costs a fifth of a visit; `page.emulate_media(reduced_motion="no-preference")` lets it.
    """
    if not _OPEN:
        _OPEN.append((stack := ExitStack(), stack.enter_context(_browser(tmp_path_factory.mktemp("profile")))))
    return _OPEN[0][1]


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """Close the browser, whose loop other tests cannot have in their thread, behind the last test that needs it."""
    if _OPEN and (nextitem is None or not is_in_browser(nextitem.path)):
        _OPEN.pop()[0].close()


@contextmanager
def _browser(profile: Path) -> Iterator[BrowserContext]:
    path = _chromium()
    expect.set_options(timeout=60_000)
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=path, args=ARGUMENTS, viewport=SIZE, reduced_motion="reduce"
        )
        context.set_default_timeout(60_000)
        context.add_init_script(HEAR)
        yield context
        context.close()


@pytest.fixture
def browser_page(context: BrowserContext) -> Iterator[Page]:
    """A fresh visitor; afterwards: no request went outside, nothing was complained about."""
    visitor = _arrived(context)
    try:
        with _watched(visitor):
            yield visitor
    finally:
        _say_goodbye(visitor)


@pytest.fixture(scope="module")
def staying() -> Iterator[list[Page]]:
    """The visitor who stays from one test of a file to the next, if there is one."""
    stays: list[Page] = []
    yield stays
    for visitor in stays:
        if not visitor.is_closed():  # as a fresh one's goodbye closes it
            _say_goodbye(visitor)


@pytest.fixture
def browser_visit(
    context: BrowserContext, staying: list[Page], request: pytest.FixtureRequest
) -> Iterator[Callable[[str], Page]]:
    """A function that goes to an address of the app and returns the page, watched as `browser_page` is.

    The visitor stays from one test of a file to the next and goes on as by the browser's Back: nothing is loaded anew,
    which costs most of a visit, and what the address does not name is as on arrival. After a failure a fresh one comes.
    """
    visitor = next((one for one in staying if not one.is_closed()), None) or _arrived(context)
    staying.clear()
    has_failed = True
    try:
        with _watched(visitor):
            yield lambda address: go_to(visitor, address)
        has_failed = request.node.stash.get(FAILED, False)
    finally:
        if has_failed:
            _say_goodbye(visitor)
        else:
            _calm_down(visitor)
            staying.append(visitor)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


def _arrived(context: BrowserContext) -> Page:
    context.clear_cookies()
    return context.new_page()


def go_to(visitor: Page, address: str) -> Page:
    """Go on to an address as by the browser's Back where the app is open; the page has the script HEAR."""
    if _is_inside(visitor.url) and urlsplit(visitor.url)[:2] == urlsplit(address)[:2]:
        visitor.evaluate(GO, address)
        visitor.wait_for_function(THERE)
    else:
        visitor.goto(address)
    return visitor


def _calm_down(visitor: Page) -> None:
    """Take back what belongs to the window: its size and place, the pointer, the keys, what is stored."""
    visitor.set_viewport_size(SIZE)
    visitor.emulate_media(reduced_motion="reduce")
    visitor.mouse.move(0, 0)
    visitor.evaluate(CALM)


def _say_goodbye(visitor: Page) -> None:
    """Close all pages but this one, which keeps the process of the app's site until the next visitor has come."""
    inside = urlsplit(visitor.url).hostname == "127.0.0.1"
    if inside:
        visitor.evaluate("localStorage.clear()")
    visitor.goto(urljoin(visitor.url, "/_stcore/health") if inside else "about:blank")
    for other in visitor.context.pages:
        if other is not visitor:
            other.close()


@contextmanager
def _watched(visitor: Page) -> Iterator[None]:
    """Afterwards: no request went outside, nothing was complained about."""
    outside, complaints = [], []

    def keep_inside(asked) -> None:
        if not _is_inside(asked.url):
            outside.append(asked.url)

    def complain(message) -> None:
        complaints.extend(_complaint(message))

    def leave(error) -> None:
        complaints.append(f"uncaught: {error}")

    heard = {"request": keep_inside, "websocket": keep_inside, "console": complain, "pageerror": leave}
    for event, listener in heard.items():
        visitor.on(event, listener)
    yield
    for event, listener in heard.items():
        visitor.remove_listener(event, listener)
    assert not outside, f"requests to other hosts: {outside}"
    assert not complaints, "the browser's console must be clean:\n" + "\n".join(complaints)


def _is_inside(url: str) -> bool:
    return url.startswith(("data:", "blob:")) or urlsplit(url).hostname == "127.0.0.1"


def _complaint(message) -> list[str]:
    """Return an error or a warning of the console; Streamlit's own 404s for `_stcore` on deep links are no news."""
    where = message.location.get("url", "") if message.location else ""
    its_own = "404" in message.text and "_stcore" in where
    return [f"{message.type}: {message.text} ({where})"] if message.type in ("error", "warning") and not its_own else []
