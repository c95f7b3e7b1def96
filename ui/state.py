"""Fields: what a visitor sets, kept in the session, read from the page's address on arrival and written into it."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

import numpy as np
import streamlit as st

from attention_core.links import is_packed, pack, unpack
from ui.inside_streamlit import came_by_history, running_session
from ui.labels import literal
from ui.old_addresses import current_address

Value = TypeVar("Value")
FOLLOWED_ADDRESS, PARSED_KEYS, BAD_VALUES, SET_KEYS = "followed_address", "parsed_keys", "bad_parts", "set_keys"
"""Session keys: of the address on arrival, fields that have parsed it, its invalid values, fields that code has set."""
APP = ""  # in place of a page's name: for fields that all pages have
MAX_PLAIN_LETTERS = 600  # texts up to this many letters stand in the address as they are; longer ones are packed
BAD_VALUE_ERRORS = (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError, RuntimeError)
"""Raised when the address holds a value that a page cannot use, or a value cannot be written into it."""
_FIELDS: dict[str, dict[str, Field]] = {}


class Field(Generic[Value]):
    """One value that a visitor can set on a page, declared once, in a module.

    The session keeps it from run to run, also while the visitor is on other pages.

    Args:
        page: the page, see PageEntry.name; APP = all; "model_other" = the page "model", and in its address the field's
            name begins with "other_".
        name: of the field; page and name make its key in the session.
        default: its value on arrival, or a function that makes it.
        address: its name in the page's address; "" = it is not in the address.
        parse: returns the value for a text of the address, or raises one of BAD_VALUE_ERRORS, and the default stands;
            None = chosen by the type of the default.
        text: returns a short text of a value for the address, "" = leave it out; never called with None.
    """

    def __init__(
        self,
        page: str,
        name: str,
        default: Value | Callable[[], Value],
        *,
        address: str = "",
        parse: Callable[[str], Value] | None = None,
        text: Callable[[Any], str] | None = None,
    ) -> None:
        owner, _, prefix = page.partition("_")
        self._key = f"{page}_{name}" if page else name
        self._default_key = f"{self._key}_default"
        self.address = f"{prefix}_{address}" if prefix and address else address
        self._default, self._text = default, text or as_text
        self._parse = parse or _PARSERS.get(type(default), plain_text)
        _FIELDS.setdefault(owner, {})[self._key] = self

    @property
    def key(self) -> str:
        """Its key in the session, for the widget that sets the field; from now on the session has a value for it."""
        if self._key not in st.session_state:
            st.session_state[self._key] = self._initial_value()
        return self._key

    @property
    def value(self) -> Value:
        try:  # first, since nearly all have one: each look-up in the session takes time, and a run has a hundred
            return st.session_state[self._key]
        except KeyError:
            return st.session_state[self.key]

    @value.setter
    def value(self, value: Value) -> None:
        st.session_state[self._key] = value
        st.session_state.setdefault(SET_KEYS, set()).add(self._key)

    def set(self, value: Value) -> None:
        """Set the value; for a callback."""
        self.value = value

    @property
    def default(self) -> Value:
        return self._default() if callable(self._default) else self._default

    def widget(self, draw: Callable[..., Any], label: str, *args: Any, **kwargs: Any) -> Any:
        """Draw a widget that sets the field, such as st.slider, and return its value."""
        if self._key in st.session_state.get(SET_KEYS, ()):
            st.session_state[SET_KEYS].discard(self._key)
            # set it again, in the run: an empty value that a callback set before it reran a fragment Streamlit does not
            # send the browser
            st.session_state[self._key] = self.value
        return draw(label, *args, key=self.key, persist_state="session", **kwargs)

    def clamp_to_options(self, options: Sequence[Value], otherwise: Value | None = None) -> Value:
        """Return the value; if it is none of the options, set it to `otherwise` if that is one, else to the first."""
        fallback = options[0] if otherwise is None or otherwise not in options else otherwise
        return self._clamp(lambda value: value if value in options else fallback)

    def clamp(self, lowest: Any, highest: Any) -> Value:
        """Return the value, set to the nearest bound if it lies outside."""
        return self._clamp(lambda value: max(lowest, min(highest, value)))

    def set_default(self, value: Value) -> None:
        """Set a default that is computed in the run, and the field to it unless the address has a value to parse."""
        state = st.session_state
        state[self._default_key] = _copy(value)
        must_parse = self.address in state.get(FOLLOWED_ADDRESS, {}) and self._key not in state.get(PARSED_KEYS, ())
        state[self._key] = self._initial_value() if must_parse else value

    def suggest(self, value: Value) -> None:
        """Set a default that is computed in the run.

        The first time, the field is set to it, too, if its value is still the declared default.
        """
        had_default = self.has_set_default
        st.session_state[self._default_key] = _copy(value)
        if not had_default and _is_equal(self.value, self.default):
            self.value = _copy(value)

    @property
    def has_set_default(self) -> bool:
        """Whether set_default, suggest or a clamp has set a default in place of the declared one."""
        return self._default_key in st.session_state

    def reset(self) -> None:
        st.session_state.pop(self._key, None)
        self.restore_default()

    def restore_default(self) -> None:
        """Restore the declared default; the address then has the value if it differs, even if nobody chose it."""
        st.session_state.pop(self._default_key, None)

    def encode(self) -> str:
        """Return the text for the address; "" if the value is the default or has no text."""
        value = self.value
        is_default = _is_equal(value, st.session_state.get(self._default_key, self.default))
        try:
            return "" if is_default or value is None else self._text(value)
        except BAD_VALUE_ERRORS:  # such as an infinite number in a table
            return ""

    def _clamp(self, fit: Callable[[Any], Any]) -> Value:
        """Set the field to what `fit` makes of its value, and return that.

        If the value was the declared default, nobody chose it, and the address leaves out what becomes of it.
        """
        state, before = st.session_state, self.value
        value, default = fit(before), fit(self.default)
        is_changed = not _is_equal(value, before)
        if _is_equal(before, self.default):
            if is_changed:
                state[self._default_key] = value  # the address leaves it out
        elif self.has_set_default and _is_equal(before, state[self._default_key]) and not _is_equal(value, default):
            self.restore_default()  # it was the default made to fit, which would now be another: the address has it
        elif is_changed:
            self._note_bad_value()
        if is_changed:
            self.value = value
        return value

    def _initial_value(self) -> Value:
        """Return the value in the address, which is parsed once after each arrival, or else the default."""
        state = st.session_state
        may_parse = self._key not in state.setdefault(PARSED_KEYS, set())
        state[PARSED_KEYS].add(self._key)
        default = state.get(self._default_key, self.default)
        text = state.get(FOLLOWED_ADDRESS, {}).get(self.address, "") if may_parse else ""
        try:
            return self._parse(text) if text else _copy(default)
        except BAD_VALUE_ERRORS:
            self._note_bad_value()
            return _copy(default)

    def _note_bad_value(self) -> None:
        """Note that its value in the address is invalid, which show_link_faults says once."""
        text = st.session_state.get(FOLLOWED_ADDRESS, {}).get(self.address)
        if text and st.session_state.get(BAD_VALUES) is not None:
            st.session_state[BAD_VALUES][self.address] = text


def _copy(value: Any) -> Any:
    return copy.deepcopy(value) if isinstance(value, list | dict) else value


def _is_equal(first: Any, second: Any) -> bool:
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return isinstance(first, np.ndarray) and isinstance(second, np.ndarray) and np.array_equal(first, second)
    return first is second or bool(first == second)


def as_text(value: Any) -> str:
    """Return a value as text for an address: a bool as 1 or 0, a list of whole numbers with dots between.

    A text of more than MAX_PLAIN_LETTERS is packed, and so is what is neither text nor number nor such a list.
    """
    if value is None or isinstance(value, str):
        plain = value or ""
        return pack(plain) if len(plain) > MAX_PLAIN_LETTERS or is_packed(plain) else plain
    if isinstance(value, list | tuple) and all(type(item) is int for item in value):
        return ".".join(map(str, value))
    if isinstance(value, float):
        return f"{value:.12g}"
    return str(int(value)) if isinstance(value, int) else pack(value)


def plain_text(text: str) -> str:
    """Return the text that as_text has put into an address, packed or not."""
    plain = unpack(text) if is_packed(text) else text
    if not isinstance(plain, str):
        raise ValueError("what is packed here must be a text")
    return plain


def whole_number(text: str) -> int:
    """Return a whole number of an address, not negative; at most six digits, so that nobody asks for the impossible.

    Raises:
        ValueError: the text is no such number.
    """
    if not text.isdecimal() or len(text) > 6:
        raise ValueError(f"text must be a whole number of at most six digits, got {text!r}")
    return int(text)


def whole_numbers(text: str) -> list[int]:
    """Return whole numbers of an address, also negative, with dots between; at most 1,000, more than anybody clicks."""
    if not re.fullmatch(r"-?\d{1,6}(\.-?\d{1,6}){0,999}", text):
        raise ValueError(f"text must be whole numbers with dots between, got {text[:40]!r}")
    return [int(number) for number in text.split(".")]


def between(lowest: float, highest: float) -> Callable[[str], Any]:
    """Return a parser of numbers from lowest to highest; of whole ones if `lowest` is an int."""

    def parse(text: str) -> float:
        value = type(lowest)(text)
        if not (text.isascii() and lowest <= value <= highest and math.isfinite(value)):
            raise ValueError(f"text must be a number from {lowest} to {highest}, got {text[:40]!r}")
        return value

    return parse


def one_of(values: Iterable[Any]) -> Callable[[str], Any]:
    """Return a parser of one of these values, as as_text writes them."""
    return {as_text(value): value for value in values}.__getitem__


def slugs(**values: Any) -> dict[str, Any]:
    """Return the arguments `parse` and `text` of a Field whose values are labels; the address has a slug for each.

    Field(..., **slugs(file=FROM_FILE)) has "file" in the address for the value FROM_FILE. Slugs never change.
    """
    slug_by_value = {value: slug for slug, value in values.items()}
    return {"parse": values.__getitem__, "text": slug_by_value.__getitem__}


_PARSERS: dict[type, Callable[[str], Any]] = {
    bool: {"1": True, "0": False}.__getitem__,
    int: between(-999_999, 999_999),
    float: between(-1e6, 1e6),
    list: whole_numbers,
    type: whole_numbers,  # the type of `list` itself, the default of fields that begin with a new list
}


def running_visitor() -> tuple[str, str]:
    """Return the session whose page runs in this thread, and the address that it comes from; "" = unknown."""
    session = running_session()
    address = st.context.ip_address if session else None
    return session, address if isinstance(address, str) else ""


def widget_value(key: str, otherwise: Any = None) -> Any:
    """Return the value of a widget, or the last message of a component."""
    return st.session_state.get(key, otherwise)


def is_mounted(key: str) -> bool:
    """Return whether a widget was on the page in the run before."""
    return key in st.session_state


def set_widget(key: str, value: Any) -> None:
    """Set a widget that follows something else, before it is drawn or in a callback."""
    st.session_state[key] = value


def controlled(key: str, value: Any, on_value: Callable[[Any], object]) -> dict[str, Any]:
    """Return arguments for a widget that shows this value in every run, and calls on_value with a visitor's choice."""
    set_widget(key, value)
    return {"key": key, "on_change": lambda: on_value(widget_value(key))}


