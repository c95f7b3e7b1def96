"""Several processes behind one address: everything of a visitor reaches the process that holds the session."""

import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from random import Random

import pytest

from deploy.run import configuration, empty_folder, find_nginx, is_free
from tests.support.raw_requests import (
    HALF,
    HEAD,
    PROXY,
    UPGRADE,
    answer_so_far,
    answers_within,
    half_requests,
    host_of,
    request,
)
from tests.support.server import ROOT, Server, below, free_port, served, started
from tests.support.session import Session
from tests.support.uploading import Uploader
from tests.support.visits import act
from tests.support.waiting import wait_until
from ui.hosting.warm_up import allow_descriptors

needs_nginx = pytest.mark.skipif(find_nginx() is None, reason="nginx is not installed")


def process_of(session: Session) -> int:
    """The process that drew the page."""
    (body,) = [text for text in session.texts("text") if text.startswith("process ")]
    return int(body.split()[1])


@needs_nginx
@pytest.mark.parametrize("n_processes", [1, 3])
def test_nginx_takes_the_configuration(n_processes: int, tmp_path: Path) -> None:
    written = tmp_path / "nginx.conf"
    proxies = ["10.0.0.5", "10.1.0.0/16"]
    written.write_text(configuration(8080, range(8081, 8081 + n_processes), str(tmp_path), "0.0.0.0", proxies))
    command = [find_nginx(), "-t", "-e", "stderr", "-p", str(tmp_path), "-c", str(written)]
    checked = subprocess.run(command, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
    assert "@" not in written.read_text().split("pid ")[1]


@pytest.fixture(scope="module")
def public() -> Iterator[Server]:
    """Two processes as deploy/run.py runs them for strangers."""
    if find_nginx() is None:
        pytest.skip("nginx is not installed")
    with served("tests/support/public_app.py", 2) as server:
        yield server


@pytest.fixture(scope="module")
def half_sent(public) -> Iterator[list[socket.socket]]:
    """Requests of which nothing but the beginning comes; while the server waits for the rest, other tests run."""
    allow_descriptors()
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < 16_384:
        pytest.skip("needs 16,384 descriptors")
    host, parts = host_of(public), ((1100, HALF, HEAD), (3000, HALF, HEAD + "\r\n12"), (3000, PROXY, HEAD + "\r\n12"))
    made = [one for n, source, text in parts for one in half_requests(host, n, source, text)]
    yield made
    for one in made:
        one.close()


def test_half_sent_requests_shut_nobody_out(public, half_sent):
    host = host_of(public)
    assert request(host, "GET", "/seen", {}, source=HALF).status == 429
    for other in (PROXY, "127.0.0.3"):  # a proxy's address, and that of another visitor
        assert request(host, "GET", "/seen", {}, source=other).status == 200


@needs_nginx
async def test_visitors_stay_on_their_processes_and_move_when_one_dies() -> None:
    with served("tests/support/load_app.py", 2) as server:
        sessions = [Uploader(server.address) for _ in range(4)]
        for session in sessions:
            await session.open()
        processes = [process_of(session) for session in sessions]
        assert sorted(processes.count(one) for one in set(processes)) == [2, 2]
        for session, process in zip(sessions, processes, strict=True):
            pressed = await act(session, session.widgets("button", "press")[0], None, Random(0), 20)
            upload = session.widgets("file_uploader", "file")[0]
            sent = await session.give(upload, "a.txt", b"x" * 3_000_000)
            assert not pressed.faults + sent.faults  # pictures of this process were there too
            assert "3000000 bytes" in session.texts("markdown")
            again = Session(server.address)  # another tab of the same browser
            again.cookies = session.cookies
            await again.open()
            assert process_of(again) == process_of(session) == process
            await again.close()
        os.kill(processes[0], signal.SIGKILL)
        moved = Session(server.address)
        moved.cookies = dict(sessions[0].cookies)
        answer = await moved.open()
        assert answer.faults == []
        assert process_of(moved) == next(one for one in processes if one != processes[0])
        assert moved.cookies["process"] != sessions[0].cookies["process"]  # and stays there
        for session in (*sessions, moved):
            await session.close()
        started_again = all(answers_within(door, 15) for door in server.doors)
        pids = below(server.pids[0])
    assert started_again
    assert not any(answers_within(door, 0) for door in (server.address, *server.doors))
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


@needs_nginx
def test_foreign_pages_get_no_upload_and_no_websocket() -> None:
    """In the public's configuration: what a page of another server makes a visitor's browser ask is refused."""
    with served("tests/support/load_app.py", 2) as server:
        assert answers_within(server.address, 30)
        for address in (server.address, *server.doors):
            host = address.removeprefix("http://")
            upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
            upgrade |= {"Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg=="}
            assert request(host, "GET", "/_stcore/stream", upgrade | {"Origin": address}).status == 101
            for origin in ("http://elsewhere.example", "http://127.0.0.1.elsewhere.example", "null"):
                assert request(host, "GET", "/_stcore/stream", upgrade | {"Origin": origin}).status == 403, origin
            cookies = request(host, "GET", "/_stcore/health", {}).headers.get_all("Set-Cookie")
            (cookie,) = [one.partition(";")[0] for one in cookies if one.startswith("_streamlit_xsrf=")]
            place, foreign = "/_stcore/upload_file/session/file", {"Origin": "http://elsewhere.example"}
            cookies, tokens = {"Cookie": cookie}, {"X-Xsrftoken": "1"}
            for headers in ({}, foreign, cookies, tokens, cookies | tokens):
                refused = request(host, "PUT", place, headers, b"x")
                assert refused.status == 403, headers
                assert refused.getheader("Access-Control-Allow-Origin") not in ("*", "http://elsewhere.example")
            health = request(host, "GET", "/_stcore/health", foreign)
            assert health.getheader("Access-Control-Allow-Origin") not in ("*", "http://elsewhere.example")


def test_it_listens_on_this_machine_for_the_public_and_a_forged_address_is_not_believed(public):
    host = host_of(public)
    assert request(host, "GET", "/seen", {}).text.endswith(" 127.0.0.1 True")
    forged = {"X-Forwarded-For": "203.0.113.9"}
    assert request(host, "GET", "/seen", forged, source="127.0.0.6").text.endswith(" 127.0.0.6 True")
    assert request(host, "GET", "/seen", forged).text.endswith(" 203.0.113.9 True")  # a proxy on this machine says so
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", int(host.split(":")[1])), timeout=5)


def test_a_hall_behind_one_address_gets_in(public):
    host = host_of(public)
    hall = half_requests(host, 400, "127.0.0.4", UPGRADE.format(host))
    try:
        assert {one.recv(12) for one in hall} == {b"HTTP/1.1 101"}
        assert request(host, "GET", "/seen", {}, source="127.0.0.4").status == 200
    finally:
        for one in hall:
            one.close()


def test_who_arrives_too_often_is_refused_and_nobody_else(public):
    host = host_of(public)
    with closing(HTTPConnection(host, timeout=20, source_address=("127.0.0.5", 0))) as connection:
        refused, asks = 0, 0
        while refused < 10 and asks < 3000:  # the slower the machine, the more of them are let in
            asks += 1
            connection.request("GET", "/_stcore/stream")
            answer = connection.getresponse()
            refused += answer.status == 429
            answer.read()
    assert refused == 10
    assert asks > 1000
    assert request(host, "GET", "/_stcore/stream", {}, source="127.0.0.3").status != 429


def test_nginx_gives_scripts_by_itself_once_it_has_had_them(public):
    host = host_of(public)
    script = re.search(r"static/js/[\w.-]+\.js", request(host, "GET", "/", {"Accept": "text/html"}).text)[0]
    first = request(host, "GET", f"/{script}", {})
    pids = [int(request(door.removeprefix("http://"), "GET", "/seen", {}).text.split()[0]) for door in public.doors]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        again = request(host, "GET", f"/{script}", {})
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    assert (again.status, again.text) == (200, first.text)
    assert "javascript" in again.headers["Content-Type"]
    assert "process=" not in str(again.headers.get_all("Set-Cookie"))


def test_half_sent_requests_are_closed(public, half_sent):
    host, open_yet = host_of(public), [*half_sent]

    def are_closed() -> bool:
        open_yet[:] = [one for one in open_yet if answer_so_far(one) is None]
        assert request(host, "GET", "/seen", {}, source="127.0.0.3").status == 200
        return not open_yet

    wait_until(are_closed, 40)
    assert request(host, "GET", "/seen", {}, source=HALF).status == 200


async def test_a_process_that_cannot_read_its_weights_is_passed_over(public):
    """Health says 503 from then on; a page comes from the other process, or whole with 503 where no other can."""
    host = host_of(public)

    async def read(door: str) -> None:
        session = Session(door)
        await session.open()
        await session.set_value(session.widgets("button", "read")[0], "trigger_value", True, 20)
        await session.close()

    doors = [door.removeprefix("http://") for door in public.doors]
    assert [request(door, "GET", "/_stcore/health", {}).status for door in doors] == [200, 200]
    await read(public.doors[0])
    assert [request(door, "GET", "/_stcore/health", {}).status for door in doors] == [503, 200]
    ports = [door.split(":")[1] for door in doors]
    for path in ("/", "/_stcore/health"):
        answer = request(host, "GET", path, {"Cookie": f"process={ports[0]}"})
        assert answer.status == 200
        assert f"process={ports[1]}" in str(answer.headers.get_all("Set-Cookie"))
    await read(public.doors[1])
    assert request(host, "GET", "/_stcore/health", {}).status == 503
    page = request(host, "GET", "/", {})
    assert page.status == 503
    assert '<div id="root">' in page.text
    assert request(host, "GET", "/seen", {}).status == 200


def left_of(pids: tuple[int, ...]) -> list[str]:
    """Which of these processes are still there."""
    states = [Path(f"/proc/{pid}/stat") for pid in pids]
    return [
        path.parent.name for path in states if path.exists() and path.read_text().rpartition(")")[2].split()[0] != "Z"
    ]


@needs_nginx
def test_a_frozen_process_is_replaced_and_new_visitors_are_answered_meanwhile() -> None:
    with served("tests/support/public_app.py", 2, "--silence", "12") as server:
        host, door = host_of(server), server.doors[0].removeprefix("http://")
        frozen = int(request(door, "GET", "/seen", {}).text.split()[0])
        os.kill(frozen, signal.SIGSTOP)
        seconds = []
        for _ in range(2):  # of which one has its turn at the frozen process
            began = time.monotonic()
            assert request(host, "GET", "/seen", {}).status == 200
            seconds.append(time.monotonic() - began)
        assert max(seconds) < 15
        wait_until(lambda: left_of((frozen,)) == [], 30)
        assert answers_within(server.doors[0], 60)
        assert int(request(door, "GET", "/seen", {}).text.split()[0]) != frozen


@needs_nginx
@pytest.mark.parametrize(
    ("end", "is_of_nginx"), [(signal.SIGKILL, False), (signal.SIGHUP, False), (signal.SIGKILL, True)]
)
def test_no_end_leaves_orphans(end: signal.Signals, is_of_nginx: bool) -> None:
    with served("tests/support/public_app.py", 2) as server:
        pids = below(server.pids[0])
        (nginx,) = [pid for pid in pids if b"nginx: master" in Path(f"/proc/{pid}/cmdline").read_bytes()]
        os.kill(nginx if is_of_nginx else pids[0], end)
        wait_until(lambda: not left_of(pids), 30)
    port = int(host_of(server).split(":")[1])
    with empty_folder(port) as folder:
        assert not [*folder.iterdir()]
    assert not folder.exists()


@needs_nginx
def test_a_taken_port_is_told_at_once_and_a_page_stands_while_all_start() -> None:
    port = free_port(3)
    command = [sys.executable, "deploy/run.py", "--port", str(port), "--app", "tests/support/nothing.py"]
    with socket.create_server(("127.0.0.1", port + 2)):
        refused = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=20)
        assert (refused.returncode, f"Port {port + 2} is taken" in refused.stderr) == (1, True)
    with started(command):
        wait_until(lambda: not is_free("127.0.0.1", port), 20)
        answer = request(f"127.0.0.1:{port}", "GET", "/translate", {})
        assert (answer.status, "is starting" in answer.text) == (503, True)


def test_without_nginx_it_says_so() -> None:
    nobody = {**os.environ, "PATH": "/nowhere"}
    code = "import deploy.run as run; run.find_nginx = lambda: None; run.main()"
    refused = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=nobody, capture_output=True, text=True)
    assert refused.returncode == 1
    assert "apt-get install nginx" in refused.stderr
