"""Scripts and styles are compressed once, are the same once unpacked, and take no more memory than is said."""

import asyncio
import gzip

import pytest
from starlette.applications import Starlette
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse
from starlette.routing import Route

from ui.hosting import compressed
from ui.hosting.compressed import Compressed

CONTENT = b"export const answer = 42;\n" * 400
FOR_GOOD = {"cache-control": "public, immutable, max-age=31536000"}
SCRIPT = "/static/js/index.Ab1_-x.js"


@pytest.fixture
def files(tmp_path):
    """An app as Streamlit's: scripts, and its page for what is not there; it notes what is read."""
    script = tmp_path / "index.js"
    script.write_bytes(CONTENT)
    read = []

    async def answer(request):
        read.append(request.url.path)
        if request.path_params["name"].startswith("index"):
            return FileResponse(script, headers=FOR_GOOD)
        return HTMLResponse("<html>" * 100)

    async def gone(_request):
        return PlainTextResponse("no such file" * 100, 404)

    return Starlette(routes=[Route("/static/js/{name}", answer), Route("/scripts/{name}", gone)]), read


async def ask_in_loop(application, path=SCRIPT, method="GET", **headers):
    """Return an answer's status, headers and body."""
    sent, pairs = [], [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": method, "path": path, "query_string": b"", "headers": pairs}

    async def send(message):
        sent.append(message)

    await application(scope, asyncio.Future, send)
    received = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], received, b"".join(part.get("body", b"") for part in sent[1:])


def ask(*args, **headers):
    return asyncio.run(ask_in_loop(*args, **headers))


async def test_a_script_is_compressed_once_and_is_the_same_unpacked(files):
    app, read = files
    layer = Compressed(app)
    answers = await asyncio.gather(*(ask_in_loop(layer, accept_encoding="deflate, gzip, br") for _ in range(5)))
    assert read == [SCRIPT]
    assert [gzip.decompress(body) for _, _, body in answers] == [CONTENT] * 5
    status, headers, body = answers[0]
    assert (status, headers["vary"], headers["content-encoding"]) == (200, "Accept-Encoding", "gzip")
    assert headers["cache-control"] == FOR_GOOD["cache-control"]
    assert "javascript" in headers["content-type"]
    assert int(headers["content-length"]) == len(body) == layer.n_bytes < len(CONTENT) / 10
    status, again, body = await ask_in_loop(layer, accept_encoding="gzip", if_none_match=headers["etag"])
    assert (status, body, again["etag"]) == (304, b"", headers["etag"])


@pytest.mark.parametrize("accepted", ["", "br", "gzip;q=0", "gzip; q=0.0, br", "xgzip"])
def test_who_does_not_take_gzip_has_it_plain(files, accepted):
    status, headers, body = ask(Compressed(files[0]), accept_encoding=accepted)
    assert (status, body, headers["vary"]) == (200, CONTENT, "Accept-Encoding")
    assert "content-encoding" not in headers
    assert headers["etag"] != ask(Compressed(files[0]), accept_encoding="gzip;q=0.5, br")[1]["etag"]


def test_head_and_ranges_are_as_without(files):
    layer = Compressed(files[0])
    assert ask(layer, method="HEAD", accept_encoding="gzip") == ask(files[0], method="HEAD", accept_encoding="gzip")
    asked = {"accept_encoding": "gzip", "range": "bytes=3-9"}
    assert ask(layer, **asked) == ask(files[0], **asked)
    assert ask(layer, **asked)[::2] == (206, CONTENT[3:10])
    assert layer.n_bytes == 0


@pytest.mark.parametrize("path", ["/static/js/other.js", "/scripts/other.js", "/static/js/../js/index.js", "/other"])
def test_what_is_no_script_is_neither_kept_nor_changed(files, path):
    layer = Compressed(files[0])
    for _ in range(2):
        plain = ask(files[0], path, accept_encoding="gzip")
        status, headers, body = ask(layer, path, accept_encoding="gzip")
        headers.pop("vary", None)
        assert (status, headers, body) == plain
    assert (layer.n_bytes, layer._answers) == (0, {})


def test_what_is_beyond_the_bound_goes_out_plain_and_is_tried_once(files, monkeypatch):
    app, read = files
    layer = Compressed(app)
    monkeypatch.setattr(compressed, "COMPRESSED_BYTES", len(gzip.compress(CONTENT, 9)) * 3 // 2)
    paths = [f"/static/js/index.{number}.js" for number in range(3)]
    bodies = [ask(layer, path, accept_encoding="gzip")[2] for path in paths]
    assert [body == CONTENT for body in bodies] == [False, True, True]
    assert layer.n_bytes <= compressed.COMPRESSED_BYTES
    assert len(read) == 5
    assert ask(layer, paths[1], accept_encoding="gzip")[2] == CONTENT
    assert len(read) == 6
