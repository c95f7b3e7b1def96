"""What the app's answers say to a browser, and what a public server does not say."""

import asyncio
import gzip
import os
import re
import subprocess
from pathlib import Path

import pytest
import streamlit as st

from tests.support.server import command
from ui.hosting import middleware
from ui.hosting.middleware import (
    _NO_TITLE,
    _OF_ALL_PAGES,
    _ROOT,
    HEADERS,
    FullServer,
    PageStyle,
    SecurityHeaders,
    _styled,
    count_free_descriptors,
    headers,
    new_address,
    page_words,
)


def sent_by(application, **scope):
    """Return the messages that an application sends."""
    sent = []

    async def send(message):
        sent.append(message)

    asyncio.run(application({"type": "http", **scope}, None, send))
    return sent


def test_every_answer_carries_the_headers_and_keeps_its_own():
    header = (b"referrer-policy", b"no-referrer")

    async def answer(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": [header]})
        await send({"type": "http.response.body", "body": b"hello"})

    sent = sent_by(SecurityHeaders(answer))
    received = dict(sent[0]["headers"])
    assert received == {name.encode(): value.encode() for name, value in HEADERS.items()} | dict([header])
    assert sent[1]["body"] == b"hello"


def test_a_page_is_framed_by_its_own_server_and_whom_the_owner_names():
    unshared = headers("")
    assert unshared["content-security-policy"].endswith("; frame-ancestors 'self'")
    assert unshared["x-frame-options"] == "SAMEORIGIN"
    assert unshared["permissions-policy"].startswith("camera=(self), microphone=(), ")
    shared = headers("https://moodle.example  http://localhost:8888 https://*.hosts.example")
    ancestors = "; frame-ancestors 'self' https://moodle.example http://localhost:8888 https://*.hosts.example"
    assert shared["content-security-policy"].endswith(ancestors)
    assert "x-frame-options" not in shared


@pytest.mark.parametrize(
    "named", ["moodle.example", "https://a.example;script-src", "*", "https://a.example/x", "'none'"]
)
def test_a_frame_that_is_named_wrongly_is_refused(named):
    with pytest.raises(ValueError, match=f"such as https://moodle.example, got {re.escape(repr(named.split()[-1]))}"):
        headers(f"https://a.example {named}")


def test_a_frame_that_is_named_wrongly_ends_the_start_with_a_sentence(root):
    environment = {**os.environ, "ATTENTION_FRAMED_BY": "moodle.example"}
    done = subprocess.run(command("app.py", 1), cwd=root, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "ATTENTION_FRAMED_BY must name addresses such as https://moodle.example, got" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("hosted", ["1", ""])
def test_a_public_server_shows_no_traceback(hosted, monkeypatch):
    from streamlit import config

    from ui.hosting.warm_up import lifespan

    monkeypatch.setenv("ATTENTION_HOSTED", hosted)
    monkeypatch.setenv("ATTENTION_WARM", "0")
    st.set_option("client.showErrorDetails", "full")
    monkeypatch.setattr(
        config, "get_option", lambda name, get=config.get_option: name == "server.headless" or get(name)
    )
    monkeypatch.setattr(st, "get_option", config.get_option)

    async def begin():
        async with lifespan(None):
            return st.get_option("client.showErrorDetails")

    try:
        assert asyncio.run(begin()) == ("none" if hosted else "full")
    finally:
        st.set_option("client.showErrorDetails", "full")


@pytest.mark.parametrize(
    ("path", "leads_to"),
    [
        ("/welcome", "./?digit=3"),
        ("/start", "./?digit=3"),
        ("/Draw-a-digit", "./pixels?digit=3"),
        ("/find", "./photograph?digit=3&question=learned"),
        ("/pixels", None),
        ("/", None),
        ("/_stcore/health", None),
        ("/favicon.png", None),
    ],
)
def test_an_address_that_is_no_page_s_leads_to_one(path, leads_to):
    scope = {"path": path, "query_string": b"digit=3", "headers": [(b"accept", b"text/html,*/*")]}
    assert new_address(scope) == leads_to
    assert new_address(scope | {"headers": []}) is None


def test_a_page_is_told_that_the_server_has_no_descriptors_left(monkeypatch):
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)

    async def ask(**more):
        sent = []

        async def answer(_scope, _receive, send):
            await send({"type": "http.response.start", "status": 200, "headers": []})

        async def send(message):
            sent.append(message)

        scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"accept", b"text/html")]}
        await FullServer(answer)(scope | more, None, send)
        return sent[0]["status"], sent[-1].get("body", b"")

    assert asyncio.run(ask())[0] == 200
    n_open = soft - count_free_descriptors()
    monkeypatch.setattr(resource, "getrlimit", lambda _limit: (n_open + 40, hard))
    status, page = asyncio.run(ask())
    assert (status, b"Too many pages are open here" in page) == (503, True)
    assert asyncio.run(ask(headers=[(b"accept", b"*/*")]))[0] == 200


