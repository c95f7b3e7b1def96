"""A visitor without a browser, who speaks to a Streamlit server as Streamlit's page does: websocket, elements, values.

As that page does, it caches large messages and tells the server which (it then sends their hashes), sends the values of
all used widgets with every action, runs fragments alone, reruns those that ask for it at intervals, fetches pictures,
and drops elements that a run did not draw again. It loads no scripts or fonts.
"""

import asyncio
import re
import time
import urllib.request
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from http.client import HTTPException
from typing import Any

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

SUCCEEDED = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
TRIGGER_FIELDS = ("trigger_value", "string_trigger_value", "json_trigger_value")
PICTURE_PATH = re.compile(rb"pictures/[0-9a-f]{32}\.(?:png|json)")
"""The path of a picture, or of its numbers, in a message."""
WITH_PICTURES = "imgs", "vega_lite_chart", "bidi_component"


class GoneError(Exception):
    """The server closed the connection, or did not open it."""


@dataclass
class Answer:
    """The result of an action."""

    seconds: float = 0.0  # from the action to the end of its run
    n_bytes: int = 0  # sent by the server until then, with pictures
    faults: list[str] = field(default_factory=list)  # exceptions on the page, missing messages and pictures
    is_cut: bool = False  # whether the run ended early for one of other fragments, and left some of its own undrawn


@dataclass(frozen=True)
class Element:
    """An element or a container on the page."""

    type: str  # Streamlit's name of its message, such as "button_group"
    message: Any
    run: str  # the id of the run that drew it
    fragment: str  # the id of the fragment that reruns when it is used; "" = the whole page does
    script: str  # the hash of the script that drew it: a page's or the app's
    container_key: str = ""  # the app's key of a container, "" if it has none

    @property
    def id(self) -> str:
        """Streamlit's id of the widget, "" if it is none."""
        return getattr(self.message, "id", "")

    @property
    def key(self) -> str:
        """The app's key of the widget, "None" if it has none."""
        return self.id.split("-", 2)[-1]


