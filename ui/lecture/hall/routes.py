"""The routes of a hall's phones: their page, the present question, answers; and the address that they open.

They have no session of Streamlit's: a tap costs a millisecond, and 300 phones ask again every two seconds.
"""

import asyncio
import ipaddress
import json
import os
import re
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import streamlit as st
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from attention_core.concurrency import BoundedCache
from attention_core.files import find_file
from ui.hosting.allowance import Credit
from ui.hosting.bounds import (
    HALL_ANSWER_BYTES,
    HALL_ANSWER_SECONDS,
    HALL_ROOMS,
    HALL_WRONG_CODES,
    HALL_WRONG_CODES_PER_SECOND,
)
from ui.lecture.hall.rooms import CODE_LENGTH, CODE_LETTERS, ROOMS, ClosedError, RoomError, UnavailableError
from ui.served import base_path

FOLDER = "hall"
FRESH = 0.3  # seconds for which all phones of a room get one answer of the store
KEY_HEADER, PHONE_HEADER = "x-hall-key", "x-hall-phone"
CODE = re.compile(f"[{CODE_LETTERS}]{{{CODE_LENGTH}}}")
PHONE = re.compile(r"[A-Za-z0-9-]{16,36}")
FRESH_ALWAYS = {"Cache-Control": "no-store"}
UNCHANGED = Response(status_code=204, headers=FRESH_ALWAYS)
TOO_MANY_CODES = "Too many wrong codes came from your network. Wait a minute."
_PAGE = find_file("ui/lecture/hall/hall_phone.html").read_bytes()
_THREADS = ThreadPoolExecutor(4, "hall")
"""They wait for the file of rooms, which others may have locked; the event loop and Streamlit's threads never do."""
_states: dict[str, tuple[float, str, bytes]] = {}
_guesses = BoundedCache(max_items=4096)
"""By address, how many wrong codes may still come from it."""


class RequestError(RoomError):
    """A request that is refused with another status than that of a closed room."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


async def _page(request: Request) -> Response:
    return Response(_PAGE, media_type="text/html; charset=utf-8", headers=FRESH_ALWAYS)


async def _current_question(request: Request) -> Response:
    """Answer with the question of the moment; with nothing where a phone has it already."""
    try:
        state, content = await _in_room(request, _state)
    except RoomError as error:
        return _refusal(error)
    if request.query_params.get("has") == state:
        return UNCHANGED
    return Response(content, media_type="application/json", headers=FRESH_ALWAYS)


async def _in_room(request: Request, use_room: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function makes of the room of a request and of the arguments.

    An address that has tried too many wrong codes gets no room but one that its phone has joined, or that is its
    lecturer's: whoever guesses learns nothing then, and a hall behind the same address goes on.

    Raises:
        RoomError: there is no such room, or too many were tried.
    """
    address = _address(request)
    credit = (
        cached.value if (cached := _guesses.get(address)) else Credit(HALL_WRONG_CODES, HALL_WRONG_CODES_PER_SECOND)
    )
    code, phone = request.path_params["code"].upper(), request.headers.get(PHONE_HEADER, "")
    in_thread = partial(asyncio.get_running_loop().run_in_executor, _THREADS)
    if credit.balance() < 1 and not await in_thread(_is_known, code, phone, request.headers.get(KEY_HEADER, "")):
        raise RequestError(429, TOO_MANY_CODES)
    try:
        if not CODE.fullmatch(code):
            raise ClosedError("There is no such room.")
        return await in_thread(partial(use_room, code, *arguments))
    except ClosedError:
        credit.spend(1)
        _guesses.put(address, credit)
        raise


def _is_known(code: str, phone: str, key: str) -> bool:
    return ROOMS.has_joined(code, phone) or ROOMS.confirm_lecturer(code, key)


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def _state(code: str) -> tuple[str, bytes]:
    """Return a room's state as JSON, after a version by which phones know that they have it."""
    cached = _states.get(code)
    if cached and time.monotonic() - cached[0] < FRESH:
        return cached[1:]
    state = ROOMS.state(code)
    version = f"{state['number']}{'!' if state.get('revealed') else ''}"
    content = json.dumps({**state, "state": version}).encode()
    if len(_states) > HALL_ROOMS.maximum:
        _states.clear()
    _states[code] = time.monotonic(), version, content
    return version, content


async def _join(request: Request) -> Response:
    return await _from_phone(request, lambda code, phone, _body: ROOMS.join(code, phone, _address(request)))


async def _answer(request: Request) -> Response:
    def answer(code: str, phone: str, body: dict[str, Any]) -> None:
        ROOMS.answer(code, int(body["question"]), phone, int(body["answer"]))

    return await _from_phone(request, answer)


