"""In public: nothing of one visitor reaches another or the log, and a stroke drawn without a connection is kept."""

import json
from urllib.request import urlopen

import pytest

from tests.support.browser_fixtures import in_thread, serving
from tests.support.on_page import IDLE, draw, settle
from tests.support.public_visitors import BARE_INK, STATE, STROKES, Browser, Return, leave_secrets
from tests.support.server import running
from tests.support.session import Session


@pytest.fixture(scope="module")
def public(tmp_path_factory):
    """The address of the app as it runs for the public, and where its log is."""
    folder = tmp_path_factory.mktemp("public")
    with serving(folder, ATTENTION_HOSTED="1") as url:
        yield url, folder / "server.log"


@pytest.fixture
def open_browser(context, public):
    opened = []

    def open_() -> Browser:
        opened.append(Browser(context.browser, public[0]))
        return opened[-1]

    yield open_
    for browser in opened:
        browser.page.close()  # and its context


def test_nothing_of_one_visitor_is_in_another_s_page_or_in_the_log(open_browser, public):
    visitors = {word: open_browser() for word in STROKES}
    drawings = {word: leave_secrets(browser, word) for word, browser in visitors.items()}
    for browser in visitors.values():  # each looks once more, after the other was there
        for path, query in (("matter", ""), ("pixels", ""), ("model", "what=recording")):
            browser.received += in_thread(Return(browser, query).look(path))
    sent_to = {word: browser.everything() for word, browser in visitors.items()}
    log = public[1].read_bytes()
    for word, second_word in zip(STROKES, reversed(STROKES), strict=True):
        assert len(drawings[word]) > 40
        for secret in (word.encode(), drawings[word].encode()):
            assert secret in sent_to[word], "the test would pass on nothing"
            assert secret not in sent_to[second_word]
            assert secret not in log
    assert b"Traceback" not in log


def test_a_stroke_drawn_without_a_connection_is_still_there_after_a_reload(open_browser):
    browser, cut, sockets = open_browser(), [], []

    def route(socket) -> None:
        if cut:
            socket.close(code=1011, reason="cut")
        else:
            sockets.append((socket, socket.connect_to_server()))

    browser.page.route_web_socket("**/_stcore/stream", route)
    browser.go("pixels")
    browser.page.get_by_role("button", name="Clear").click()
    settle(browser.page)
    draw(browser.page, STROKES["quokkazan"])
    browser.page.wait_for_function("location.search.includes('strokes=')")
    settle(browser.page)
    cut.append(True)
    sockets[-1][0].close(code=1011, reason="cut")
    browser.page.wait_for_function(f"{STATE} !== 'CONNECTED'")
    before = browser.page.url
    draw(browser.page, STROKES["wombatilo"])
    settle(browser.page)
    ink = browser.page.locator("canvas.dc-canvas.lower-canvas").evaluate(BARE_INK)
    cut.clear()
    browser.page.wait_for_function(f"{STATE} === 'CONNECTED'")
    browser.page.wait_for_function("before => location.href !== before", arg=before)
    browser.page.reload()
    browser.page.wait_for_function(IDLE)
    settle(browser.page)
    ink_after = browser.page.locator("canvas.dc-canvas.lower-canvas").evaluate(BARE_INK)
    assert ink_after / ink > 0.98, json.dumps({"drawn": ink, "after the reload": ink_after})


def test_a_page_works_in_a_browser_while_its_server_says_that_weights_are_missing(context, tmp_path, monkeypatch):
    variables = {"ATTENTION_WEIGHTS": str(tmp_path), "ATTENTION_HOSTED": "1", "ATTENTION_WARM": "0"}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with running("app.py") as url, context.browser.new_page(reduced_motion="reduce") as page:
        with urlopen(f"{url}/pixels") as answer:
            assert answer.status == 200
        in_thread(read_page(url))
        page.set_default_timeout(180_000)
        assert page.goto(f"{url}/pixels").status == 503
        page.get_by_text("The model cannot be loaded").first.wait_for()


async def read_page(url: str) -> None:
    """Let the server notice that its weights are missing."""
    session = Session(url)
    await session.open("pixels", 60)
    await session.close()
