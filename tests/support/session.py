"""One visitor's browser, as far as a Streamlit server can tell: a websocket, what is on the page, values of widgets.

It does what Streamlit's own page does: it keeps large messages and says which (the server then sends their hashes),
sends the values of all used widgets with every action, runs fragments alone, repeats those that ask for it, fetches
pictures, and drops what a run did not draw again. It loads no scripts or fonts.
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

DONE = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
TRIGGERS = ("trigger_value", "string_trigger_value", "json_trigger_value")
PICTURE = re.compile(rb"pictures/[0-9a-f]{32}\.(?:png|json)")
"""Where the app serves a picture or the numbers of one, as messages name it."""
WITH_PICTURES = "imgs", "vega_lite_chart", "bidi_component"


class GoneError(Exception):
    """The server closed the connection, or did not open it."""


@dataclass
class Answer:
    """What came of an action."""

    seconds: float = 0.0  # from the action to the end of its run
    n_bytes: int = 0  # that the server sent until then, pictures included
    faults: list[str] = field(default_factory=list)  # exceptions shown, messages and pictures that were not there
    is_cut: bool = False  # whether the run ended early for another that draws other parts (Streamlit drops the rest)


@dataclass(frozen=True)
class Drawn:
    """Something on the page."""

    kind: str  # Streamlit's name of its message, such as "button_group"
    message: Any  # what the server sent of it
    run: str  # the one that drew it
    fragment: str  # the part of the page that runs alone when it is used; "" = the whole page runs
    script: str  # of the page that it belongs to

    @property
    def id(self) -> str:
        """Streamlit's name of the widget; "" if it is none."""
        return getattr(self.message, "id", "")

    @property
    def key(self) -> str:
        """The app's name of the widget, "None" if it gave none."""
        return self.id.split("-", 2)[-1]