async def _from_phone(request: Request, use_room: Callable[[str, str, dict[str, Any]], None]) -> Response:
    """Take what a phone sends, but nothing that a page of another site lets a browser send.

    Such a page can send no JSON without being asked whether it may, and nobody says yes.
    """
    is_ours = request.headers.get("sec-fetch-site", "same-origin") == "same-origin"
    try:
        if not is_ours or request.headers.get("content-type") != "application/json":
            raise RequestError(403, "Only the hall's own page can send this.")
        body = json.loads(await _bounded_body(request))
        await _in_room(request, use_room, _phone(body["phone"]), body)
    except RoomError as error:
        return _refusal(error)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        headers = {**FRESH_ALWAYS, "Connection": "close"}
        return JSONResponse({"error": "That is no answer."}, status_code=400, headers=headers)
    return UNCHANGED


async def _bounded_body(request: Request) -> bytes:
    """Return what a phone sends; whatever its headers say, it is counted as it comes.

    Raises:
        ValueError: it is too long, or does not come in time.
    """
    body = b""
    try:
        async with asyncio.timeout(HALL_ANSWER_SECONDS.maximum):
            async for piece in request.stream():
                body += piece
                if len(body) > HALL_ANSWER_BYTES.maximum:
                    raise ValueError("an answer is shorter")
    except TimeoutError:
        raise ValueError("an answer comes sooner") from None
    return body


async def _for_lecturer(read_room: Callable[[str], Any], request: Request) -> Response:
    def read(code: str) -> Any:
        if not ROOMS.confirm_lecturer(code, request.headers.get(KEY_HEADER, "")):
            raise ClosedError("This room is closed, or not yours.")
        return read_room(code)

    try:
        return JSONResponse(await _in_room(request, read), headers=FRESH_ALWAYS)
    except RoomError as error:
        return _refusal(error)


def _phone(name: Any) -> str:
    if not (isinstance(name, str) and PHONE.fullmatch(name)):
        raise ValueError("a phone's name must be 16 to 36 letters and digits")
    return name


def _refusal(error: RoomError) -> Response:
    status = error.status if isinstance(error, RequestError) else 503 if isinstance(error, UnavailableError) else 410
    return JSONResponse({"error": str(error)}, status_code=status, headers=FRESH_ALWAYS)


def routes() -> list[Route]:
    """Return the ways of phones and of the lecturer's corner, for the server."""
    room = f"{base_path()}/{FOLDER}/{{code}}"
    return [
        Route(room, _page),
        Route(f"{room}/now", _current_question),
        Route(f"{room}/join", _join, methods=["POST"]),
        Route(f"{room}/answer", _answer, methods=["POST"]),
        Route(f"{room}/attendance", partial(_for_lecturer, ROOMS.attendance)),
        Route(f"{room}/results", partial(_for_lecturer, ROOMS.results)),
    ]


URL = "ATTENTION_URL"  # the variable that names the app's address as phones reach it, such as https://attention.example
NOWHERE = (
    "Phones cannot reach this server. Connect it to the hall's network, start it with `--server.address 0.0.0.0`, and "
    "open this page by the machine's address in that network, not by localhost; or set "
    f"{URL} to the address that phones are to open. Hands can be counted all the same."
)


def phones_address(code: str) -> str | None:
    """Return the address of a room for phones; None where none is known."""
    root = app_address()
    return f"{root}/{FOLDER}/{code}" if root else None


def app_address() -> str | None:
    """Return the address by which others reach the app; None where none is known."""
    base = st.get_option("server.baseUrlPath").strip("/")
    root = os.environ.get(URL) or _opened() or _of_network(base)
    return root.rstrip("/") if root else None


def opened_at() -> str:
    """Return the address by which the app was opened, without the page's name."""
    opened = urlsplit(st.context.url or "")
    return opened._replace(path=opened.path.rpartition("/")[0], query="", fragment="").geturl()


def _opened() -> str | None:
    """Return the address by which the lecturer has opened the app, if others can open it."""
    host = urlsplit(opened_at()).hostname
    return opened_at() if host and not _is_loopback(host) else None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _of_network(base: str) -> str | None:
    listens_at = st.get_option("server.address")
    if listens_at and _is_loopback(listens_at):
        return None
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:  # which sends nothing
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        host = probe.getsockname()[0]
    if _is_loopback(host) or host == "0.0.0.0":
        return None
    scheme = "https" if st.get_option("server.sslCertFile") else "http"
    return f"{scheme}://{host}:{st.get_option('server.port')}/{base}"