def component_message(key: str, name: str) -> Any:
    """Return an entry of a component's last message; None before the first."""
    return (widget_value(key) or {}).get(name)


def chart_selection(key: str, selection: str) -> list[dict[str, Any]]:
    """Return the selected marks of a chart: of each the data fields that its selection is over, by name."""
    return (component_message(key, "selection") or {}).get(selection) or []


def single_choice(label: str, field: Field[Any], options: Iterable[Any], **kwargs: Any) -> Any:
    """Draw a field's options side by side and return the chosen one; if its value is none of them, it is the first.

    A mapping has the label of each option; `kwargs` are more arguments of st.segmented_control.
    """
    values = list(options)
    if field.value not in values:
        field.clamp_to_options(values)
    if isinstance(options, Mapping):
        kwargs["format_func"] = options.__getitem__
    return field.widget(st.segmented_control, label, values, required=True, **kwargs)


def expander(label: str, field: Field[bool]) -> Any:
    """Return an st.expander that is open if its field is True; so it stays while the visitor is on other pages."""
    return st.expander(label, **controlled(f"{field.key}_folded", field.value, field.set))


def follow_address(address: Mapping[str, str]) -> None:
    """Begin to follow an address: fields take their values from it when they are first read."""
    st.session_state.update({FOLLOWED_ADDRESS: address, BAD_VALUES: {}, PARSED_KEYS: set()})


