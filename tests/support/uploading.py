"""A visitor of tests.support.session who sends files, too."""

import asyncio
import http.client
import socket
import urllib.request
from contextlib import closing
from types import SimpleNamespace
from typing import Any
from urllib.error import HTTPError

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from attention_core.bounds.limits import MIB
from tests.support.session import Answer, Element, Session

FILES = "file_uploader_state_value"


class Uploader(Session):
    def __init__(self, address: str) -> None:
        super().__init__(address)
        self._urls: asyncio.Queue[Any] = asyncio.Queue()

    def _handle(self, message: ForwardMsg) -> None:
        if message.WhichOneof("type") == "file_urls_response":
            self._urls.put_nowait(message.file_urls_response)
        super()._handle(message)

    async def send_value(self, widget: Element, field: str, value: Any) -> None:
        if field != FILES:
            return await super().send_value(widget, field, value)
        state = WidgetState(id=widget.id)
        state.file_uploader_state_value.CopyFrom(value)
        state.file_uploader_state_value.SetInParent()  # one without files too
        self.states[widget.id] = state
        await self._rerun(widget.fragment)

    async def give(self, widget: Element, name: str, content: bytes) -> Answer:
        """Give a widget a file and wait for its run to end."""
        return await self.set_value(widget, FILES, await self.upload(widget, name, content), 20)

    async def upload(self, widget: Element, name: str, content: bytes) -> Any:
        """Send a file; returns what to give its widget."""
        message = BackMsg()
        request = message.file_urls_request
        request.request_id, request.session_id = widget.id, self._id
        request.file_names.append(name)
        await self._send(message)
        urls = (await asyncio.wait_for(self._urls.get(), 30)).file_urls[0]
        await asyncio.to_thread(self._put, urls.upload_url, name, content)
        value = WidgetState().file_uploader_state_value
        value.uploaded_file_info.add(name=name, size=len(content), file_id=urls.file_id).file_urls.CopyFrom(urls)
        return value

    def _put(self, path: str, name: str, content: bytes) -> None:
        edge = "----a-visitor"
        headers = {
            "Cookie": self._cookie_line(),
            "Content-Type": f"multipart/form-data; boundary={edge}",
            "X-Xsrftoken": self.cookies.get("_streamlit_xsrf", ""),
        }
        head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        body = head.encode() + content + f"\r\n--{edge}--\r\n".encode()
        request = urllib.request.Request(f"{self.address}{path}", body, headers, method="PUT")
        with urllib.request.urlopen(request, timeout=60) as answer:
            answer.read()


EDGE = "----a-visitor"


HEAD = f'--{EDGE}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'.encode()


class Stranger(Uploader):
    """A visitor whose browser keeps to nothing."""

    file = SimpleNamespace(id="a file")

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.toasts = ""

    def _add_element(self, message) -> None:
        self.toasts += str(message.delta.new_transient) + str(message.delta.new_element.toast)
        super()._add_element(message)

    async def put(self, n_megabytes: int) -> object:
        """Send a file of so many MiB; returns what to give its widget."""
        return await self.upload(self.file, "a", bytes(n_megabytes * MIB))

    async def put_once_it_fits(self, n_megabytes: int) -> object:
        """Send a file again and again until it is taken."""
        async with asyncio.timeout(20):
            while True:
                try:
                    return await self.put(n_megabytes)
                except HTTPError as answer:
                    answer.close()

    async def refused(self, n_megabytes: int) -> str:
        """Send a file that must be refused with 413; returns the words."""
        with pytest.raises(HTTPError) as caught:
            await self.put(n_megabytes)
        with caught.value as answer:
            assert answer.code == 413
            return answer.read().decode()

    def begin(self, name: str, **headers: str) -> socket.socket:
        """Send the head of an upload and nothing more."""
        connection = http.client.HTTPConnection(self.address.removeprefix("http://"), timeout=20)
        connection.putrequest("PUT", f"/_stcore/upload_file/{self._id}/{name}")
        all_headers = {"Content-Type": f"multipart/form-data; boundary={EDGE}", "Cookie": self._cookie_line()}
        all_headers["X-Xsrftoken"] = self.cookies["_streamlit_xsrf"]
        for header, value in (all_headers | headers).items():
            connection.putheader(header.replace("_", "-"), value)
        connection.endheaders()
        return connection.sock

    async def use_file(self, value: object) -> None:
        await self.set_value(self.widgets("file_uploader")[0], FILES, value)

    async def delete(self, value) -> None:
        headers = {"Cookie": self._cookie_line(), "X-Xsrftoken": self.cookies["_streamlit_xsrf"]}
        with closing(http.client.HTTPConnection(self.address.removeprefix("http://"), timeout=20)) as connection:
            connection.request("DELETE", value.uploaded_file_info[0].file_urls.delete_url, headers=headers)
            assert connection.getresponse().status == 204
