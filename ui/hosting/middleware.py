"""The server's middleware: security headers, the first page's style, old addresses, a sign of health."""

import gzip
import os
import re
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from functools import lru_cache
from html import escape
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse

from attention_core.files import MISSING, find_file
from ui.navigation import PAGES
from ui.old_addresses import moved_address
from ui.served import base_path

Message = MutableMapping[str, Any]
FRAMED_BY = "ATTENTION_FRAMED_BY"
"""The variable that names who else may show the app in a frame: addresses such as https://moodle.example."""
ORIGIN = re.compile(r"https?://(\*\.)?[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*(:\d{1,5})?")
POLICY = {
    "default-src": "'self' data: blob:",
    "script-src": "'self' 'unsafe-inline' 'unsafe-eval' blob:",  # Streamlit's own page and Vega's expressions need them
    "style-src": "'self' 'unsafe-inline'",
    "connect-src": "'self' ws: wss: data: blob:",
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'self'",
}


def headers(framed_by: str) -> dict[str, str]:
    """Return the headers for an app that those may frame whom FRAMED_BY names.

    Raises:
        ValueError: one of them is no address such as https://moodle.example.
    """
    for origin in framed_by.split():
        if not ORIGIN.fullmatch(origin):
            raise ValueError(f"{FRAMED_BY} must name addresses such as https://moodle.example, got {origin!r}")
    policy = POLICY | {"frame-ancestors": " ".join(["'self'", *framed_by.split()])}
    named = {
        "content-security-policy": "; ".join(f"{name} {sources}" for name, sources in policy.items()),
        "permissions-policy": "camera=(self), microphone=(), geolocation=(), payment=(), usb=()",
        "referrer-policy": "same-origin",  # an address holds what a visitor has drawn and typed
        "x-content-type-options": "nosniff",
    }
    return named if framed_by.split() else named | {"x-frame-options": "SAMEORIGIN"}  # it knows no list


try:
    HEADERS = headers(os.environ.get(FRAMED_BY, ""))
except ValueError as error:
    sys.exit(str(error))
_ENCODED = [(name.encode(), value.encode()) for name, value in HEADERS.items()]


class Middleware:
    """A layer of ASGI around another, `app`."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app


class SecurityHeaders(Middleware):
    """Middleware that adds headers: pages load from no other server, run no foreign script, and send no referrer."""

    async def __call__(self, scope: Message, receive: Callable[..., Any], send: Callable[..., Awaitable[None]]) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(pair for pair in _ENCODED if pair[0] not in sent)]
            await send(message)

        await self.app(scope, receive, send_with_headers)


CLOSING_TAG = b"</body>"  # behind the styles that Streamlit adds to the head, which would win there
VALIDATORS = (b"etag", b"last-modified")  # of the page without its style
LATER = "lecture.css"
"""For a link to lecture mode alone. The lecture's script takes it away again; the mode, once on, brings its own."""
OPENING = "opening.css"
FIRST_WORDS = "first_words.css"
SECONDS = 12
"""For so long at most, and no longer than until all is drawn: while it is there, any change restyles the whole page."""
_FOLDER = find_file("ui/styles")
_SHARED = [path for path in sorted(_FOLDER.glob("*.css")) if path.name not in (LATER, OPENING, FIRST_WORDS)]
_FILES = [*_SHARED, *sorted(path for path in find_file("pages").glob("*/*.css") if path.stem == path.parent.name)]
_STYLE = b"".join(b"<style>%s</style>" % path.read_bytes() for path in _FILES)
_STYLE += b"<style id=opening>%s</style>" % (_FOLDER / OPENING).read_bytes()
_STYLE += b"""<script>{
  let rested = 0;
  const timer = setInterval(() => {
    const app = document.querySelector("[data-test-script-state=notRunning]:has(h1)");
    rested = app && !app.querySelector("[data-testid=stSkeleton]") ? rested + 1 : 0;
    if (rested > 2 || performance.now() > %d) clearInterval(timer, document.getElementById("opening").disabled = true);
  }, 150);
}</script>""" % (1000 * SECONDS)
_FONT = re.compile(rb'<link\s[^>]*as="font"[^>]*>')
_OF_ALL_PAGES = (
    "BidiComponent",
    "serialization",
    "recordbatch",
    "purify.es",
    "Html",
    "ButtonGroup",
    "PageLink",
    "Checkbox",
)
"""Scripts of Streamlit that every page needs, and asks for only when its elements come."""
_EARLIER = b"".join(
    f'<link rel="modulepreload" crossorigin href="./static/js/{file}">'.encode()
    for file in sorted(path.name for path in files("streamlit").joinpath("static", "static", "js").iterdir())
    if file.rsplit(".", 2)[0] in (*_OF_ALL_PAGES, "rehype-katex")
)
_ROOT, _NO_TITLE = b'<div id="root"></div>', b"<title>Streamlit</title>"
_FIRST_WORDS = b"<style>%s</style>" % (_FOLDER / FIRST_WORDS).read_bytes()
_FIRST_WORDS += b"""<script>
  new MutationObserver((_, observer) => {
    if (!document.querySelector("h1, [data-testid=stAlert], [data-testid=stException], [role=dialog]")) return;
    document.getElementById("first-words").remove();
    observer.disconnect();
  }).observe(document.body, { childList: true, subtree: true });
</script>"""
"""What stands until the app has drawn its heading, or what it has to tell instead."""
_LECTURE = b'<style id="lecture-style">%s</style>' % (_FOLDER / LATER).read_bytes()


