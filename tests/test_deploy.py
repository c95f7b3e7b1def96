"""Several processes behind one address: everything of a visitor reaches the process that holds the session."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
import urllib.request
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from random import Random

import pytest

from benchmarks.load import below, served
from benchmarks.session import Session
from benchmarks.visits import act
from deploy.run import configuration, find_nginx

ROOT = Path(__file__).parents[1]
needs_nginx = pytest.mark.skipif(find_nginx() is None, reason="nginx is not installed")


def process_of(session: Session) -> int:
    """The process that drew the page."""
    (body,) = [one.message.body for one in session.drawn.values() if one.kind == "text"]
    return int(body.split()[1])


@needs_nginx
@pytest.mark.parametrize("n_processes", [1, 3])
def test_nginx_takes_the_configuration(n_processes: int, tmp_path: Path) -> None:
    written = tmp_path / "nginx.conf"
    written.write_text(configuration(8080, range(8081, 8081 + n_processes), str(tmp_path)))
    command = [find_nginx(), "-t", "-e", "stderr", "-p", str(tmp_path), "-c", str(written)]
    checked = subprocess.run(command, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
    assert "@" not in written.read_text().split("pid ")[1]


@needs_nginx
def test_visitors_stay_on_their_processes_and_move_when_one_dies() -> None:
    async def visit(address: str) -> None:
        sessions = [Session(address) for _ in range(4)]
        for session in sessions:
            await session.open()
        processes = [process_of(session) for session in sessions]
        assert sorted(processes.count(one) for one in set(processes)) == [2, 2]
        for session, process in zip(sessions, processes, strict=True):
            answers = [await act(session, session.widgets("button", "press")[0], None, Random(0), 20)]
            upload = session.widgets("file_uploader", "file")[0]
            answers.append(await act(session, upload, lambda *_: ("a.txt", b"x" * 3_000_000), Random(0), 20))
            assert [answer.faults for answer in answers] == [[], []]  # pictures of this process were there too
            assert "3000000 bytes" in [one.message.body for one in session.drawn.values() if one.kind == "markdown"]
            again = Session(address)  # another tab of the same browser
            again.cookies = session.cookies
            await again.open()
            assert process_of(again) == process_of(session) == process
            await again.close()
        os.kill(processes[0], signal.SIGKILL)
        moved = Session(address)
        moved.cookies = dict(sessions[0].cookies)
        answer = await moved.open()
        assert answer.faults == []
        assert process_of(moved) == next(one for one in processes if one != processes[0])
        assert moved.cookies["process"] != sessions[0].cookies["process"]  # and stays there
        for session in (*sessions, moved):
            await session.close()

    with served("tests/load_app.py", 2) as server:
        asyncio.run(visit(server.address))
        started_again = all(answers(door, 15) for door in server.doors)
        pids = below(server.pids[0])
    assert started_again
    assert not any(answers(door, 0) for door in (server.address, *server.doors))
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


@needs_nginx
def test_foreign_pages_get_no_upload_and_no_websocket() -> None:
    """In the public's configuration: what a page of another server makes a visitor's browser ask is refused."""
    with served("tests/load_app.py", 2) as server:
        assert answers(server.address, 30)
        for address in (server.address, *server.doors):
            host = address.removeprefix("http://")
            upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
            upgrade |= {"Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg=="}
            origins = {
                address: 101,
                "http://elsewhere.example": 403,
                "http://127.0.0.1.elsewhere.example": 403,
                "null": 403,
            }
            for origin, status in origins.items():
                assert asked(host, "GET", "/_stcore/stream", upgrade | {"Origin": origin}).status == status, origin
            cookies = asked(host, "GET", "/_stcore/health", {}).headers.get_all("Set-Cookie")
            (cookie,) = [one.partition(";")[0] for one in cookies if one.startswith("_streamlit_xsrf=")]
            place, foreign = "/_stcore/upload_file/session/file", {"Origin": "http://elsewhere.example"}
            for headers in (
                {},
                foreign,
                {"Cookie": cookie},
                {"X-Xsrftoken": "1"},
                {"Cookie": cookie, "X-Xsrftoken": "1"},
            ):
                refused = asked(host, "PUT", place, headers, b"x")
                assert refused.status == 403, headers
                assert refused.getheader("Access-Control-Allow-Origin") not in ("*", "http://elsewhere.example")
            health = asked(host, "GET", "/_stcore/health", foreign)
            assert health.getheader("Access-Control-Allow-Origin") not in ("*", "http://elsewhere.example")


def asked(host: str, method: str, path: str, headers: dict[str, str], body: bytes | None = None) -> HTTPResponse:
    """Ask a server once, as a browser or somebody who plays one."""
    with closing(HTTPConnection(host, timeout=20)) as connection:
        connection.request(method, path, body, headers)
        with closing(connection.getresponse()) as answer:
            return answer


def answers(address: str, seconds: float) -> bool:
    """Whether a server answers within some seconds."""
    until = time.monotonic() + seconds
    while True:
        with suppress(OSError):
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=1).close()
            return True
        if time.monotonic() > until:
            return False
        time.sleep(0.1)


def test_without_nginx_it_says_so() -> None:
    nobody = {**os.environ, "PATH": "/nowhere"}
    code = "import deploy.run as run; run.find_nginx = lambda: None; run.main()"
    asked = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=nobody, capture_output=True, text=True)
    assert asked.returncode == 1
    assert "apt-get install nginx" in asked.stderr
