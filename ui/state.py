"""What a visitor has set: fields, kept in the session; the page's address, followed on arrival and written here."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

import numpy as np
import streamlit as st

from attention_core.packed import is_packed, pack, unpack
from ui.inside_streamlit import came_by_history
from ui.labels import literal

Value = TypeVar("Value")
FOLLOWED_ADDRESS, PARSED_KEYS, BAD_PARTS = "address_arrived", "address_read", "address_faults"
"""In the session: what the visitor came with, the fields that have read it, and what of it was no value."""
APP = ""
"""In the place of a page: fields that every page has."""
MAX_PLAIN_LETTERS = 600
"""Letters up to which a text stands in the address as it is; longer ones are packed."""
BAD_VALUE_ERRORS = (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError, RuntimeError)
"""What goes wrong when a value is read, or written, that a page cannot use."""
_FIELDS: dict[str, dict[str, Field]] = {}


class Field(Generic[Value]):
    """One thing that a visitor can set on a page; declared once, it outlives reruns and changes of page.

    Args:
        page: on whose page, see PageEntry.name; APP = on all; "model_other" is a part of the page "model", whose names
            in the address begin with "other_".
        name: of the field; with the page's it makes the key in the session.
        default: what a visitor finds on arrival, or a function that makes it.
        address: its name in the page's address; "" = it is not told there.
        parse: reads what the address says, one of UNSOUND = not a value, and the default stands; None = as the type of
            the default has it.
        text: writes a value for the address, short and the same in every language; "" = leave it out.
    """

    def __init__(
        self,
        page: str,
        name: str,
        default: Value | Callable[[], Value],
        *,
        address: str = "",
        parse: Callable[[str], Value] | None = None,
        text: Callable[[Value], str] | None = None,
    ) -> None:
        owner, _, part = page.partition("_")
        self._key = f"{page}_{name}" if page else name
        self.address = f"{part}_{address}" if part and address else address
        self._default, self._text = default, text or as_text
        self._parse = parse or _PARSERS.get(type(default), plain_text)
        _FIELDS.setdefault(owner, {})[self._key] = self

    @property
    def key(self) -> str:
        """Its key in the session, filled in: give it to the widget that sets it."""
        if self._key not in st.session_state:
            st.session_state[self._key] = self._initial_value()
        return self._key

    @property
    def value(self) -> Value:
        return st.session_state[self.key]

    @value.setter
    def value(self, value: Value) -> None:
        st.session_state[self._key] = value

    @property
    def default(self) -> Value:
        return self._default() if callable(self._default) else self._default

    def widget(self, draw: Callable[..., Any], label: str, *given: Any, **look: Any) -> Any:
        """Draw a widget that sets it, such as st.slider, and return what that returns; it outlives other pages."""
        return draw(label, *given, key=self.key, persist_state="session", **look)

    def clamp_to_options(self, options: Sequence[Value], otherwise: Value | None = None) -> Value:
        """Return what is set, brought back to `otherwise` or the first of the options if it is none of them."""
        first = options[0] if otherwise is None or otherwise not in options else otherwise
        value, default = self.value, self.default
        return self._clamp(value if value in options else first, default if default in options else first)

    def clamp(self, lowest: Any, highest: Any) -> Value:
        """Return what is set, brought inside the bounds."""
        return self._clamp(*(max(lowest, min(highest, value)) for value in (self.value, self.default)))

    def preset(self, value: Value) -> None:
        """Set a default known only at run time, and the field to it, unless the address gives a value."""
        state = st.session_state
        state[f"{self._key}_default"] = _copy(value)
        if self.address in state.get(FOLLOWED_ADDRESS, {}) and self._key not in state.get(PARSED_KEYS, ()):
            state[self._key] = self._initial_value()
        else:
            state[self._key] = value

    def suggest(self, value: Value) -> None:
        """Let a visitor find a value that depends on what they look at, unless one is set or the address says."""
        was_offered = self.is_preset
        st.session_state[f"{self._key}_default"] = _copy(value)
        if not was_offered and _same(self.value, self.default):
            self.value = _copy(value)

    @property
    def is_preset(self) -> bool:
        """Whether `set_default` has said what a visitor finds, since the address was last followed."""
        return f"{self._key}_default" in st.session_state

    def reset(self) -> None:
        st.session_state.pop(self._key, None)
        st.session_state.pop(f"{self._key}_default", None)

    def forget_preset(self) -> None:
        """Let the address tell it even if nobody chose it: what it was brought back to has changed since."""
        st.session_state.pop(f"{self._key}_default", None)

    def encode(self) -> str:
        value = self.value
        as_found = _same(value, st.session_state.get(f"{self._key}_default", self.default))
        try:
            return "" if as_found or value is None else self._text(value)
        except BAD_VALUE_ERRORS:  # such as an infinite number in a table, which a page names and leaves out
            return ""

    def _clamp(self, value: Value, otherwise: Value) -> Value:
        """Set a value in bounds; `otherwise` is the default in the same bounds, which the address leaves out."""
        state, before = st.session_state, self.value
        if _same(before, self.default):
            if not _same(value, before):
                state[f"{self._key}_default"] = value
        elif self.is_preset and _same(before, state[f"{self._key}_default"]) and not _same(value, otherwise):
            self.forget_preset()
        elif not _same(value, before):
            self._note_fault()
        if not _same(value, before):
            self.value = value
        return value

    def _initial_value(self) -> Value:
        state = st.session_state
        is_new = self._key not in state.setdefault(PARSED_KEYS, set())
        state[PARSED_KEYS].add(self._key)
        found = state.get(f"{self._key}_default", self.default)
        asked = state.get(FOLLOWED_ADDRESS, {}).get(self.address, "") if is_new else ""
        try:
            return self._parse(asked) if asked else _copy(found)
        except BAD_VALUE_ERRORS:
            self._note_fault()
            return _copy(found)

    def _note_fault(self) -> None:
        """Note that what the address says of it is no value, if that is what the visitor has just come with."""
        asked = st.session_state.get(FOLLOWED_ADDRESS, {}).get(self.address)
        if asked and st.session_state.get(BAD_PARTS) is not None:
            st.session_state[BAD_PARTS][self.address] = asked


def _copy(value: Any) -> Any:
    return copy.deepcopy(value) if isinstance(value, list | dict) else value


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and np.array_equal(one, other)
    return one is other or bool(one == other)


def as_text(value: Any) -> str:
    """Return a value for an address: a switch as 1 or 0, whole numbers with dots between, what is large packed."""
    if value is None or isinstance(value, str):
        plain = value or ""
        return pack(plain) if len(plain) > MAX_PLAIN_LETTERS or is_packed(plain) else plain
    if isinstance(value, list | tuple) and all(type(part) is int for part in value):
        return ".".join(map(str, value))
    return f"{value:.12g}" if isinstance(value, float) else str(int(value)) if isinstance(value, int) else pack(value)


def plain_text(text: str) -> str:
    """Return a text of an address, packed or not; see as_text."""
    plain = unpack(text) if is_packed(text) else text
    if not isinstance(plain, str):
        raise ValueError("what is packed here must be a text")
    return plain


def whole_number(text: str) -> int:
    """Return a number of an address; at most six digits, so that nobody asks for the impossible.

    Raises:
        ValueError: it is none.
    """
    if not text.isdecimal() or len(text) > 6:
        raise ValueError(f"text must be a whole number of at most six digits, got {text!r}")
    return int(text)


def whole_numbers(text: str) -> list[int]:
    """Return whole numbers of an address, with dots between them; at most so many as nobody clicks."""
    if not re.fullmatch(r"-?\d{1,6}(\.-?\d{1,6}){0,999}", text):
        raise ValueError(f"text must be whole numbers with dots between, got {text[:40]!r}")
    return [int(number) for number in text.split(".")]


def between(lowest: float, highest: float) -> Callable[[str], Any]:
    """Return what reads a number of an address inside bounds: a whole one if the bounds are."""

    def parse(text: str) -> float:
        value = type(lowest)(text)
        if not (text.isascii() and lowest <= value <= highest and math.isfinite(value)):
            raise ValueError(f"text must be a number from {lowest} to {highest}, got {text[:40]!r}")
        return value

    return parse


def one_of(values: Iterable[Any]) -> Callable[[str], Any]:
    """Return what reads one of some values in an address, as as_text writes them."""
    return {as_text(value): value for value in values}.__getitem__


def named(**values: Any) -> dict[str, Any]:
    """Return how a field tells values that are words for people: by names that stay, `Field(..., **named(all=ALL))`."""
    names = {value: name for name, value in values.items()}
    return {"parse": values.__getitem__, "text": names.__getitem__}


def parse_switch(text: str) -> bool:
    """Return whether an address says 1, and not 0; the way in which switches are told there."""
    return {"1": True, "0": False}[text]


_PARSERS: dict[type, Callable[[str], Any]] = {
    bool: parse_switch,
    int: between(-999_999, 999_999),
    float: between(-1e6, 1e6),
    list: whole_numbers,
    type(list): whole_numbers,
}


def widget_value(key: str, otherwise: Any = None) -> Any:
    """Return what a visitor has set a widget to, or a component has sent; for its callback."""
    return st.session_state.get(key, otherwise)


def is_mounted(key: str) -> bool:
    """Return whether a widget was on the page in the run before."""
    return key in st.session_state


def set_widget(key: str, value: Any) -> None:
    """Set a widget that follows something else, before it is drawn or in a callback."""
    st.session_state[key] = value


def component_message(key: str, part: str) -> Any:
    """Return a part of what a component has sent last; None before."""
    return (widget_value(key) or {}).get(part)


def chart_selection(key: str, selection: str) -> list[dict[str, Any]]:
    """Return what a visitor has selected in a chart, by the fields of the selection; for its callback."""
    return (component_message(key, "selection") or {}).get(selection) or []


def single_choice(label: str, field: Field[Any], options: Iterable[Any], **look: Any) -> Any:
    """Let a visitor set a field to one of some values, drawn side by side; return what is set.

    Args:
        label: what is chosen.
        field: is brought back to the first option if it is none of them.
        options: at least one; as a mapping they have the names that are shown.
        look: see st.segmented_control.
    """
    values = list(options)
    if field.value not in values:
        field.clamp_to_options(values)
    if isinstance(options, Mapping):
        look["format_func"] = options.__getitem__
    return field.widget(st.segmented_control, label, values, required=True, **look)


def multiple_choice(label: str, field: Field[list[int]], options: Mapping[int, str], **look: Any) -> list[int]:
    """Let a visitor set a field to some of the options, by the names that are shown; see st.pills for the look."""
    field.value = [one for one in field.value if one in options]
    return field.widget(
        st.pills, label, list(options), selection_mode="multi", wrap=True, format_func=options.__getitem__, **look
    )


def follow_address(asked: Mapping[str, str]) -> None:
    """Begin to follow an address."""
    st.session_state.update({FOLLOWED_ADDRESS: asked, BAD_PARTS: {}, PARSED_KEYS: set()})


def address_followed() -> tuple[Mapping[str, str], dict[str, str] | None]:
    """Return the address that is followed, and what of it was no value; None once that was said."""
    return st.session_state.get(FOLLOWED_ADDRESS, {}), st.session_state.get(BAD_PARTS)


def forget_faults() -> None:
    """Note that what was no value has been said."""
    st.session_state[BAD_PARTS] = None


def fields_of(page: str) -> list[Field]:
    """Return the fields that the address of a page tells, those that every page has among them."""
    return [field for owner in {page, APP} for field in _FIELDS.get(owner, {}).values() if field.address]


PAGE, PLAYING = Field(APP, "page_shown", ""), Field(APP, "playing", "")
"""The page that a visitor is on; the player that goes on by itself."""
WRITTEN_ADDRESS = Field[dict[str, str] | None](APP, "address_written", None)
ADDRESS_TEXTS = Field[dict[str, str]](APP, "address_told", dict)
"""All that the page's fields say, in one and the same dict, for who reads it while no script runs."""
IS_BY_HISTORY = Field(APP, "address_came_back", False)
OPENED_SESSION = Field[dict[str, str] | None](APP, "session_opened", None)
LEFT_OUT = "without"
"""In an address: what was too long for it."""
MAX_ADDRESS_LETTERS = 3_900
"""Letters of all that an address tells; a link of 4,000 has room for its server and page."""


