"""Visitors of the public app that keep all that reaches them."""

from urllib.parse import parse_qs, urlsplit

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.support.browser_fixtures import HEAR, go_to
from tests.support.on_page import IDLE, draw, settle, submit
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
        settle(self.page)

    def everything(self) -> bytes:
        """All that the server has sent, and all that the page shows and is addressed by."""
        return b"".join([*self.received, self.page.content().encode(), self.page.url.encode()])


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