class Session:
    """A visitor of the server at an address such as http://127.0.0.1:8501."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.pages: dict[str, str] = {}
        """The hash of every page's script by the page's path."""
        self.cookies: dict[str, str] = {}
        self.headers: dict[str, str] = {}
        """Sent with the websocket's own."""
        self.elements: dict[tuple[int, ...], Element] = {}
        """What is on the page, by Streamlit's path of containers to it."""
        self._page = self._query = self._app_script = self._id = self._run = ""
        self.states: dict[str, WidgetState] = {}
        self._cache: dict[str, tuple[Delta, int]] = {}  # of a hash the message, and the number of its last run
        self._n_runs, self._max_age = 0, 2
        self._started: dict[str, list[str]] = {}  # fragments of each run that began since the last action
        self._ended: list[list[str]] = []
        self._interrupted: tuple[str, set[str]] = "", set()
        self._changed = asyncio.Event()
        self._answer = Answer()
        self._fetched: set[str] = set()
        self._timers: dict[str, tuple[float, asyncio.Task[None]]] = {}
        self._reader: asyncio.Task[None] | None = None

    async def open(self, path: str = "", seconds: float = 60.0) -> Answer:
        """Load the page, connect and wait for its first run."""
        began = time.perf_counter()
        try:
            n_bytes = 0
            for file in (f"/{path}", "/_stcore/health", "/_stcore/host-config"):
                n_bytes += len(await self.fetch(file))
            self._socket = await websockets.connect(
                f"ws{self.address.removeprefix('http')}/_stcore/stream",
                origin=websockets.Origin(self.address),
                subprotocols=[websockets.Subprotocol("streamlit")],
                additional_headers={"Cookie": self._cookie_line(), **self.headers},
                max_size=None,
                open_timeout=seconds,
            )
        except (OSError, TimeoutError, websockets.WebSocketException) as fault:
            raise GoneError(str(fault)) from fault
        self._reader = asyncio.create_task(self._read())
        answer = await self._wait_for_run(lambda: self._rerun(name=path), "", seconds - (time.perf_counter() - began))
        answer.seconds, answer.n_bytes = time.perf_counter() - began, answer.n_bytes + n_bytes
        return answer

    async def switch_page(self, path: str, seconds: float = 60.0) -> Answer:
        """Go to another page, as by a click in the sidebar."""
        for fragment in list(self._timers):
            self._stop_timer(fragment)
        self.elements = {at: item for at, item in self.elements.items() if item.script == self._app_script}
        self._forget_states()
        self._query, self._page = "", self.pages[path]
        return await self._wait_for_run(self._rerun, "", seconds)

    async def set_value(self, widget: Element, field: str, value: Any, seconds: float = 60.0) -> Answer:
        """Send a widget's value, in a field of Streamlit's WidgetState, and wait for its run to end."""
        return await self._wait_for_run(lambda: self.send_value(widget, field, value), widget.fragment, seconds)

    async def send_value(self, widget: Element, field: str, value: Any) -> None:
        """Send a widget's value without waiting for its run."""
        state = WidgetState(id=widget.id)
        if field.endswith("array_value"):
            getattr(state, field).data.extend(value)
        else:
            setattr(state, field, value)
        self.states[widget.id] = state
        await self._rerun(widget.fragment)
        if field in TRIGGER_FIELDS:
            self.states.pop(widget.id, None)

    async def fetch(self, path: str) -> bytes:
        """Return the file at a path of the server."""
        try:
            return await asyncio.to_thread(self._fetch, path)
        except HTTPException as fault:
            raise GoneError(str(fault)) from fault

    async def close(self) -> None:
        """Close the connection, as when a tab is closed."""
        for fragment in list(self._timers):
            self._stop_timer(fragment)
        if self._reader:
            await self._socket.close()
            await self._reader

    def widgets(self, type: str, key: str = "*") -> list[Element]:
        """Return the widgets of a type whose key fits a pattern, without disabled ones."""
        widgets = [item for item in self.elements.values() if item.type == type and item.id]
        return [item for item in widgets if fnmatchcase(item.key, key) and not getattr(item.message, "disabled", False)]

    def texts(self, *types: str) -> list[str]:
        """Return the texts of the elements of some types, such as "markdown"."""
        return [item.message.body for item in self.elements.values() if item.type in types]

    async def _wait_for_run(self, act: Callable[[], Awaitable[None]], fragment: str, seconds: float) -> Answer:
        """Act, and wait for the end of a run that began afterwards and includes the fragment."""
        began, self._answer = time.perf_counter(), Answer()
        answer = self._answer
        self._started.clear()
        self._ended.clear()
        async with asyncio.timeout(seconds):
            await act()
            while not (runs := [run for run in self._ended if not run or fragment in run]):
                if self._reader is None or self._reader.done():
                    raise GoneError("the connection broke off")
                self._changed.clear()
                await self._changed.wait()
            answer.seconds = time.perf_counter() - began
            answer.is_cut = all(run[:1] == ["cut"] for run in runs)
            await self._fetch_pictures(answer)
        return answer

    async def _rerun(self, fragment: str = "", name: str = "", is_timed: bool = False) -> None:
        message = BackMsg()
        request = message.rerun_script
        request.query_string, request.page_script_hash, request.page_name = self._query, self._page, name
        request.fragment_id, request.is_auto_rerun = fragment, is_timed
        request.cached_message_hashes.extend(self._cache)
        request.widget_states.widgets.extend(self.states.values())
        request.context_info.url, request.context_info.locale = f"{self.address}/{name}", "en-US"
        await self._send(message)

    async def _send(self, message: BackMsg) -> None:
        try:
            await self._socket.send(message.SerializeToString())
        except websockets.ConnectionClosed as fault:
            raise GoneError(str(fault)) from fault

    async def _read(self) -> None:
        with suppress(websockets.ConnectionClosed):
            async for content in self._socket:
                self._answer.n_bytes += len(content)
                self._handle(ForwardMsg.FromString(content))
        self._changed.set()

    def _handle(self, message: ForwardMsg) -> None:
        type, run = message.WhichOneof("type"), message.metadata.run
        if type == "new_session":
            new = message.new_session
            self._app_script, self._id = new.main_script_hash, new.initialize.session_id
            self._max_age = new.config.max_cached_message_age
            self._run = run.script_run_id
            self._started[self._run] = list(run.fragment_ids)
            self._note_undrawn(set(run.fragment_ids))
        elif type in ("delta", "ref_hash"):
            self._add_element(message)
        elif type == "navigation":
            self._page = message.navigation.page_script_hash
            self.pages = {page.url_pathname: page.page_script_hash for page in message.navigation.app_pages}
        elif type == "page_info_changed":
            self._query = message.page_info_changed.query_string
        elif type == "auto_rerun":
            self._start_timer(message.auto_rerun.fragment_id, message.auto_rerun.interval)
        elif type == "stop_auto_rerun":
            for fragment in message.stop_auto_rerun.fragment_ids:
                self._stop_timer(fragment)
        elif type == "script_finished":
            self._finish(message.script_finished, run.script_run_id, list(run.fragment_ids))

    def _add_element(self, message: ForwardMsg) -> None:
        delta, path = message.delta, tuple(message.metadata.delta_path)
        if hash := message.ref_hash:
            if hash not in self._cache:
                self._answer.faults.append(f"a message that was not kept: {hash}")
                return
            delta = self._cache[hash][0]
        if hash or message.metadata.cacheable:
            self._cache[hash or message.hash] = delta, self._n_runs
        if delta.HasField("new_transient"):
            return
        envelope = delta.add_block if delta.HasField("add_block") else delta.new_element
        type = envelope.WhichOneof("type") or ""
        content: Any = getattr(envelope, type) if type else None
        if type == "exception" and not content.is_warning:
            self._answer.faults.append(f"{content.type}: {content.message}"[:300])
        script = message.metadata.active_script_hash
        key = delta.add_block.id.split("-", 2)[-1] if delta.HasField("add_block") else ""
        self.elements[path] = element = Element(type, content, self._run, delta.fragment_id, script, key)
        if getattr(content, "set_value", False):
            self.states.pop(element.id, None)

    def _note_undrawn(self, following: set[str]) -> None:
        """Note as cut the fragments of an interrupted run that the following one does not draw either.

        Those with a timer are drawn when it is next due.
        """
        run, fragments = self._interrupted
        if following and (undrawn := fragments - following - set(self._timers)):
            self._ended.append(["cut", *undrawn])
            if not any(item.run == run and item.fragment in undrawn for item in self.elements.values()):
                self._answer.faults.append("a run was cut off before it drew anything")
            self._changed.set()
        self._interrupted = "", set()

    def _finish(self, status: int, run: str, fragments: list[str]) -> None:
        if status == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            self._interrupted = (run, set(fragments)) if run in self._started else ("", set())
            return
        self._n_runs += 1
        for hash, (delta, last_run) in list(self._cache.items()):
            if (not fragments or delta.fragment_id in fragments) and self._n_runs - last_run > self._max_age:
                del self._cache[hash]
        if status in SUCCEEDED:
            redrawn = {path for path, item in self.elements.items() if item.run == run and item.fragment in fragments}
            for path in [path for path, item in self.elements.items() if item.run != run]:
                if not fragments or not redrawn.isdisjoint(path[:n] for n in range(len(path))):
                    del self.elements[path]
            self._forget_states()
        if run in self._started:
            self._ended.append(fragments)
            self._changed.set()

    def _forget_states(self) -> None:
        ids = {item.id for item in self.elements.values()}
        self.states = {id: state for id, state in self.states.items() if id in ids}

    def _start_timer(self, fragment: str, seconds: float) -> None:
        if fragment in self._timers and self._timers[fragment][0] == seconds:
            return
        self._stop_timer(fragment)

        async def rerun_at_intervals() -> None:
            with suppress(GoneError):
                while True:
                    await asyncio.sleep(seconds)
                    await self._rerun(fragment, is_timed=True)

        self._timers[fragment] = seconds, asyncio.create_task(rerun_at_intervals())

    def _stop_timer(self, fragment: str) -> None:
        if fragment in self._timers:
            self._timers.pop(fragment)[1].cancel()

    async def _fetch_pictures(self, answer: Answer) -> None:
        messages = [item.message for item in self.elements.values() if item.type in WITH_PICTURES]
        for path in {path for message in messages for path in pictures_of(message)} - self._fetched:
            try:
                answer.n_bytes += len(await self.fetch(path))
            except OSError as fault:
                answer.faults.append(f"{path}: {fault}")
            self._fetched.add(path)

    def _cookie_line(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    def _fetch(self, path: str) -> bytes:
        request = urllib.request.Request(f"{self.address}{path}", headers={"Cookie": self._cookie_line()})
        with urllib.request.urlopen(request, timeout=60) as answer:
            for cookie in answer.headers.get_all("Set-Cookie", ()):
                name, _, value = cookie.partition(";")[0].partition("=")
                self.cookies[name] = value
            return answer.read()


def pictures_of(message: Any) -> list[str]:
    """Return the paths of the files that pictures, a chart or a component show; a browser fetches each once."""
    if hasattr(message, "imgs"):
        return [picture.url for picture in message.imgs if picture.url.startswith("/media/")]
    return [f"/{path.decode()}" for path in PICTURE_PATH.findall(message.SerializeToString())]
