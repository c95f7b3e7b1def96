"""Requests to a server, written byte by byte, some of them half sent."""

import socket
import urllib.request
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPResponse

from tests.support.server import Server
from tests.support.waiting import wait_until


def request(
    host: str, method: str, path: str, headers: dict[str, str], body: bytes | None = None, source: str = "127.0.0.1"
) -> HTTPResponse:
    """Ask a server once, as a browser or somebody who plays one."""
    with closing(HTTPConnection(host, timeout=20, source_address=(source, 0))) as connection:
        connection.request(method, path, body, headers)
        with closing(connection.getresponse()) as answer:
            answer.text = answer.read().decode() if answer.status != 101 else ""
            return answer


def host_of(server: Server) -> str:
    return server.address.removeprefix("http://")


def half_requests(host: str, n: int, source: str, text: str) -> list[socket.socket]:
    """Send the beginning of a request on so many connections."""
    address, port = host.split(":")
    made = []
    for _ in range(n):
        made.append(socket.create_connection((address, int(port)), timeout=20, source_address=(source, 0)))
        made[-1].sendall(text.encode())
    return made


def answer_so_far(connection: socket.socket) -> bytes | None:
    """What the server has sent; None while it waits for more, b"" once it has closed."""
    connection.setblocking(False)
    try:
        return connection.recv(100)
    except BlockingIOError:
        return None
    except ConnectionResetError:
        return b""


HALF, PROXY = "127.0.0.2", "127.0.0.1"
"""The addresses of those who send half a request."""
HEAD = "POST /seen HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n"
UPGRADE = (
    "GET /_stcore/stream HTTP/1.1\r\nHost: {0}\r\nOrigin: http://{0}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
)


def answers_within(address: str, seconds: float) -> bool:
    """Whether a server answers within some seconds."""

    def answers() -> bool:
        with suppress(OSError):
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=1).close()
            return True
        return False

    with suppress(AssertionError):
        wait_until(answers, seconds)
        return True
    return False
