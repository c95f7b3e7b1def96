"""Arrows in a plane that a visitor drags: drawn in the browser, frame by frame, while Python follows."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.component import component
from ui.state import PLAYING, Field, component_message


class VectorPlane:
    """A component with arrows to drag, and beside them the scene of their keys, as the page's NAME.js computes it.

    The pause is milliseconds between two messages to Python while an arrow is dragged.
    """

    def __init__(self, page: str, name: str, pause: int) -> None:
        self.key, self.container_key = f"{page}_plane", f"{page}_place"
        self._pause = pause
        self._component = component(name, folder=f"pages/{page}")
        self._revision = Field(page, "revision", 0)
        self._answered = Field(page, "answered", 0)

    def container(self) -> DeltaGenerator:
        """Return the container that it will be drawn in, which has its height from the beginning, see vectors.css."""
        return st.container(key=self.container_key)

    def refresh(self) -> None:
        """Let it take over the arrows at its next drawing, because Python has changed them."""
        self._revision.value += 1

    def message(self) -> dict[str, Any] | None:
        """Return what was dragged last, for a callback; None where it was sent before Python's own last change."""
        moved = component_message(self.key, "moved")
        if moved is None:
            return None
        self._answered.value = moved["sequence"]
        PLAYING.value = self.key if moved["moving"] else ""  # the address waits for the end of the drag
        return moved if moved["revision"] == self._revision.value else None

    def draw(
        self,
        arrows: Sequence[Sequence[float]],
        data: Mapping[str, Any],
        on_move: Callable[[], None],
        scene: Mapping[str, Any],
        on_choose: Callable[[], None],
        active: int = 0,
    ) -> None:
        """Draw it. Call it last in its fragment: it counts a message as answered when it is drawn again.

        The arrows' tips are (n, 2), the active one was touched last; the data are their names and kinds ("query", "key"
        or "input"), the extent of the plane, and what NAME.js reads. The scene is that of the keys, see
        attention_core.attention.view.scene. After a message on_move is called, after a choice on_choose, see
        scene_choice.
        """
        counters = {"revision": self._revision.value, "answered": self._answered.value, "pause": self._pause}
        sent = (component_message(self.key, "chosen") or {}).get("sent", 0)
        answered_scene = {"canChange": True, **scene, "answered": sent}
        all_data = {"arrows": arrows, "active": active, **data, **counters, "scene": answered_scene}
        default = {"moved": None, "chosen": None}
        self._component(
            key=self.key, data=all_data, default=default, on_moved_change=on_move, on_chosen_change=on_choose
        )
