"""Bounds on the memory of uploads on a public server: of a file, of a session, of all together."""

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

import streamlit as st
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from attention_core.bounds.limits import MIB, is_hosted
from ui.hosting.bounds import SESSION_UPLOAD_BYTES, UPLOAD_BYTES, UPLOAD_SECONDS, UPLOADS_BYTES
from ui.inside_streamlit import files_of, free_uploads, refusal, refuse
from ui.state import widget_value

Message = MutableMapping[str, Any]
FILE_OVERHEAD = 2**18
"""Bytes that a file counts besides its own: strangers choose its name and type, too."""
DELETION_CHECKS, SECONDS_BETWEEN_CHECKS = 10, 0.1  # of whether the file that a new one replaces is deleted
PATH = re.compile(r"/_stcore/upload_file/([^/]+)/[^/]+$")


def max_megabytes() -> int | None:
    """Return the largest file that an uploader announces, MiB; None = the server's own setting."""
    return UPLOAD_BYTES.maximum // MIB if is_hosted() else None


def show_refusal() -> None:
    """Tell the visitor why an upload has just been refused."""
    if reason := refusal():
        st.toast(reason, icon=":material/error:", duration="long")


def show_lost_file(key: str, upload: object) -> bool:
    """Say that the file which the browser lists is not here any more, as after a new start of the server.

    Return whether that is so.
    """
    is_lost = upload is None and widget_value(key, None) is not None
    if is_lost:
        st.warning("The server that had this file was started anew, so it has gone. Give it again.")
    return is_lost


class UploadBounds:
    """Middleware that refuses uploads beyond the bounds with 413, where the app runs for the public.

    It sums what this process holds: the files of each session, those that a page has open, and those that come in.
    """

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app, self.n_incoming_bytes = app, Counter[str]()

    async def __call__(
        self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[..., Any]
    ) -> None:
        """Answer as the app does, which reads the body within the bounds."""
        is_upload = scope["type"] == "http" and scope["method"] == "PUT" and is_hosted()
        match = PATH.search(scope["path"]) if is_upload else None
        if match is None:
            await self.app(scope, receive, send)
            return
        session, n_read = match[1], 0

        async def receive_within_bounds() -> Message:
            nonlocal n_read
            reason = "" if n_read else await self._refusal_reason(session, Headers(scope=scope))
            if not reason:
                try:
                    async with asyncio.timeout(UPLOAD_SECONDS.maximum):
                        message = await receive()
                except TimeoutError:
                    raise HTTPException(408, "Nothing came any more.") from None
                n_read += len(message.get("body", b""))
                self.n_incoming_bytes[session] += len(message.get("body", b""))
                reason = self._excess_reason(session, 0)
            if reason:
                refuse(session, reason)
                self.n_incoming_bytes[session] -= n_read
                n_read = 0
                with suppress(TimeoutError):
                    async with asyncio.timeout(UPLOAD_SECONDS.maximum):
                        while (await receive()).get("more_body"):
                            pass  # a browser that still sends would see a broken connection, not the answer
                raise HTTPException(413, reason)
            return message

        try:
            await self.app(scope, receive_within_bounds, send)
        except ClientDisconnect:
            pass
        finally:
            self.n_incoming_bytes[session] -= n_read
            self.n_incoming_bytes += Counter()  # drops the sessions with none

    async def _refusal_reason(self, session: str, headers: Headers) -> str:
        """Return why an upload is refused by its headers, "" = it is not; HTTPException = they lack its length."""
        if "content-length" not in headers or "transfer-encoding" in headers:
            raise HTTPException(411, "An upload must say how long it is.")
        n_bytes = int(headers["content-length"]) - FILE_OVERHEAD
        if n_bytes > UPLOAD_BYTES.maximum:
            return f"The file was not taken: it may have {max_megabytes()} MB at most."
        for _ in range(DELETION_CHECKS):
            if not self._excess_reason(session, n_bytes):
                return ""
            await asyncio.sleep(SECONDS_BETWEEN_CHECKS)
        free_uploads(session)
        return self._excess_reason(session, n_bytes)

    def _excess_reason(self, session: str, n_bytes: int) -> str:
        session_sizes, all_sizes = files_of(session), files_of()
        if _stored_bytes(session_sizes) + self.n_incoming_bytes[session] + n_bytes > SESSION_UPLOAD_BYTES.maximum:
            limits = f"{SESSION_UPLOAD_BYTES.maximum // MIB} MB, {sum(session_sizes) / MIB:.0f} are in use"
            return f"The file was not taken: yours may have {limits}. Take one away, or load the page anew."
        if _stored_bytes(all_sizes) + self.n_incoming_bytes.total() + n_bytes > UPLOADS_BYTES.maximum:
            return "The file was not taken: the server is full of files. Try again in a few minutes."
        return ""


def _stored_bytes(sizes: list[int]) -> int:
    return sum(sizes) + FILE_OVERHEAD * len(sizes)
