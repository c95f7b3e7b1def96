"""A deployment without Ray: the calls of attention_core.serve behind a plain HTTP server, with faults on demand."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from attention_core.serve import calls
from tests.support.waiting import wait_until

TOKEN = "a token of the tests"


class FakeCluster(ThreadingHTTPServer):
    """Attributes tell what it does wrong and what it has seen.

    lose: so many calls are cut off; fail: so many are answered with status 500; stuck: nothing is answered.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.lose = self.fail = 0
        self.stuck = False
        self.n_calls = 0
        self.names: list[str] = []
        self.sent: list[int] = []

    def handle_error(self, *args: object) -> None:
        """Say nothing of one who did not wait for the answer."""

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: FakeCluster

    def _answer(self, status: int, content: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _is_let_in(self) -> bool:
        wait_until(lambda: not self.server.stuck)
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            self._answer(401)
            return False
        return True

    def do_GET(self) -> None:
        if self._is_let_in():
            self._answer(200, b"a fake device")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not self._is_let_in():
            return
        self.server.n_calls += 1
        if self.server.lose:
            self.server.lose -= 1
            self.close_connection = True
            return
        if self.server.fail:
            self.server.fail -= 1
            self._answer(500)
            return
        call = calls.read(body)
        self.server.names.append(call[0])
        batch = calls.batch_of(call)
        content = calls.answer(calls.run(call) if batch is None else calls.predict([batch])[0])
        self.server.sent.append(len(content or b""))
        self._answer(500 if content is None else 200, content or b"")

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def fake_cluster() -> Iterator[FakeCluster]:
    with FakeCluster() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.stuck = False
            server.shutdown()
            thread.join()
