"""Players go along a sequence by buttons, keys or a clock. One player of a page plays at a time."""

import time
from collections.abc import Sequence
from typing import Any, Generic

import streamlit as st

from ui.state import APP, PLAYING, Field, Value, set_widget, widget_value

TICK, CHANGED = Field(APP, "player_tick", 0.0), Field(APP, "player_changed", "")
"""When the last beat was, by time.monotonic; the player that began or stopped in the run before."""
MIN_BEAT = 0.8
"""Share of a beat after which the next tick counts: the browser's clock and ours do not agree to the millisecond."""


class Player(Generic[Value]):
    """Goes along a sequence of values of a field, a beat of so many seconds each. Draw it inside a fragment that ticks.

    A modifier, such as "Shift+", is held with the arrow keys where these alone do something else. See `live`.
    """

    def __init__(self, field: Field[Value], seconds: float, modifier: str = "") -> None:
        self.field, self.seconds, self.modifier = field, seconds, modifier

    @property
    def name(self) -> str:
        """The key of its field, which is unique and begins the keys of its buttons."""
        return self.field.key

    @property
    def plays(self) -> bool:
        return PLAYING.value == self.name

    def advance_if_due(self, values: Sequence[Value]) -> None:
        """Go on when its time has come, and stop at the end; call it before the controls are drawn."""
        if CHANGED.value == self.name:
            CHANGED.value = ""
            st.rerun()  # the whole page, so that the fragment's clock starts or stops
        if not self.plays or time.monotonic() - TICK.value < MIN_BEAT * self.seconds:
            return
        if self.field.value == values[-1]:  # for a whole beat: no late message of the browser can take it back
            PLAYING.value = ""
            st.rerun()
        TICK.value = time.monotonic()
        self.go(values, 1)

    def go(self, values: Sequence[Value], by: int) -> None:
        """Go so many values forth, or back if negative, up to the ends; from the first where it has none of them."""
        index = values.index(self.field.value) if self.field.value in values else 0
        self.field.value = values[max(0, min(len(values) - 1, index + by))]

    def previous_button(self, values: Sequence[Value], label: str = "Previous") -> None:
        self._button("previous", "left", values, -1, label)

    def next_button(self, values: Sequence[Value], label: str = "Next", **style: str) -> None:
        self._button("next", "right", values, 1, label, **style)

    def play_button(self, values: Sequence[Value], label: str = "Play") -> None:
        """Draw the button that starts and stops going on by itself."""
        st.button(
            "Pause" if self.plays else label,
            key=f"{self.name}_play",
            icon=":material/pause:" if self.plays else ":material/play_arrow:",
            on_click=self._toggle,
            args=(values,),
        )

    def _press(self, values: Sequence[Value], by: int) -> None:
        displayed = f"{self.name}_drawn"
        # of a press during a run the browser says where it was before that run
        self.field.value = widget_value(displayed)
        self.go(values, by)
        set_widget(displayed, self.field.value)

    def _button(self, name: str, side: str, values: Sequence[Value], by: int, label: str, **style: str) -> None:
        set_widget(f"{self.name}_drawn", self.field.value)
        last = values[0 if by < 0 else -1]
        style |= {"icon": f":material/chevron_{side}:", "icon_position": side}
        style["shortcut"] = f"{self.modifier}{side.capitalize()}"
        press: dict[str, Any] = {"on_click": self._press, "args": (values, by), "disabled": self.field.value == last}
        st.button(label, key=f"{self.name}_{name}", **press, **style)  # type: ignore[arg-type]

    def _toggle(self, values: Sequence[Value]) -> None:
        starts = not self.plays
        PLAYING.value = self.name if starts else ""
        CHANGED.value, TICK.value = self.name, time.monotonic()
        if starts and self.field.value == values[-1]:
            self.field.value = values[0]
