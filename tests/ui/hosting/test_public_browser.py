"""In public: nothing of one visitor reaches another or the log, and a stroke drawn without a connection is kept."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.support.browser_fixtures import HEAR, go_to, in_thread, serving
from tests.support.on_page import IDLE, draw, settle, submit
from tests.support.server import running
from tests.support.session import Session

STROKES = {"quokkazan": [(0.2, 0.2), (0.8, 0.25), (0.3, 0.9)], "wombatilo": [(0.7, 0.1), (0.25, 0.6), (0.75, 0.8)]}
"""What each visitor draws; the word, which no page has, is in all that this one types and uploads."""
BARE_INK = """(pad) => {
  const { data } = pad.getContext("2d").getImageData(0, 0, pad.width, pad.height);
  let ink = 0;
  for (let place = 3; place < data.length; place += 4) ink += data[place] > 0 && data[place - 3] < 128;
  return ink;
}"""
STATE = "document.querySelector('[data-testid=stApp]')?.dataset.testConnectionState"


class Browser:
    """A visitor's browser, which shares nothing with another's, and all that has come to it."""

    def __init__(self, browser, url: str) -> None:
        self.page = browser.new_page(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
        self.page.set_default_timeout(90_000)
        self.page.add_init_script(HEAR)
        self.url, self.received = url, []
        self.page.on("websocket", lambda socket: socket.on("framereceived", self._keep))
        self.page.on("response", self._read)

    def _keep(self, frame) -> None:
        self.received.append(frame if isinstance(frame, bytes) else frame.encode())

    def _read(self, response) -> None:
        if "json" in response.headers.get("content-type", ""):
            self.received.append(response.body())

    def go(self, path: str) -> None:
        go_to(self.page, f"{self.url}/{path}")
        self.page.wait_for_function(IDLE)
        settle(self.page, 800)

    def everything(self) -> bytes:
        """All that the server has sent, and all that the page shows and is addressed by."""
        return b"".join([*self.received, self.page.content().encode(), self.page.url.encode()])


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


def leave_secrets(browser: Browser, word: str) -> str:
    """Type, draw and upload as this visitor; returns the drawing as the address has it."""
    browser.go("matter")
    submit(browser.page.locator(".st-key-matter_text input"), f"The {word} in this film was a great surprise.")
    browser.page.wait_for_function(f"location.search.includes('{word}')")
    settle(browser.page)
    browser.go("pixels")
    draw(browser.page, STROKES[word])
    browser.page.wait_for_function("location.search.includes('strokes=')")
    settle(browser.page)
    strokes = parse_qs(urlsplit(browser.page.url).query)["strokes"][0]
    browser.go("model")
    browser.page.get_by_text("Another model, or a recording").click()
    field = browser.page.get_by_role("textbox", name="Any other model")
    field.fill(f"../{word}")
    field.press("Enter")
    browser.page.get_by_text("Folders can be opened only where").wait_for()
    settle(browser.page)
    browser.go("model?what=recording")
    bad = {"name": f"{word}.npz", "mimeType": "application/zip", "buffer": f"PK {word}".encode()}
    browser.page.locator("[data-testid=stFileUploaderDropzoneInput], input[type=file]").first.set_input_files(bad)
    browser.page.get_by_text("The file cannot be opened").wait_for()
    return strokes


class Return(Session):
    """Another visit of the same browser, without its window: all that comes is kept."""

    def __init__(self, browser: Browser, query: str) -> None:
        super().__init__(browser.url)
        self.cookies = {cookie["name"]: cookie["value"] for cookie in browser.page.context.cookies()}
        self._query, self.received = query, []

    def _handle(self, message: ForwardMsg) -> None:
        self.received.append(message.SerializeToString())
        super()._handle(message)

    async def look(self, path: str) -> list[bytes]:
        assert not (await self.open(path)).faults
        await self.close()
        return self.received


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
    settle(browser.page, 2000)
    draw(browser.page, STROKES["quokkazan"])
    browser.page.wait_for_function("location.search.includes('strokes=')")
    settle(browser.page)
    cut.append(True)
    sockets[-1][0].close(code=1011, reason="cut")
    browser.page.wait_for_function(f"{STATE} !== 'CONNECTED'")
    before = browser.page.url
    draw(browser.page, STROKES["wombatilo"])
    browser.page.wait_for_timeout(500)
    ink = browser.page.locator("canvas.dc-canvas.lower-canvas").evaluate(BARE_INK)
    cut.clear()
    browser.page.wait_for_function(f"{STATE} === 'CONNECTED'")
    browser.page.wait_for_function("before => location.href !== before", arg=before)
    browser.page.reload()
    browser.page.wait_for_function(IDLE)
    settle(browser.page, 1500)
    ink_after = browser.page.locator("canvas.dc-canvas.lower-canvas").evaluate(BARE_INK)
    assert ink_after / ink > 0.98, json.dumps({"drawn": ink, "after the reload": ink_after})


def test_a_page_works_in_a_browser_while_its_server_says_that_weights_are_missing(context, tmp_path, monkeypatch):
    variables = {"ATTENTION_WEIGHTS": str(tmp_path), "ATTENTION_HOSTED": "1", "ATTENTION_WARM": "0"}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with running("app.py") as url, context.browser.new_page(reduced_motion="reduce") as page:
        page.set_default_timeout(180_000)
        for status in (200, 503):
            assert page.goto(f"{url}/pixels").status == status
            page.get_by_text("The model cannot be loaded").first.wait_for()