def page_words(path: str, query: bytes) -> tuple[str, str, str]:
    """Return the title, the heading and the first sentence, a question, of the page at an address."""
    entry = next((entry for entry in PAGES if entry.url_path == path.removeprefix(f"{base_path()}/")), PAGES[0])
    slug = dict(parse_qsl(query.decode("latin-1"))).get("question")
    return (
        entry.window_title,
        entry.heading,
        next((text for name, text, *_ in entry.questions if name == slug), entry.question),
    )


@lru_cache(maxsize=64)
def _styled(page: bytes, words: tuple[str, str, str], in_lecture: bool, compressed: bool) -> bytes:
    """Return a page with the app's style and first words."""
    title, heading, sentence = map(escape, words)
    about = f'<title>{title}</title><meta name="description" content="{sentence}">'
    page = page.replace(_NO_TITLE, about.encode(), 1)
    page, *fonts = _FONT.sub(b"", page), *_FONT.findall(page)  # words are read without it, but not without scripts
    page = page.replace(b"</head>", _EARLIER + b"".join(fonts) + b"</head>", 1)
    first = f'<div id="first-words"><p>{heading}</p><p>{sentence}</p>'.encode() + _FIRST_WORDS + b"</div>"
    page = page.replace(_ROOT, _ROOT + first, 1)
    page = page.replace(CLOSING_TAG, _STYLE + _LECTURE * in_lecture + CLOSING_TAG, 1)
    return gzip.compress(page) if compressed else page


class PageStyle(Middleware):
    """Middleware that writes the app's style and first words into every page; layers inside must not compress pages."""

    async def __call__(self, scope: Message, receive: Callable[..., Any], send: Callable[..., Awaitable[None]]) -> None:
        requested = Headers(scope=scope) if scope["type"] == "http" else {}
        if "text/html" not in requested.get("accept", ""):
            return await self.app(scope, receive, send)
        plain = {**scope, "headers": [pair for pair in scope["headers"] if pair[0] != b"accept-encoding"]}
        start: Message = {}
        body = b""

        async def send_styled(message: Message) -> None:
            nonlocal body
            if message["type"] == "http.response.start":
                start.update(message)
                return
            body += message.get("body", b"")
            if message.get("more_body"):
                return
            headers = MutableHeaders(raw=[pair for pair in start["headers"] if pair[0].lower() not in VALIDATORS])
            in_lecture = b"lecture=1" in scope["query_string"].split(b"&")
            compressed = bool(body) and "gzip" in requested.get("accept-encoding", "")
            styled = _styled(body, page_words(scope["path"], scope["query_string"]), in_lecture, compressed)
            if compressed:
                headers["content-encoding"] = "gzip"
            if body:  # what is asked by HEAD has none
                headers["content-length"] = str(len(styled))
            await send({**start, "headers": headers.raw})
            await send({"type": "http.response.body", "body": styled})

        return await self.app(plain, receive, send_styled)


