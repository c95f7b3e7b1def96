"""The lower right corner of a lecture: a room for the hall's phones, with the address that they open."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import NamedTuple

from ui.component import component
from ui.lecture.hall.rooms import ROOMS, RoomError
from ui.lecture.hall.routes import NOWHERE, phones_address
from ui.state import APP, Field, component_message, running_visitor

KEY = "hall_corner"


class Room(NamedTuple):
    code: str
    key: str


ROOM = Field[Room | None](APP, "hall_room", None)
REFUSAL = Field(APP, "hall_refusal", "")
HAS_QUESTION = Field(APP, "hall_is_asked", False)
"""Whether the present run of the page asks or answers one."""
HAS_ITEM_QUESTION = Field(APP, "hall_item_asks", False)
"""Whether a guided lecture's item asks or has told; the page's own questions rest then, so that a hall has one."""
_corner = component(KEY, folder="ui/lecture/hall")


@contextmanager
def refusal_in_corner() -> Iterator[None]:
    """Keep why rooms refuse something for the corner to show; the page goes on."""
    try:
        yield
    except RoomError as error:
        REFUSAL.value = str(error)


def hall_corner() -> None:
    """Draw the corner from which a lecturer opens a room, with the address for phones once it is open."""
    HAS_QUESTION.value = False
    if ROOM.value is not None:
        REFUSAL.value = ""
        with refusal_in_corner():
            if not ROOMS.confirm_lecturer(*ROOM.value):
                ROOM.value, REFUSAL.value = None, "The room was closed."
    room, room_data = ROOM.value, None
    if room is not None:
        url = phones_address(room.code)
        address = {"url": url, "qr": _qr(url) if url else "", "how": NOWHERE.replace("`", "")}
        room_data = {"code": room.code, "key": room.key, **address}
    _corner(
        key=KEY,
        data={"room": room_data, "refusal": REFUSAL.value},
        on_open_change=_open,
        on_restore_change=_restore,
        on_close_change=_close,
    )


@lru_cache(16)
def _qr(url: str) -> str:
    import segno  # here: a server starts without it

    return segno.make(url, error="m").svg_inline(omitsize=True, border=1)


def _open() -> None:
    _close()  # a session has one room
    with refusal_in_corner():
        ROOM.value = Room(*ROOMS.open(running_visitor()[1]))


def _restore() -> None:
    saved = component_message(KEY, "restore") or {}
    room = Room(str(saved.get("code")), str(saved.get("key")))
    with refusal_in_corner():
        ROOM.value = room if ROOMS.confirm_lecturer(*room) else None


def _close() -> None:
    REFUSAL.value = ""
    with refusal_in_corner():
        if ROOM.value is not None:
            ROOMS.close(ROOM.value.code)
    ROOM.value = None


def pause_idle_hall() -> None:
    """Let the phones wait where this page asks nothing."""
    if ROOM.value is not None and not HAS_QUESTION.value:
        with refusal_in_corner():
            ROOMS.pause(ROOM.value.code)
