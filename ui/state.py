"""What a visitor has set: fields, kept in the session and told in the page's address, which is written here alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

Value = TypeVar("Value")
PAGE, ARRIVED, WRITTEN, PLAYING = "page_shown", "address_arrived", "address_written", "playing"
_FIELDS: dict[str, dict[str, Field]] = {}


class Field(Generic[Value]):
    """One thing that a visitor can set on a page; declared once, it outlives reruns and changes of page.

    Args:
        page: on whose page, see PageEntry.name.
        name: of the field; with the page's it makes the key in the session.
        default: what a visitor finds on arrival, or a function that makes it.
        address: its name in the page's address; "" = it is not told there.
        parse: reads what the address says; ValueError or KeyError = not a value, and the default stands.
        text: writes a value for the address, short and the same in every language; "" = leave it out.
    """

    def __init__(
        self,
        page: str,
        name: str,
        default: Value | Callable[[], Value],
        *,
        address: str = "",
        parse: Callable[[str], Value] = str,  # type: ignore[assignment]
        text: Callable[[Value], str] = str,
    ) -> None:
        self._key, self.address = f"{page}_{name}", address
        self._default, self._parse, self._text = default, parse, text
        _FIELDS.setdefault(page, {})[self._key] = self

    @property
    def key(self) -> str:
        """Its key in the session, filled in: give it to the widget that sets it."""
        if self._key not in st.session_state:
            st.session_state[self._key] = self._first()
        return self._key

    @property
    def value(self) -> Value:
        """What is set."""
        return st.session_state[self.key]

    @value.setter
    def value(self, value: Value) -> None:
        st.session_state[self._key] = value

    @property
    def default(self) -> Value:
        """What a visitor finds on arrival."""
        return self._default() if callable(self._default) else self._default

    def among(self, options: Sequence[Value], otherwise: Value | None = None) -> Value:
        """Return what is set, brought back to `otherwise` or the first of the options if it is none of them."""
        if self.value in options:
            return self.value
        return self._bring_back(options[0] if otherwise is None or otherwise not in options else otherwise)

    def within(self, lowest: Any, highest: Any) -> Value:
        """Return what is set, brought inside the bounds."""
        bounded = max(lowest, min(highest, self.value))
        return bounded if bounded == self.value else self._bring_back(bounded)

    def forget(self) -> None:
        """Go back to what the address says, or else to the default."""
        st.session_state.pop(self._key, None)
        st.session_state.pop(f"{self._key}_default", None)

    def address_text(self) -> str:
        """Return what the address tells of it."""
        value = self.value
        as_found = value in (self.default, st.session_state.get(f"{self._key}_default", self.default))
        return "" if as_found else self._text(value)

    def _bring_back(self, value: Value) -> Value:
        if self.value == self.default:
            st.session_state[f"{self._key}_default"] = value
        self.value = value
        return value

    def _first(self) -> Value:
        asked = st.session_state.get(ARRIVED, {}).get(self.address, "")
        try:
            return self._parse(asked) if asked else self.default
        except (ValueError, KeyError):
            return self.default


def whole_number(text: str) -> int:
    """Return a number of an address; at most six digits, so that nobody asks for the impossible.

    Raises:
        ValueError: it is none.
    """
    if not text.isdecimal() or len(text) > 6:
        raise ValueError(f"text must be a whole number of at most six digits, got {text!r}")
    return int(text)


def yes(text: str) -> bool:
    """Return whether an address says 1; the way in which switches are told there."""
    return text == "1"


def choice(label: str, field: Field[Any], options: Iterable[Any], **look: Any) -> Any:
    """Let a visitor set a field to one of some values, drawn side by side; return what is set.

    Args:
        label: what is chosen.
        field: is brought back to the first option if it is none of them.
        options: at least one; as a mapping they have the names that are shown.
        look: see st.segmented_control.
    """
    values = list(options)
    field.among(values)
    if isinstance(options, Mapping):
        look["format_func"] = options.__getitem__
    return st.segmented_control(label, values, key=field.key, required=True, persist_state="session", **look)


def take_address(page: str) -> None:
    """Let the page follow its address: on arrival what a link says, after Back and Forward all of it.

    Args:
        page: see PageEntry.name.
    """
    state, asked, context = st.session_state, st.query_params.to_dict(), get_script_run_ctx()
    arrives, goes_back = state.get(PAGE) != page, context is not None and context.is_history_navigation
    if arrives or goes_back:
        state[ARRIVED] = state[WRITTEN] = asked
        state[PLAYING] = ""
        for field in _FIELDS.get(page, {}).values():
            if field.address and (goes_back or field.address in asked):
                field.forget()
    state[PAGE] = page


def write_address() -> None:
    """Let the address tell what the page shows, in one message: one entry for the browser's Back.

    While something plays it waits: Back undoes what a visitor did, not every beat.
    """
    state, present = st.session_state, st.query_params.to_dict()
    if state.get(PLAYING):
        return
    told = {
        field.address: field.address_text() for field in _FIELDS.get(state.get(PAGE, ""), {}).values() if field.address
    }
    wanted = {name: text for name, text in present.items() if name not in told}
    wanted |= {name: text for name, text in told.items() if text}
    if wanted != present or wanted != state.get(WRITTEN):  # what the browser says may be older than what was written
        state[WRITTEN] = wanted
        st.query_params.from_dict(wanted)