def followed_address() -> Mapping[str, str]:
    """Return the address from which fields take their values."""
    return st.session_state.get(FOLLOWED_ADDRESS, {})


def fields_of(page: str) -> list[Field]:
    """Return the fields in the address of a page, with those that every page has."""
    owners = dict.fromkeys((page, APP))  # each once, also where the page is APP
    return [field for owner in owners for field in _FIELDS.get(owner, {}).values() if field.address]


PAGE, PLAYING = Field(APP, "page_shown", ""), Field(APP, "playing", "")
"""The page that a visitor is on; the name of the player that plays. Each "" = none."""
WRITTEN_ADDRESS = Field[dict[str, str] | None](APP, "address_written", None)
"""The address as the session has read or written it last."""
ADDRESS_TEXTS = Field[dict[str, str]](APP, "address_texts", dict)
"""The texts of the page's fields, however long; in a session always the same dict, which is read between runs, too."""
IS_BY_HISTORY = Field(APP, "is_by_history", False)  # whether the last change of the address was Back or Forward
OPENED_SESSION = Field[dict[str, str] | None](APP, "session_opened", None)
"""An address, such as that of an opened session file, which the next run follows in place of the browser's."""
LEFT_OUT = "without"  # in an address, names the fields that were too long for it
MAX_ADDRESS_LETTERS = 3_900
"""Letters of an address after the page's name; a link of 4,000 then has room for its server and page."""