@pytest.mark.parametrize("query", [b"", b"step=weights&lecture=1"])
@pytest.mark.parametrize("encoding", ["gzip, br", ""])
@pytest.mark.parametrize("accept", ["text/html,*/*", "*/*"])
def test_pages_bring_their_style(accept, encoding, query):
    parts = [b'<title>Streamlit</title><body><div id="root"></div></bo', b"dy>"]

    async def answer(scope, _receive, send):
        is_page = accept.startswith("text/html")
        assert is_page != any(name == b"accept-encoding" and value for name, value in scope["headers"]) or not encoding
        headers = [(b"content-type", b"text/html"), (b"etag", b"1"), (b"content-length", b"%d" % sum(map(len, parts)))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for part in parts:
            await send({"type": "http.response.body", "body": part, "more_body": part is parts[0]})

    request_headers = [(b"accept", accept.encode()), (b"accept-encoding", encoding.encode())]
    sent = sent_by(PageStyle(answer), path="/pixels", headers=request_headers, query_string=query)
    body, headers = b"".join(message["body"] for message in sent[1:]), dict(sent[0]["headers"])
    assert int(headers[b"content-length"]) == len(body)
    is_page = accept.startswith("text/html")
    if is_page and encoding:
        assert headers[b"content-encoding"] == b"gzip"
        body = gzip.decompress(body)
    assert (b"<title>Draw a digit" in body) == is_page
    assert (b'id="root"></div><div id="first-words"><p>Draw a digit</p>' in body) == is_page
    assert body.endswith(b"</body>")
    assert (b"stMainBlockContainer" in body) == is_page
    assert (b"id=opening" in body) == is_page
    assert (b"lecture-style" in body) == (is_page and bool(query))
    assert (b"etag" in headers) != is_page


@pytest.mark.parametrize(
    ("path", "query", "words"),
    [
        ("/", b"", ("Attention Explorer", "What is attention, in one live example, and where do I go?")),
        ("/ask", b"", ("Ask about a drawing", "How does a question choose where to look?")),
        ("/ask", b"step=scores&question=tell", ("Ask about a drawing", "Can it say what is drawn?")),
        ("/ask", b"question=%3Cscript%3E", ("Ask about a drawing", "How does a question choose where to look?")),
    ],
)
@pytest.mark.parametrize("base", ["", "/my/base"])
def test_the_first_words_are_those_of_the_page_or_of_its_open_question(path, query, words, base, monkeypatch):
    monkeypatch.setattr(middleware, "base_path", lambda: base)
    assert page_words(base + path, query)[1:] == words


def test_first_words_are_escaped():
    page = _styled(_NO_TITLE + _ROOT, ("Q", "Q & <K>", 'a "sentence"'), False, False)
    assert b"<p>Q &amp; &lt;K&gt;</p><p>a &quot;sentence&quot;</p>" in page
    assert b'<meta name="description" content="a &quot;sentence&quot;">' in page


def test_scripts_that_all_pages_need_are_fetched_with_streamlit_s_own_and_before_its_font():
    page = _styled((Path(st.__file__).parent / "static" / "index.html").read_bytes(), ("", "", ""), False, False)
    links = re.findall(rb"<link\s[^>]*>", page.split(b"</head>")[0])
    font = next(number for number, link in enumerate(links) if b'as="font"' in link)
    early = [re.search(rb"js/(.+)\.js", link)[1].decode() for link in links[:font] if b"modulepreload" in link]
    assert font == len(links) - 1
    assert set(_OF_ALL_PAGES) <= {name.rpartition(".")[0] for name in early}
    assert len(early) == len(set(early))
