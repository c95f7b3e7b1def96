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

from attention_core.files import find_file
from ui.hosting.bounds import HALL_ANSWER_BYTES, HALL_ANSWER_SECONDS, HALL_ROOMS
from ui.lecture.hall.rooms import CODE_LENGTH, CODE_LETTERS, ROOMS, RoomError, UnavailableError
from ui.served import base_path

FOLDER = "hall"
FRESH = 0.3  # seconds for which all phones of a room get one answer of the store
KEY_HEADER = "x-hall-key"
CODE = re.compile(f"[{CODE_LETTERS}]{{{CODE_LENGTH}}}")
PHONE = re.compile(r"[A-Za-z0-9-]{16,36}")
UNCHANGED = Response(status_code=204, headers={"Cache-Control": "no-store"})
_PAGE = find_file("ui/lecture/hall/hall_phone.html").read_bytes()
_THREADS = ThreadPoolExecutor(4, "hall")
"""They wait for the file of rooms, which others may have locked; the event loop and Streamlit's threads never do."""
_states: dict[str, tuple[float, str, bytes]] = {}


async def _page(request: Request) -> Response:
    return Response(_PAGE, media_type="text/html; charset=utf-8")


async def _current_question(request: Request) -> Response:
    """Answer with the question of the moment; with nothing where a phone has it already."""
    try:
        state, content = await _in_thread(_state, _code(request))
        if phone := request.query_params.get("joins"):
            await _in_thread(ROOMS.join, _code(request), _phone(phone))
    except RoomError as error:
        return _refusal(error)
    return UNCHANGED if request.query_params.get("has") == state else Response(content, media_type="application/json")


async def _in_thread(use_room: Callable[..., Any], *arguments: Any) -> Any:
    return await asyncio.get_running_loop().run_in_executor(_THREADS, use_room, *arguments)


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


async def _answer(request: Request) -> Response:
    try:
        body = json.loads(await _bounded_body(request))
        number, answer, phone = int(body["question"]), int(body["answer"]), _phone(body["phone"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return JSONResponse({"error": "That is no answer."}, status_code=400, headers={"Connection": "close"})
    try:
        await _in_thread(ROOMS.answer, _code(request), number, phone, answer)
    except RoomError as error:
        return _refusal(error)
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
    try:
        code = _code(request)
        if not await _in_thread(ROOMS.confirm_lecturer, code, request.headers.get(KEY_HEADER, "")):
            raise RoomError("This room is closed, or not yours.")
        return JSONResponse(await _in_thread(read_room, code))
    except RoomError as error:
        return _refusal(error)


def _code(request: Request) -> str:
    code = request.path_params["code"].upper()
    if not CODE.fullmatch(code):
        raise RoomError("There is no such room.")
    return code


def _phone(name: Any) -> str:
    if not (isinstance(name, str) and PHONE.fullmatch(name)):
        raise ValueError("a phone's name must be 16 to 36 letters and digits")
    return name


def _refusal(error: RoomError) -> Response:
    return JSONResponse({"error": str(error)}, status_code=503 if isinstance(error, UnavailableError) else 410)


def routes() -> list[Route]:
    """Return the ways of phones and of the lecturer's corner, for the server."""
    room = f"{base_path()}/{FOLDER}/{{code}}"
    return [
        Route(room, _page),
        Route(f"{room}/now", _current_question),
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
