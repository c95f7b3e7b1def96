"""A cold server: what is painted waits for no library, and the server is the first visitor of every page itself."""

from __future__ import annotations

import asyncio
import subprocess
import sys

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.load import served
from benchmarks.session import Session
from ui.navigation import PAGES

HEAVY = ("torch", "altair", "transformers", "vl_convert")


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


def test_first_visitor_by_a_link_meets_the_app():
    async def visit(address: str) -> None:
        session = Watching(address)
        answer = await session.open("lookup")
        assert not answer.faults
        assert session.lists
        assert all(told == {entry.title for entry in PAGES} for told in session.lists)
        headings = [one.message.body for one in session.drawn.values() if one.kind == "heading"]
        assert headings[0] == "Look up softly"
        await session.close()

    with served("app.py") as server:
        asyncio.run(visit(server.address))
