"""Charts as templates: written in Altair, which builds each design once; after that only values and data are put in.

`alt` stands for Altair and notes down what is called. Charts whose notes are equal but for their data and for what
varies (see VARYING) share one template, a finished Vega-Lite spec with holes: the second one costs a hundredth.

    chart = alt.Chart({"x": [1, 2], "y": [3, 4]}).mark_point().encode(x=alt.X("x:Q", title="one"), y=alt.Y("y:Q"))
    spec, data = chart.drawn()
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Any

import altair
import numpy as np
import pandas as pd
from altair.utils.schemapi import debug_mode

from attention_core.charts.look import Look
from attention_core.locks import Lock

VARYING = {"domain", "range", "values", "labelExpr", "labelAngle", "title", "subtitle", "sort"}
VARYING |= {"width", "height", "gradientLength"}
"""Arguments whose numbers, texts and lists vary from chart to chart of one design, as every float does; all else
belongs to the design."""
LONG = 200
"""A text with more letters, such as a picture's data URL, varies wherever it stands."""
HOLE = re.compile("\ue000(\\d+)")
MOST_TEMPLATES = 1024
TURN = Lock("build a chart")
PLAIN = Look()

Spec = dict[str, Any]
Data = Mapping[str, Any]
"""Columns of equal length by their names; a data frame is one, too."""
Columns = dict[str, Any]
"""Data that are put together: quicker than a data frame."""


class Varying:
    """A value that varies where that is not known from its argument's name, such as numbers in an expression."""

    def __init__(self, value: Any) -> None:
        self.value = value


class ChartTemplate:
    """A chart or a part of one: what is called of Altair, noted down, for a template to be filled or made."""

    def __init__(self, *note: Any) -> None:
        self._note = note

    def __getattr__(self, name: str) -> ChartTemplate:
        if name.startswith("_"):
            raise AttributeError(name)
        return ChartTemplate("attribute", self, name)

    def __call__(self, *given: Any, **named: Any) -> ChartTemplate:
        return ChartTemplate("call", self, given, named)

    def __add__(self, other: ChartTemplate) -> ChartTemplate:
        return ChartTemplate("sum", self, other)

    def drawn(self, look: Look = PLAIN) -> tuple[Spec, dict[str, Data]]:
        """Return the Vega-Lite spec in a look, and the data by the names that stand for them in it."""
        notes = _Notes()
        key = notes.of(self)
        return _template(key, look)(notes.values), {_name(place): data for place, data in enumerate(notes.data)}

    def to_dict(self, look: Look = PLAIN) -> Spec:
        spec, data = self.drawn(look)
        return spec | {"datasets": {name: _records(columns) for name, columns in data.items()}}

    def to_altair(self) -> Any:
        notes = _Notes()
        key = notes.of(self)
        return _Making(notes.values, [pd.DataFrame(columns) for columns in notes.data]).of(key)

    def save(self, path: str | Path, **said: Any) -> None:
        """Write the chart into an SVG, PDF or PNG file, see figure.save()."""
        from attention_core.charts.figure import save

        save(self, path, **said)

    def _repr_mimebundle_(self, *given: Any, **named: Any) -> Any:
        return self.to_altair()._repr_mimebundle_(*given, **named)


alt: Any = ChartTemplate("altair")


