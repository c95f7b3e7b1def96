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


LEAN = """
import sys, torch
from ui.warm import import_libraries
import_libraries()
from attention_core.hub.catalogue import PACKAGE, find_local
from attention_core.hub.load import load_pretrained
from attention_core.models import load
from attention_core.topics.lookup.encoders import sentence_vectors
assert sentence_vectors(load_pretrained(find_local(PACKAGE).folder), ["a cat"]).shape == (1, 384)
load("tatoeba-llama")
assert len(load("digit-vit").traces(torch.rand(28, 28))) == 4
heavy = "scipy", "sympy.core", "torch._dynamo.config", "torch.distributed.tensor"
print([name for name in heavy if name in sys.modules])
from transformers.utils import is_scipy_available
from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex
with TransformGetItemToIndex():
    print(is_scipy_available(), torch.compile(lambda x: x + 1, backend="eager")(torch.ones(1)).item())
"""


def test_models_of_the_library_come_without_what_no_page_needs(root):
    done = subprocess.run([sys.executable, "-c", LEAN], cwd=root, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    heavy, real = done.stdout.splitlines()
    assert heavy == "[]", f"torch or transformers asks for more than the stand-ins of ui/libraries.py answer: {heavy}"
    assert real == "True 2.0", f"the stand-ins of ui/libraries.py do not give place to the real modules: {real}"
