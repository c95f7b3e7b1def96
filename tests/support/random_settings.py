"""Sets every control of a page at random, and tells what its link then holds."""

import random
import re
from dataclasses import is_dataclass

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import ButtonGroup, Multiselect, Selectbox

from pages.model.glance import HeadChoice
from ui import state

KINDS = ("toggle", "slider", "select_slider", "selectbox", "number_input", "text_area", "text_input", "multiselect")


KINDS += ("button_group", "radio")


COMMANDS = ("_asked", "_picked", "_weight_of")
"""Boxes that say what to do next and not what is shown: a model to load, whose weight to set, a cell to go to."""
PRESSED = re.compile("preset|example|next|previous|switch|random|scatter|compose|shuffle|reverse|undo|clear|more|fewer")
"""Buttons that change what is shown, by their keys."""


class PickedGroup(ButtonGroup):
    """A group of buttons of which labels are chosen, as in a browser."""

    picked: list[str]

    @property
    def formatted_values(self) -> list[str]:
        return self.picked


class PickedBox(Selectbox):
    """A list of which a label is chosen, as in a browser."""

    @property
    def index(self) -> int:
        return self.options.index(self.value)


class PickedBoxes(Multiselect):
    """A list of which labels are chosen."""

    @property
    def values(self) -> list[str]:
        return self.value


def address_of(page: AppTest) -> dict[str, str]:
    return {name: text if isinstance(text, str) else text[0] for name, text in page.query_params.items()}


def run_app(page: AppTest) -> None:
    """Run the whole app again: by itself a test would now run the page's file alone."""
    page._page_hash = page._finished_page_script_hash = ""
    page.run()


def widgets_of(page: AppTest) -> dict[tuple[str, str], object]:
    found = {(kind, widget.key or widget.label): widget for kind in KINDS for widget in page.get(kind)}
    return {key: widget for key, widget in found.items() if not any(part in key[1] for part in COMMANDS)}


def value_behind(slider, label: str):
    """Return the place of a label where places are the slider's values, else the number that the label tells."""
    place = slider.options.index(label)
    try:
        if slider.format_func(place) == label:
            return place
    except (LookupError, ValueError):
        pass
    return type(slider.value)(label.replace(",", ""))


def set_at_random(widget, kind: str, chance: random.Random) -> None:
    if kind == "toggle":
        widget.set_value(not widget.value)
    elif kind == "slider":
        steps = round((widget.max - widget.min) / widget.step)
        widget.set_value(type(widget.value)(round(widget.min + widget.step * chance.randint(0, steps), 6)))
    elif kind == "number_input":
        low, high = widget.min, min(widget.max, 12) if widget.max is not None else 9
        value = chance.randint(int(low or 0), int(high)) if isinstance(widget.step, int) else chance.uniform(0, high)
        widget.set_value(value)
    elif kind == "select_slider":
        widget.set_value(value_behind(widget, chance.choice(widget.options)))
    elif kind in ("selectbox", "radio"):
        widget.__class__ = {"selectbox": PickedBox}.get(kind, type(widget))
        widget.set_value(chance.choice(widget.options))
    elif kind == "multiselect":
        widget.__class__ = PickedBoxes
        widget.set_value(chance.sample(widget.options, min(2, len(widget.options))))
    elif kind == "button_group":
        widget.__class__ = PickedGroup
        widget.picked = chance.sample(widget.options, 1 if widget._is_single_select else chance.randint(0, 2))
    elif kind == "text_area" or widget.key.endswith("_text"):
        widget.set_value(f"{widget.value or ''}{chance.choice(['', ' again'])}")


def values_in_link(page: AppTest, name: str) -> dict[str, object]:
    fields, address = {**state._FIELDS[name], **state._FIELDS[state.APP]}, address_of(page)
    return {key: page.session_state[key] for key, field in fields.items() if field.address in address}


def are_alike(one, other) -> bool:
    if hasattr(one, "text"):  # vectors are told apart by identity
        return one.text() == other.text()
    if isinstance(one, HeadChoice):  # its group and layer come with a run
        return one[:2] == other[:2]
    if is_dataclass(one):
        return type(one) is type(other) and are_alike(vars(one), vars(other))
    if isinstance(one, dict):
        return (
            isinstance(other, dict)
            and one.keys() == other.keys()
            and all(are_alike(one[key], other[key]) for key in one)
        )
    if isinstance(one, float) and isinstance(other, float):
        return one == pytest.approx(other, rel=1e-9)
    return np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other