class _Notes:
    """Turns a design into a key without what varies, and keeps that: values, and data."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.data: list[Data] = []
        self._met: dict[int, int] = {}

    def of(self, part: Any, argument: str = "") -> tuple[Any, ...]:
        if isinstance(part, ChartTemplate):
            return self._of_design(part)
        if isinstance(part, Varying) or _varies(part, argument):
            self.values.append(_plain(part.value if isinstance(part, Varying) else part))
            return "value", len(self.values) - 1
        if isinstance(part, list | tuple):
            return "list", *map(self.of, part)
        if isinstance(part, dict):
            return "dict", tuple(part), *map(self.of, part.values(), part)
        return "is", type(part), part

    def _of_design(self, part: ChartTemplate) -> tuple[Any, ...]:
        kind, *rest = part._note
        if kind == "altair":
            return (kind,)
        if id(part) in self._met:
            return "again", self._met[id(part)]
        self._met[id(part)] = len(self._met)
        if kind == "attribute":
            return kind, self.of(rest[0]), rest[1]
        if kind == "sum":
            return kind, *map(self.of, rest)
        function, given, named = rest
        if given and function._note[-1] == "Chart":
            return kind, self.of(function), ("list", self._data(given[0])), self.of(named)
        return kind, self.of(function), self.of(given), self.of(named)

    def _data(self, columns: Data) -> tuple[str, int]:
        place = next((place for place, known in enumerate(self.data) if known is columns), len(self.data))
        if place == len(self.data):
            self.data.append(columns)
        return "data", place


def _varies(part: Any, argument: str) -> bool:
    if isinstance(part, float | np.floating):
        return True
    if isinstance(part, str):
        return len(part) > LONG or (argument in VARYING and argument != "sort")
    is_number = isinstance(part, int | np.integer) and not isinstance(part, bool)
    return argument in VARYING and (is_number or isinstance(part, list | tuple | np.ndarray))


def _plain(value: Any) -> Any:
    """Return a value with Python's own numbers and lists, as JSON has them."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


class _Making:
    """Turns a key of a design into what Altair makes of it."""

    def __init__(self, values: Any, data: Any) -> None:
        self.values, self.data = values, data
        self._made: list[Any] = []

    def of(self, key: tuple[Any, ...]) -> Any:
        kind, *rest = key
        match kind:
            case "altair":
                return altair
            case "value":
                return self.values[rest[0]]
            case "data":
                return self.data[rest[0]]
            case "is":
                return rest[1]
            case "list":
                return [self.of(item) for item in rest]
            case "dict":
                return dict(zip(rest[0], map(self.of, rest[1:]), strict=True))
            case "again":
                return self._made[rest[0]]
        place = len(self._made)
        self._made.append(None)
        if kind == "attribute":
            made = getattr(self.of(rest[0]), rest[1])
        elif kind == "sum":
            made = self.of(rest[0]) + self.of(rest[1])
        else:
            function, given, named = map(self.of, rest)
            made = _with(function.__self__, named) if _is_properties(function) else function(*given, **named)
        self._made[place] = made
        return made


def _is_properties(function: Any) -> bool:
    return getattr(function, "__name__", "") == "properties"


def _with(chart: Any, properties: dict[str, Any]) -> Any:
    """Return a chart with properties, which Altair's own method would hold against the schema."""
    chart = chart.copy(deep=False)
    for name, value in properties.items():
        chart[name] = value
    return chart


class _Holes:
    def __getitem__(self, place: int) -> str:
        return f"\ue000{place}"


class _Names(dict[int, Any]):
    def __missing__(self, place: int) -> Any:
        self[place] = altair.NamedData(name=_name(place))  # one object: Altair lifts data that all layers share
        return self[place]


@lru_cache(MOST_TEMPLATES)
def _template(key: tuple[Any, ...], look: Look) -> Callable[[list[Any]], Spec]:
    with TURN, debug_mode(False):  # a hole fits nowhere in Vega-Lite's schema; tests/charts checks filled specs
        spec = _Making(_Holes(), _Names()).of(key).to_dict(validate=False)
    return _filler(look.dress(spec))


def _filler(node: Any) -> Any:
    """Return what copies a part of a spec, with values in its holes; None for what needs no copy."""
    if isinstance(node, str):
        hole = HOLE.fullmatch(node)
        return itemgetter(int(hole[1])) if hole else None
    if not isinstance(node, dict | list):
        return None
    children = node.items() if isinstance(node, dict) else enumerate(node)
    fillers = {place: filler for place, child in children if (filler := _filler(child))}

    def fill(values: list[Any]) -> Any:
        filled = node.copy()
        for place, filler in fillers.items():
            filled[place] = filler(values)
        return filled

    return fill


def _name(place: int) -> str:
    return f"columns_{place}"  # Vega calls its own ones data_0, data_1 ...


def _records(columns: Data) -> list[dict[str, Any]]:
    """Return data row by row, as JSON has it: None where a number is missing."""
    lists = [_plain(np.asarray(columns[name], dtype=object)) for name in columns]
    rows = zip(*lists, strict=True)
    return [{name: None if value != value else value for name, value in zip(columns, row, strict=True)} for row in rows]
