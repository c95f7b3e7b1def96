"""A cold server: what is painted waits for no library, and the server is the first visitor of every page itself."""

import ast
import asyncio
import subprocess
import sys
import threading

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.support.server import served
from tests.support.session import Session
from ui.navigation import PAGES

HEAVY = ("torch", "altair", "transformers", "vl_convert")


@pytest.fixture(scope="module")
def server():
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("ATTENTION_WARM", "0")  # else it visits all pages meanwhile
        with served("app.py") as started:
            yield started


class Watching(Session):
    """Notes the names in every list of pages that it is told."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.lists: list[set[str]] = []

    def _handle(self, message: ForwardMsg) -> None:
        if message.WhichOneof("type") == "navigation":
            self.lists.append({page.page_name for page in message.navigation.app_pages})
        super()._handle(message)


def test_first_paint_imports_no_library(root):
    body = ast.parse((root / "pages/start/page.py").read_text()).body
    imports = "; ".join(ast.unparse(line) for line in body if isinstance(line, ast.Import | ast.ImportFrom))
    code = f"import sys, app; {imports}; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr


async def test_first_visitor_by_a_link_meets_the_app(server):
    session = Watching(server.address)
    answer = await session.open("lookup")
    assert not answer.faults
    assert session.lists
    assert all(told == {entry.title for entry in PAGES} for told in session.lists)
    assert session.texts("heading")[0] == "Look up softly"
    await session.close()


async def test_what_one_visitor_finds_is_no_default_of_another(server):
    """Where there is no text there are no numbers; whoever opens a question elsewhere has it in the link."""
    one, other = Session(server.address), Session(server.address)
    await one.open("transformer")
    await other.open("transformer")
    await other.set_value(other.widgets("text_input", "transformer_text")[0], "string_value", "")
    (link,) = one.widgets("button", "transformer_question_heads")
    await one.set_value(link, "trigger_value", True)
    assert "question=heads" in one._query
    for session in (one, other):
        await session.close()


DESCRIPTORS = """
import os, resource, sys
from ui.hosting import warm_up
for hard, hosted in ((4096, "1"), (1024, "0"), (1024, "1")):
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    os.environ["ATTENTION_HOSTED"] = hosted
    warm_up.allow_descriptors()
    print(*resource.getrlimit(resource.RLIMIT_NOFILE), file=sys.stderr, flush=True)
"""


def test_the_start_says_when_few_descriptors_are_allowed(root):
    command = [sys.executable, "-c", DESCRIPTORS]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60)
    enough, unhosted, words, few = done.stderr.splitlines()
    assert (enough, unhosted, few) == ("4096 4096", "1024 1024", "1024 1024")
    assert "Only 1,024 files and connections are allowed" in words
    assert "three for two minutes: 341 pages" in words
    assert "4,096" in words


def test_health_is_lost_by_an_import_or_a_file_that_fails_and_comes_back_with_it(monkeypatch, weights):
    import torch

    from attention_core.files import MISSING
    from attention_core.weights import WeightsError, read_weights, write_weights
    from ui.hosting.middleware import Health

    async def page(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
        await send({"type": "http.response.body", "body": b"a page"})

    def status(path: str, headers: tuple[tuple[bytes, bytes], ...] = ()) -> int:
        sent: list[dict] = []

        async def send(message):
            sent.append(message)

        asyncio.run(Health(page)({"type": "http", "path": path, "headers": headers}, None, send))
        return sent[0]["status"]

    def healthy() -> bool:
        found = {status(path) for path in ("/_stcore/health", "/")}
        assert found in ({200}, {503})
        return found == {200}

    from ui.hosting import warm_up

    monkeypatch.setattr(warm_up, "_IMPORTED", threading.Event())
    MISSING.clear()
    assert healthy()
    monkeypatch.setattr(warm_up, "LIBRARIES", ("no_such_library",))
    with pytest.raises(ModuleNotFoundError):
        warm_up.import_libraries()
    assert not healthy()
    MISSING.clear()
    write_weights("one", {"a": torch.ones(2)}, {})
    whole = (weights / "one.safetensors").read_bytes()
    (weights / "one.safetensors").write_bytes(whole[:-1])
    with pytest.raises(WeightsError):
        read_weights("one")
    assert not healthy()
    (weights / "one.safetensors").write_bytes(whole)
    read_weights("one")
    assert healthy()
