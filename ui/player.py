"""Going along a sequence, forth and back, by buttons, arrow keys or by itself; one player of a page plays at a time."""

import time
from collections.abc import Sequence
from typing import Generic

import streamlit as st

from attention_core.bounds import as_markdown
from ui.address import PLAYING
from ui.labels import distinct
from ui.state import APP, Field, Value, choice, set_widget, whole_number, widget_value

TICK, CHANGED = Field(APP, "player_tick", 0.0), Field(APP, "player_changed", "")
"""When the last beat was, by time.monotonic; the player that began or stopped in the run before."""
REST = 0.8
"""Share of a beat after which the next tick counts: the browser's clock and ours do not agree to the millisecond."""
SECONDS_PER_WORD = 0.9
MOST_JUMPS = 48
"""Positions up to which every one has a button of its own; beyond, a slider jumps."""
LONGEST_LABEL = 16
END = 10**6
"""A position that is always brought back to the last one."""


class Player(Generic[Value]):
    """Goes along a sequence of values of a field. Draw it inside a fragment that ticks, see `live`.

    Args:
        field: the present value.
        seconds: of a beat.
        modifier: such as "Shift+", held with the arrow keys where these alone do something else.
    """

    def __init__(self, field: Field[Value], seconds: float, modifier: str = "") -> None:
        self.field, self.seconds, self.modifier = field, seconds, modifier

    @property
    def name(self) -> str:
        """The key of its field, which tells it from other players and begins the keys of its buttons."""
        return self.field.key

    @property
    def plays(self) -> bool:
        return PLAYING.value == self.name

    def follow(self, values: Sequence[Value]) -> None:
        """Go on when its time has come, and stop at the end; call it before the controls are drawn."""
        if CHANGED.value == self.name:
            CHANGED.value = ""
            st.rerun()  # the whole page, so that the fragment's clock starts or stops
        if not self.plays or time.monotonic() - TICK.value < REST * self.seconds:
            return
        if self.field.value == values[-1]:  # for a whole beat: no late message of the browser can take it back
            PLAYING.value = ""
            st.rerun()
        TICK.value = time.monotonic()
        self.go(values, 1)

    def go(self, values: Sequence[Value], by: int) -> None:
        """Go some places forth, or back if negative, up to the ends."""
        self.field.value = values[max(0, min(len(values) - 1, values.index(self.field.value) + by))]

    def previous_button(self, values: Sequence[Value]) -> None:
        self._button("Previous", values, -1, icon=":material/chevron_left:", shortcut=f"{self.modifier}Left")

    def next_button(self, values: Sequence[Value]) -> None:
        self._button(
            "Next",
            values,
            1,
            icon=":material/chevron_right:",
            icon_position="right",
            shortcut=f"{self.modifier}Right",
        )

    def play_button(self, values: Sequence[Value]) -> None:
        """Draw the button that starts and stops going on by itself."""
        st.button(
            "Pause" if self.plays else "Play",
            key=f"{self.name}_play",
            icon=":material/pause:" if self.plays else ":material/play_arrow:",
            on_click=self._toggle,
            args=(values,),
        )

    def _press(self, values: Sequence[Value], by: int) -> None:
        drawn = f"{self.name}_drawn"
        self.field.value = widget_value(drawn)  # of a press during a run the browser says where it was before that run
        self.go(values, by)
        set_widget(drawn, self.field.value)

    def _button(self, label: str, values: Sequence[Value], by: int, **look: str) -> None:
        set_widget(f"{self.name}_drawn", self.field.value)
        end = values[0 if by < 0 else -1]
        st.button(
            label,
            key=f"{self.name}_{label.lower()}",
            disabled=self.field.value == end,
            on_click=self._press,
            args=(values, by),
            **look,  # type: ignore[arg-type]
        )

    def _toggle(self, values: Sequence[Value]) -> None:
        starts = not self.plays
        PLAYING.value = self.name if starts else ""
        CHANGED.value, TICK.value = self.name, time.monotonic()
        if starts and self.field.value == values[-1]:
            self.field.value = values[0]


class Walk(Player[int]):
    """Walks along positions, from 0; the present one is in the address as `?at=`.

    Args:
        page: on whose page.
        first: where to begin.
        label: what a position is.
    """

    def __init__(self, page: str, *, first: int = 0, label: str = "Word") -> None:
        at = Field(page, "at", first, address="at", parse=whole_number, text=lambda at: "" if at == END else str(at))
        super().__init__(at, SECONDS_PER_WORD)
        self.label = label

    def draw(self, labels: Sequence[str]) -> int:
        """Draw the controls and return the present position; `labels` has one per position, at least one."""
        places = range(len(labels))
        self.field.within(0, places[-1])
        self.follow(places)
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"{self.name}_stepper"):
            self.previous_button(places)
            self.next_button(places)
            self.play_button(places)
            st.caption(f"{self.label} {self.field.value + 1} of {len(places)}")
        if len(places) > MOST_JUMPS:
            self.field.widget(st.slider, self.label, 0, places[-1], label_visibility="collapsed")
        elif len(places) > 1:
            names = dict(enumerate(distinct([_short(label) for label in labels])))
            choice(self.label, self.field, names, label_visibility="collapsed", wrap=True)
        return self.field.value


def _short(text: str) -> str:
    """Return Markdown that shows a word as it was typed, cut if it is very long."""
    cut = text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"
    return as_markdown(cut)