class Session:
    """A visitor with a browser of its own at an address such as http://127.0.0.1:8501."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.pages: dict[str, str] = {}
        """The hash of every page by its path."""
        self.cookies: dict[str, str] = {}
        self.headers: dict[str, str] = {}
        """Of the websocket, besides its own."""
        self.drawn: dict[tuple[int, ...], Drawn] = {}
        self._page = self._query = self._main = self._id = self._run = ""
        self.states: dict[str, WidgetState] = {}
        self._kept: dict[str, tuple[Delta, int]] = {}
        self._n_runs, self._oldest = 0, 2
        self._begun: dict[str, list[str]] = {}
        self._finished: list[list[str]] = []
        self._early: tuple[str, set[str]] = "", set()
        self._news = asyncio.Event()
        self._answer = Answer()
        self._fetched: set[str] = set()
        self._beats: dict[str, tuple[float, asyncio.Task[None]]] = {}
        self._reader: asyncio.Task[None] | None = None

    async def open(self, path: str = "", seconds: float = 60.0) -> Answer:
        """Load the page, connect and wait for its first run."""
        began = time.perf_counter()
        try:
            n_bytes = 0
            for part in (f"/{path}", "/_stcore/health", "/_stcore/host-config"):
                n_bytes += len(await self.fetch(part))
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
        answer = await self._answered(lambda: self._rerun(name=path), "", seconds - (time.perf_counter() - began))
        answer.seconds, answer.n_bytes = time.perf_counter() - began, answer.n_bytes + n_bytes
        return answer

    async def go(self, path: str, seconds: float = 60.0) -> Answer:
        """Go to another page, as by a click in the sidebar."""
        for fragment in list(self._beats):
            self._stop_beat(fragment)
        self.drawn = {place: one for place, one in self.drawn.items() if one.script == self._main}
        self._forget_states()
        self._query, self._page = "", self.pages[path]
        return await self._answered(self._rerun, "", seconds)

    async def use(self, widget: Drawn, name: str, content: Any, seconds: float = 60.0) -> Answer:
        """Give a widget a value, by the name of its field in Streamlit's WidgetState, and wait for its run to end."""
        return await self._answered(lambda: self.touch(widget, name, content), widget.fragment, seconds)

    async def touch(self, widget: Drawn, name: str, content: Any) -> None:
        """Give a widget a value and wait for nothing."""
        state = WidgetState(id=widget.id)
        if name.endswith("array_value"):
            getattr(state, name).data.extend(content)
        else:
            setattr(state, name, content)
        self.states[widget.id] = state
        await self._rerun(widget.fragment)
        if name in TRIGGERS:
            self.states.pop(widget.id, None)

    async def fetch(self, path: str) -> bytes:
        """Return what lies at a path of the server."""
        try:
            return await asyncio.to_thread(self._fetch, path)
        except HTTPException as fault:
            raise GoneError(str(fault)) from fault

    async def close(self) -> None:
        """Close the tab; whatever runs for it has nobody left."""
        for fragment in list(self._beats):
            self._stop_beat(fragment)
        if self._reader:
            await self._socket.close()
            await self._reader

    def widgets(self, kind: str, key: str = "*") -> list[Drawn]:
        """Return the widgets of a kind whose key fits a pattern, without those that are switched off."""
        found = [one for one in self.drawn.values() if one.kind == kind and one.id]
        return [one for one in found if fnmatchcase(one.key, key) and not getattr(one.message, "disabled", False)]

    def words(self, *kinds: str) -> list[str]:
        """Return the texts of what is drawn of some kinds, such as "markdown"."""
        return [one.message.body for one in self.drawn.values() if one.kind in kinds]

    def tabs(self, container: Drawn) -> list[str]:
        """Return the labels of a container's tabs."""
        place = next(place for place, one in self.drawn.items() if one is container)
        below = [one for path, one in sorted(self.drawn.items()) if path[:-1] == place and one.kind == "tab"]
        return [one.message.label for one in below]

    async def _answered(self, act: Callable[[], Awaitable[None]], fragment: str, seconds: float) -> Answer:
        """Act, and wait for the end of a run that began afterwards and drew what was acted on."""
        began, self._answer = time.perf_counter(), Answer()
        answer = self._answer
        self._begun.clear()
        self._finished.clear()
        async with asyncio.timeout(seconds):
            await act()
            while not any(not parts or fragment in parts for parts in self._finished):
                if self._reader is None or self._reader.done():
                    raise GoneError("the connection broke off")
                self._news.clear()
                await self._news.wait()
            answer.seconds = time.perf_counter() - began
            answer.is_cut = all(parts[:1] == ["cut"] for parts in self._finished if not parts or fragment in parts)
            await self._fetch_pictures(answer)
        return answer

    async def _rerun(self, fragment: str = "", name: str = "", is_beat: bool = False) -> None:
        request = BackMsg()
        asked = request.rerun_script
        asked.query_string, asked.page_script_hash, asked.page_name = self._query, self._page, name
        asked.fragment_id, asked.is_auto_rerun = fragment, is_beat
        asked.cached_message_hashes.extend(self._kept)
        asked.widget_states.widgets.extend(self.states.values())
        asked.context_info.url, asked.context_info.locale = f"{self.address}/{name}", "en-US"
        await self._send(request)

    async def _send(self, request: BackMsg) -> None:
        try:
            await self._socket.send(request.SerializeToString())
        except websockets.ConnectionClosed as fault:
            raise GoneError(str(fault)) from fault

    async def _read(self) -> None:
        with suppress(websockets.ConnectionClosed):
            async for content in self._socket:
                self._answer.n_bytes += len(content)
                self._take(ForwardMsg.FromString(content))
        self._news.set()

    def _take(self, message: ForwardMsg) -> None:
        kind, run = message.WhichOneof("type"), message.metadata.run
        if kind == "new_session":
            start = message.new_session
            self._main, self._id = start.main_script_hash, start.initialize.session_id
            self._oldest = start.config.max_cached_message_age
            self._run = run.script_run_id
            self._begun[self._run] = list(run.fragment_ids)
            self._drop(set(run.fragment_ids))
        elif kind in ("delta", "ref_hash"):
            self._draw(message)
        elif kind == "navigation":
            self._page = message.navigation.page_script_hash
            self.pages = {page.url_pathname: page.page_script_hash for page in message.navigation.app_pages}
        elif kind == "page_info_changed":
            self._query = message.page_info_changed.query_string
        elif kind == "auto_rerun":
            self._start_beat(message.auto_rerun.fragment_id, message.auto_rerun.interval)
        elif kind == "stop_auto_rerun":
            for fragment in message.stop_auto_rerun.fragment_ids:
                self._stop_beat(fragment)
        elif kind == "script_finished":
            self._finish(message.script_finished, run.script_run_id, list(run.fragment_ids))

    def _draw(self, message: ForwardMsg) -> None:
        delta, place = message.delta, tuple(message.metadata.delta_path)
        if hash := message.ref_hash:
            if hash not in self._kept:
                self._answer.faults.append(f"a message that was not kept: {hash}")
                return
            delta = self._kept[hash][0]
        if hash or message.metadata.cacheable:
            self._kept[hash or message.hash] = delta, self._n_runs
        if delta.HasField("new_transient"):
            return
        element = delta.add_block if delta.HasField("add_block") else delta.new_element
        kind = element.WhichOneof("type") or ""
        content: Any = getattr(element, kind) if kind else None
        if kind == "exception" and not content.is_warning:
            self._answer.faults.append(f"{content.type}: {content.message}"[:300])
        script = message.metadata.active_script_hash
        self.drawn[place] = one = Drawn(kind, content, self._run, delta.fragment_id, script)
        if getattr(content, "set_value", False):
            self.states.pop(one.id, None)

    def _drop(self, following: set[str]) -> None:
        """Count the parts that a run did not come to, because another one follows that does not draw them.

        What beats is drawn by its next beat.
        """
        run, parts = self._early
        if following and (dropped := parts - following - set(self._beats)):
            self._finished.append(["cut", *dropped])
            if not any(one.run == run and one.fragment in dropped for one in self.drawn.values()):
                self._answer.faults.append("a run was cut off before it drew anything")
            self._news.set()
        self._early = "", set()

    def _finish(self, status: int, run: str, fragments: list[str]) -> None:
        if status == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            self._early = (run, set(fragments)) if run in self._begun else ("", set())
            return
        self._n_runs += 1
        for hash, (delta, last) in list(self._kept.items()):
            if (not fragments or delta.fragment_id in fragments) and self._n_runs - last > self._oldest:
                del self._kept[hash]
        if status in DONE:
            redrawn = {place for place, one in self.drawn.items() if one.run == run and one.fragment in fragments}
            for place in [place for place, one in self.drawn.items() if one.run != run]:
                if not fragments or not redrawn.isdisjoint(place[:n] for n in range(len(place))):
                    del self.drawn[place]
            self._forget_states()
        if run in self._begun:
            self._finished.append(fragments)
            self._news.set()

    def _forget_states(self) -> None:
        shown = {one.id for one in self.drawn.values()}
        self.states = {id: state for id, state in self.states.items() if id in shown}

    def _start_beat(self, fragment: str, seconds: float) -> None:
        if fragment in self._beats and self._beats[fragment][0] == seconds:
            return
        self._stop_beat(fragment)

        async def beat() -> None:
            with suppress(GoneError):
                while True:
                    await asyncio.sleep(seconds)
                    await self._rerun(fragment, is_beat=True)

        self._beats[fragment] = seconds, asyncio.create_task(beat())

    def _stop_beat(self, fragment: str) -> None:
        if fragment in self._beats:
            self._beats.pop(fragment)[1].cancel()

    async def _fetch_pictures(self, answer: Answer) -> None:
        shown = [one.message for one in self.drawn.values() if one.kind in WITH_PICTURES]
        for path in {path for message in shown for path in pictures_of(message)} - self._fetched:
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
    """Return the paths of the files that pictures, a chart or a component show; a browser keeps each for good."""
    if hasattr(message, "imgs"):
        return [picture.url for picture in message.imgs if picture.url.startswith("/media/")]
    return [f"/{path.decode()}" for path in PICTURE.findall(message.SerializeToString())]
