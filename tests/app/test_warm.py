"""A cold server: what is painted waits for no library, and the server is the first visitor of every page itself."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.load import served
from benchmarks.session import Session
from ui.navigation import PAGES

HEAVY = ("torch", "altair", "transformers", "vl_convert")


@pytest.fixture(scope="module")
def server():
    with served("app.py") as started:
        yield started


class Watching(Session):
    """Notes the names in every list of pages that it is told."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.lists: list[set[str]] = []

    def _take(self, message: ForwardMsg) -> None:
        if message.WhichOneof("type") == "navigation":
            self.lists.append({page.page_name for page in message.navigation.app_pages})
        super()._take(message)


def test_first_paint_imports_no_library(root):
    code = f"import sys, app, ui.start.moving; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr


def test_first_visitor_by_a_link_meets_the_app(server):
    async def visit(address: str) -> None:
        session = Watching(address)
        answer = await session.open("lookup")
        assert not answer.faults
        assert session.lists
        assert all(told == {entry.title for entry in PAGES} for told in session.lists)
        headings = [one.message.body for one in session.drawn.values() if one.kind == "heading"]
        assert headings[0] == "Look up softly"
        await session.close()

    asyncio.run(visit(server.address))


def test_what_one_visitor_finds_is_no_default_of_another(server):
    """Where there is no text the first tab is another one; whoever opens that tab elsewhere has it in the link."""

    async def visit(address: str) -> None:
        one, other = Session(address), Session(address)
        await one.open("translate")
        await other.open("translate")
        await other.use(other.widgets("text_area", "translate_text")[0], "string_value", "")
        (tabs,) = [tabs for tabs in one.widgets("tab_container") if "Step by step" in one.tabs(tabs)]
        await one.use(tabs, "string_value", "Try: any length")
        assert "tab=length" in one._query
        for session in (one, other):
            await session.close()

    asyncio.run(visit(server.address))