def read_address(page: str) -> None:
    """Let the page follow its address: on arrival what a link says, after Back and Forward all of it.

    An opened session file is followed the same way. What every page has stays as it is unless the address says.

    Args:
        page: see PageEntry.name.
    """
    present = st.query_params.to_dict()
    opened, OPENED_SESSION.value = OPENED_SESSION.value, None
    goes_back = came_by_history()
    asked = present if opened is None else opened
    everything = goes_back or opened is not None
    if PAGE.value != page or everything:
        follow_address(asked)
        WRITTEN_ADDRESS.value, PLAYING.value, IS_BY_HISTORY.value = present, "", goes_back
        for field in fields_of(page):
            if field.address in asked or (everything and field not in fields_of(APP)):
                field.reset()
    PAGE.value = page


def encode_fields(page: str) -> dict[str, str]:
    """Return what an address without bounds would say of a page."""
    texts = {field.address: field.encode() for field in fields_of(page)}
    return {name: text for name, text in texts.items() if text}


def write_address() -> None:
    """Let the address tell what the page shows, in one message: one entry for the browser's Back.

    While something plays it waits: Back undoes what a visitor did, not every beat. What is too long is left out, the
    longest first, and named.
    """
    present, page = st.query_params.to_dict(), PAGE.value
    if PLAYING.value:
        return
    now, whole = encode_fields(page), ADDRESS_TEXTS.value
    whole.clear()
    whole.update(now)
    update_try_this(now)
    ours = {LEFT_OUT, *(field.address for field in fields_of(page))}
    wanted = {name: text for name, text in present.items() if name not in ours} | now
    left_out: list[str] = []
    while len(urlencode(wanted)) > MAX_ADDRESS_LETTERS and ours & wanted.keys() - {LEFT_OUT}:
        left_out.append(max(ours & wanted.keys() - {LEFT_OUT}, key=lambda name: len(wanted[name])))
        del wanted[left_out[-1]]
        wanted[LEFT_OUT] = ".".join(left_out)
    common = {field.address for field in fields_of(APP)}
    if IS_BY_HISTORY.value and {*wanted.items()} ^ {*present.items()} <= {(name, wanted.get(name)) for name in common}:
        return  # an old entry that differs in common fields alone: rewriting it would drop those for Forward
    if wanted != present or wanted != WRITTEN_ADDRESS.value:  # what the browser says may be older than what was written
        WRITTEN_ADDRESS.value, IS_BY_HISTORY.value = wanted, False
        st.query_params.from_dict(wanted)