PAGE_NAMES = {entry.url_path for entry in PAGES}
PAGE_OF_TITLE = {re.sub(r"\W+", "-", entry.title.lower()): entry.url_path for entry in PAGES}
"""Titles as addresses write them, "draw-a-digit", with the address of the page."""


class OldAddresses(Middleware):
    """Middleware that redirects unknown pages to others, with their query parameters."""

    async def __call__(self, scope: Message, receive: Callable[..., Any], send: Callable[..., Awaitable[None]]) -> None:
        target = new_address(scope) if scope["type"] == "http" else None
        await (self.app if target is None else RedirectResponse(target))(scope, receive, send)


def new_address(scope: Message) -> str | None:
    """Return the address to which a request for an unknown page is redirected; None for all other requests.

    It is relative to that of the request: a proxy may have taken a prefix away, which only the browser knows.
    """
    name = scope["path"].removeprefix(f"{base_path()}/")
    if not re.fullmatch(r"[\w-]+", name) or name in PAGE_NAMES or name.startswith("_"):
        return None
    if "text/html" not in Headers(scope=scope).get("accept", ""):
        return None
    page = PAGE_OF_TITLE.get(name.lower(), name.lower())
    page, query = moved_address(page, dict(parse_qsl(scope["query_string"].decode("latin-1"), True)))
    return f"./{page if page in PAGE_NAMES else ''}" + (f"?{urlencode(query)}" if query else "")


RESERVED_DESCRIPTORS = 48
"""Files and connections that stay for pages which are open already, and for files of weights."""
FULL = """<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><meta http-equiv="refresh" content="20"><title>Attention Explorer</title>
<body style="font: 1.2rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 20vh auto; padding: 0 1rem">
<h1>Too many pages are open here</h1><p>This one opens by itself once there is room.</p></html>"""


def count_free_descriptors() -> int:
    """Return how many more files and connections the system allows this process."""
    try:
        import resource

        return resource.getrlimit(resource.RLIMIT_NOFILE)[0] - len(os.listdir("/dev/fd"))  # noqa: PTH208
    except (ImportError, OSError):  # Windows has no such limit
        return RESERVED_DESCRIPTORS


class FullServer(Middleware):
    """Middleware that opens no further page, but says so, where its connections would take the last descriptors."""

    async def __call__(self, scope: Message, receive: Callable[..., Any], send: Callable[..., Awaitable[None]]) -> None:
        is_page = scope["type"] == "http" and "text/html" in Headers(scope=scope).get("accept", "")
        is_full = is_page and count_free_descriptors() < RESERVED_DESCRIPTORS
        await (HTMLResponse(FULL, 503) if is_full else self.app)(scope, receive, send)


PATH = "/_stcore/health"
OF_PAGES = {"referer", "sec-fetch-site"}
"""Headers of the requests that a page in a browser sends."""


class Health(Middleware):
    """Middleware that answers 503 once something needed could not be read: nginx then asks the next process.

    A page comes whole with that status and works, for where no other process is better off; so health is told to those
    who watch the server, and not to its pages in browsers, which connect only while it is well.
    """

    async def __call__(self, scope: Message, receive: Callable[..., Any], send: Callable[..., Awaitable[None]]) -> None:
        if scope["type"] != "http" or not MISSING:
            await self.app(scope, receive, send)
        elif scope["path"].endswith(PATH) and OF_PAGES.isdisjoint(Headers(scope=scope)):
            await PlainTextResponse("Something cannot be read here: see the log.", 503)(scope, receive, send)
        else:

            async def send_page(message: Message) -> None:
                if message["type"] == "http.response.start" and message["status"] == 200:
                    content_type = Headers(raw=list(message["headers"])).get("content-type", "")
                    message["status"] = 503 if content_type.startswith("text/html") else 200
                await send(message)

            await self.app(scope, receive, send_page)