def read_address(page: str) -> None:
    """Set the page's fields from its address: on arrival those that it names, after Back and Forward all of them.

    An opened session file sets all of them, too. Fields that every page has change only if the address names them.
    """
    browser_address = st.query_params.to_dict()
    opened, OPENED_SESSION.value = OPENED_SESSION.value, None
    is_by_history = came_by_history()
    address = current_address(page, browser_address if opened is None else opened)
    sets_all = is_by_history or opened is not None
    if PAGE.value != page or sets_all:
        follow_address(address)
        WRITTEN_ADDRESS.value, PLAYING.value, IS_BY_HISTORY.value = browser_address, "", is_by_history
        for field in fields_of(page):
            if field.address in address or (sets_all and field not in fields_of(APP)):
                field.reset()
    PAGE.value = page


def encode_fields(page: str) -> dict[str, str]:
    """Return the texts of a page's fields by their names in the address, however long."""
    texts = {field.address: field.encode() for field in fields_of(page)}
    return {name: text.encode(errors="replace").decode() for name, text in texts.items() if text}


def write_address() -> None:
    """Write the page's fields into the address in one message, which makes one entry in the browser's history.

    It does nothing while a player plays: Back undoes what a visitor did, not each step of a player. If the address
    becomes too long, the longest fields are left out and named in it.
    """
    browser_address, page = st.query_params.to_dict(), PAGE.value
    if PLAYING.value:
        return
    texts, address_texts = encode_fields(page), ADDRESS_TEXTS.value
    address_texts.clear()
    address_texts.update(texts)
    field_names = {field.address for field in fields_of(page)}
    current = current_address(page, browser_address)  # of it, names that are no field's stay
    address = {name: text for name, text in current.items() if name not in {LEFT_OUT, *field_names}} | texts
    left_out: list[str] = []
    while len(urlencode(address)) > MAX_ADDRESS_LETTERS and (removable := field_names & address.keys()):
        left_out.append(max(removable, key=lambda name: len(address[name])))
        del address[left_out[-1]]
        address[LEFT_OUT] = ".".join(left_out)
    is_extension, new_names = browser_address.items() <= address.items(), address.keys() - browser_address.keys()
    if IS_BY_HISTORY.value and is_extension and new_names <= {field.address for field in fields_of(APP)}:
        return  # after Back, fields of all pages alone make no new entry: it would delete those to go forward to
    # the browser's address may be older than the written one
    if address != browser_address or address != WRITTEN_ADDRESS.value:
        WRITTEN_ADDRESS.value, IS_BY_HISTORY.value = address, False
        st.query_params.from_dict(address)


_TOAST: dict[str, Any] = {"icon": ":material/link_off:", "duration": "infinite"}


def show_link_faults() -> None:
    """Show once which values in the address are invalid, and which fields were left out of it."""
    address, bad_values = followed_address(), st.session_state.get(BAD_VALUES)
    for name, text in (bad_values or {}).items():
        quoted = literal(f"{name}={text}")
        st.toast(f"{quoted} in the link is no value here: that part is as on a first visit.", **_TOAST)
    if bad_values is not None and (left_out := address.get(LEFT_OUT)):
        st.toast(f"The link was too long to hold {literal(left_out)}: ask for the session file.", **_TOAST)
    st.session_state[BAD_VALUES] = None
