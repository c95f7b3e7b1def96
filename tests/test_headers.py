"""What the app's answers say to a browser, and what a public server does not say."""

from __future__ import annotations

import asyncio

import pytest

from ui.headers import HEADERS, SecurityHeaders


def test_every_answer_carries_the_headers_and_keeps_its_own():
    own = (b"referrer-policy", b"no-referrer")

    async def answer(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": [own]})
        await send({"type": "http.response.body", "body": b"hello"})

    sent = []

    async def send(message):
        sent.append(message)

    asyncio.run(SecurityHeaders(answer)({"type": "http"}, None, send))
    headers = dict(sent[0]["headers"])
    assert headers == {name.encode(): value.encode() for name, value in HEADERS.items()} | dict([own])
    assert sent[1]["body"] == b"hello"


@pytest.mark.parametrize("hosted", ["1", ""])
def test_a_public_server_shows_no_traceback(hosted, monkeypatch):
    import streamlit as st
    from streamlit import config

    from ui.warm import warmed

    monkeypatch.setenv("ATTENTION_HOSTED", hosted)
    monkeypatch.setenv("ATTENTION_WARM", "0")
    st.set_option("client.showErrorDetails", "full")
    monkeypatch.setattr(
        config, "get_option", lambda name, get=config.get_option: name == "server.headless" or get(name)
    )
    monkeypatch.setattr(st, "get_option", config.get_option)

    async def begin():
        async with warmed(None):
            return st.get_option("client.showErrorDetails")

    try:
        assert asyncio.run(begin()) == ("none" if hosted else "full")
    finally:
        st.set_option("client.showErrorDetails", "full")