def show_link_faults() -> None:
    """Say once what of the address was no value; and what it had no room for, on arrival and when that happens."""
    asked_for, faults = address_followed()
    for name, asked in (faults or {}).items():
        part = literal(f"{name}={asked}")
        st.toast(f"{part} in the link is no value here: that part is as on a first visit.", **_FAULT)
    missing = asked_for.get(LEFT_OUT) if faults is not None else None
    if missing:
        st.toast(f"The link was too long to hold {literal(missing)}: ask for the session file.", **_FAULT)
    forget_faults()


_FAULT: dict[str, Any] = {"icon": ":material/link_off:", "duration": "infinite"}


TRY_THIS = Field[Any](APP, "try_this", None)
"""In the session: what the address tells while the line stays, see `register_try_this`; None = the page has none."""
HIDE_TRY_THIS = '<span class="tried"></span>'
"""Hides the line, and itself, see ui.skeleton."""
NOTHING_TOLD: Mapping[str, str] = MappingProxyType({})


def reset_try_this() -> None:
    """Begin with a page that has no such line yet."""
    TRY_THIS.value = None


def register_try_this(meanwhile: Mapping[str, str], done_in: str) -> bool:
    """Note a page's line, and return whether it is to be drawn; see ui.layout.attention_roles."""
    TRY_THIS.value = meanwhile, done_in
    return _is_to_do(st.query_params.to_dict(), meanwhile, done_in)


def update_try_this(told: Mapping[str, str]) -> None:
    """Hide the line once an address tells that it was done, or that something else was.

    A part that reruns alone cannot take away what stands outside: its mark hides the line.
    """
    line = TRY_THIS.value
    if line is not None and not _is_to_do(told, *line):
        st.html(HIDE_TRY_THIS)


def _is_to_do(told: Mapping[str, str], meanwhile: Mapping[str, str], done_in: str) -> bool:
    aside = {"tab", *(field.address for field in fields_of(APP))}
    changed = {name: text for name, text in told.items() if name not in aside}
    return changed.items() <= meanwhile.items() and not (done_in and told.get("tab") == done_in)
