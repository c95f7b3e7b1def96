"""Players go through a sequence by buttons, keys or a clock. At most one player of a page plays at a time."""

import time
from collections.abc import Sequence
from typing import Any, Generic

import streamlit as st

from ui.state import APP, PLAYING, Field, Value, set_widget, widget_value

LAST_BEAT, TOGGLED = Field(APP, "player_tick", 0.0), Field(APP, "player_changed", "")
"""When the last beat was, by time.monotonic; the player that was started or stopped in the run before."""
MIN_BEAT_FRACTION = 0.8
"""Of a beat, after which the next one is due: browser and server do not agree to the millisecond."""


class Player(Generic[Value]):
    """Sets a field to one value of a sequence after the other, each for `seconds`, a beat.

    Draw it in a `draw_fragment`, which runs with every beat. Its shortcuts are the arrow keys, with the modifier, as
    in "Shift+", where these have another use.
    """

    def __init__(self, field: Field[Value], seconds: float, modifier: str = "") -> None:
        self.field, self.seconds, self.modifier = field, seconds, modifier

    @property
    def name(self) -> str:
        """The key of its field, with which those of its buttons begin."""
        return self.field.key

    @property
    def is_playing(self) -> bool:
        return PLAYING.value == self.name

    def advance_if_due(self, values: Sequence[Value]) -> None:
        """Advance if a beat is over, and stop after the last value; call it before the controls are drawn."""
        if TOGGLED.value == self.name:
            TOGGLED.value = ""
            st.rerun()  # the whole page, so that the fragment's clock starts or stops
        if not self.is_playing or time.monotonic() - LAST_BEAT.value < MIN_BEAT_FRACTION * self.seconds:
            return
        if self.field.value == values[-1]:  # since a full beat: no late message of the browser can undo it
            PLAYING.value = ""
            st.rerun()
        LAST_BEAT.value = time.monotonic()
        self.go(values, 1)

    def go(self, values: Sequence[Value], by: int) -> None:
        """Go so many values forth, back if negative, up to the first or last; from the first if the field has none."""
        index = values.index(self.field.value) if self.field.value in values else 0
        self.field.value = values[max(0, min(len(values) - 1, index + by))]

    def previous_button(self, values: Sequence[Value], label: str = "Previous", **style: str | None) -> None:
        self._button("previous", "left", values, -1, label, **style)

    def next_button(self, values: Sequence[Value], label: str = "Next", **style: str | None) -> None:
        self._button("next", "right", values, 1, label, **style)

    def play_button(self, values: Sequence[Value], label: str = "Play") -> None:
        """Draw the button that starts and pauses playing."""
        st.button(
            "Pause" if self.is_playing else label,
            key=f"{self.name}_play",
            icon=":material/pause:" if self.is_playing else ":material/play_arrow:",
            on_click=self._on_play,
            args=(values,),
        )

    def _on_press(self, values: Sequence[Value], by: int) -> None:
        displayed = f"{self.name}_drawn"
        # a press during a run brings the field's value from before that run: go on from the one that was displayed
        self.field.value = widget_value(displayed)
        self.go(values, by)
        set_widget(displayed, self.field.value)

    def _button(self, name: str, side: str, values: Sequence[Value], by: int, label: str, **style: str | None) -> None:
        set_widget(f"{self.name}_drawn", self.field.value)
        last = values[0 if by < 0 else -1]
        usual = {"icon": f":material/chevron_{side}:", "icon_position": side}
        style = usual | style | {"shortcut": f"{self.modifier}{side.capitalize()}"}
        press: dict[str, Any] = {"on_click": self._on_press, "args": (values, by), "disabled": self.field.value == last}
        st.button(label, key=f"{self.name}_{name}", **press, **style)  # type: ignore[arg-type]

    def _on_play(self, values: Sequence[Value]) -> None:
        starts = not self.is_playing
        PLAYING.value = self.name if starts else ""
        TOGGLED.value, LAST_BEAT.value = self.name, time.monotonic()
        if starts and self.field.value == values[-1]:
            self.field.value = values[0]
