"""Charts are Altair's. What a page draws is compiled once per structure; words, numbers and data are put into it then.

A chart is written as a function that hands on to Altair what it is given, and decorated:

@per_structure
def dots(title: str | None, colour: str) -> alt.Chart:
    x = alt.X("x:Q", title=title)
    return alt.Chart(alt.NamedData("dots")).mark_point(color=colour).encode(x, alt.Y("y:Q"))

chart = dots({"dots": {"x": [1, 2], "y": [3, 4]}}, title="one", colour="#ff0000")
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
import numpy as np
from altair.utils import schemapi

from attention_core.attention.types import Role
from attention_core.charts.columns import Columns
from attention_core.charts.ramps import DARK_COLOUR, FAINT, FONT_SIZE, LABEL_COLOUR
from attention_core.concurrency import BoundedCache
from attention_core.files import atomic_write

FONT_STYLE = {"labelFontSize": FONT_SIZE, "titleFontSize": FONT_SIZE, "titleFontWeight": "normal"}
THEME: dict[str, Any] = {
    "background": "#ffffff",
    "font": "Liberation Sans, Arial, Helvetica, sans-serif",  # of one width; files embed the first
    "axis": {
        **FONT_STYLE,
        "labelColor": LABEL_COLOUR,
        "titleColor": LABEL_COLOUR,
        "gridColor": FAINT,
        "domain": False,
        "ticks": False,
    },
    "header": {"labelFontSize": FONT_SIZE, "titleFontSize": FONT_SIZE},
    "legend": {
        **FONT_STYLE,
        "labelFontSize": 14,
        "titleFontSize": 14,
        "labelColor": LABEL_COLOUR,
        "titleColor": LABEL_COLOUR,
        "labelLimit": 160,  # a longer name is cut
    },
    "title": {"color": DARK_COLOUR, "anchor": "start", "fontSize": 16},
    "view": {"stroke": "transparent"},
}
"""Of charts in files."""

Spec = dict[str, Any]
HOLE = re.compile("\x02([^\x03]*)\x03")
MOST_TEMPLATES = 256
_templates = BoundedCache(max_items=MOST_TEMPLATES)


class Blueprint(NamedTuple):
    """How a chart is made: the function that writes it, its data by name, what the function is given."""

    build: Callable[..., Any]
    datasets: Mapping[str, Columns]
    parts: Mapping[str, Any]
    properties: Mapping[str, Any] = {}

    def chart(self) -> alt.Chart | alt.LayerChart:
        """Return it as Altair makes it."""
        chart = self.build(**self.parts).properties(**self.properties)
        chart["datasets"] = {name: records(columns) for name, columns in self.datasets.items()}
        return chart

    def spec(self) -> Spec:
        """Return the Vega-Lite spec without its data, compiled once for all charts of this structure."""
        values: dict[str, Any] = {}
        parts = {name: _hole(name, part, values) for name, part in self.parts.items()}
        key = self.build, repr(parts)
        compiled = _templates.get(key)
        template = compiled.value if compiled else self.build(**parts).to_dict(validate=False)
        if not compiled:
            _templates.put(key, template)
        return _filled(template, values) | dict(self.properties)


def _hole(name: str, part: Any, values: dict[str, Any]) -> Any:
    """Return a part with marks in the places of its words, numbers and lists, which go to the values.

    What is bool, None, or a tuple says how a chart is built, and stays.
    """
    if isinstance(part, alt.SchemaBase):
        part = part.to_dict(validate=False)
    if isinstance(part, dict):
        return {key: _hole(f"{name}.{key}", one, values) for key, one in part.items()}
    if part is None or isinstance(part, bool | tuple | Role):
        return part
    values[name] = _plain(part)
    return f"\x02{name}\x03"


def _filled(node: Any, values: dict[str, Any]) -> Any:
    """Return a copy of a compiled spec with the values in the places of their marks."""
    if isinstance(node, dict):
        return {name: _filled(one, values) for name, one in node.items()}
    if isinstance(node, list):
        return [_filled(one, values) for one in node]
    if not isinstance(node, str) or "\x02" not in node:
        return node
    whole = HOLE.fullmatch(node)
    return values[whole[1]] if whole else HOLE.sub(lambda met: str(values[met[1]]), node)


def _plain(value: Any) -> Any:
    """Return what JSON knows: plain numbers and lists, data URLs for pictures."""
    if isinstance(value, bytes):
        return data_url(value)
    if isinstance(value, list):
        return [*map(_plain, value)]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


class Drawn:
    """What charts of this package can do beside what Altair's can. They become Altair's when they are first asked."""

    @classmethod
    def of(cls, blueprint: Blueprint) -> Any:
        chart = cls.__new__(cls)
        vars(chart)["blueprint"] = blueprint
        return chart

    def __getattr__(self, name: str) -> Any:
        blueprint = vars(self).pop("blueprint", None)
        if blueprint is None:
            return super().__getattr__(name)  # type: ignore[misc]
        vars(self).update(vars(blueprint.chart()))
        return getattr(self, name)

    def spec_and_data(self) -> tuple[Spec, dict[str, Columns]]:
        """Return the Vega-Lite spec, and the data by the names that it uses.

        Where Altair checks what it is given, in notebooks and tests, the spec is made anew, and checked.
        """
        blueprint = vars(self).get("blueprint")
        if blueprint and not schemapi.DEBUG_MODE:
            return blueprint.spec(), dict(blueprint.datasets)
        spec = self.to_dict(validate=schemapi.DEBUG_MODE)
        datasets = spec.pop("datasets", {})
        return spec, blueprint.datasets if blueprint else {name: _columns(rows) for name, rows in datasets.items()}

    def file_spec(self) -> Spec:
        """Return the spec of what pages draw, with its data, in the colours and letters of files."""
        spec, data = self.spec_and_data()
        datasets = {name: records(columns) for name, columns in data.items()}
        return spec | {"datasets": datasets, "config": spec.get("config", {}) | THEME}

    def properties(self, **named: Any) -> Any:
        """Return a chart with other properties, such as its height."""
        blueprint = vars(self).get("blueprint")
        if blueprint is None:
            return super().properties(**named)  # type: ignore[misc]
        return self.of(blueprint._replace(properties={**blueprint.properties, **named}))

    def to_altair(self) -> Any:
        """Return the chart, which is Altair's."""
        return self

    def save(self, path: str | Path, *, title: str = "", width: float | None = None) -> None:
        """Write the chart into a file, whose ending says whether it is an SVG, a PDF or a PNG; see figure.figure()."""
        from attention_core.charts.figure import figure

        content = figure(self, Path(path).suffix.removeprefix(".").lower(), title=title, width=width)
        with atomic_write(Path(path)) as place:
            place.write_bytes(content)


class Chart(Drawn, alt.Chart):  # type: ignore[misc]
    """A chart of Altair's with one kind of mark."""


class LayerChart(Drawn, alt.LayerChart):  # type: ignore[misc]
    """A chart of Altair's with layers in one plot."""


def per_structure(build: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function that writes a chart with Altair run once per structure where pages draw it.

    It is called with the data by their names, and with what it hands on to Altair: it must not ask what a word, a
    number or a list among its arguments is.
    """
    kind = LayerChart if "LayerChart" in str(build.__annotations__["return"]) else Chart

    @wraps(build)
    def drawn(datasets: Mapping[str, Columns], /, **parts: Any) -> Any:
        return kind.of(Blueprint(build, datasets, parts))

    return drawn


def data_url(content: bytes) -> str:
    """Return a PNG file as a data URL."""
    return "data:image/png;base64," + base64.b64encode(content).decode()


def records(columns: Columns) -> list[Spec]:
    """Return data as a list of rows for JSON: None where a number is missing."""
    lists = [np.asarray(columns[name], dtype=object).tolist() for name in columns]
    lists = [[*map(data_url, one)] if one and isinstance(one[0], bytes) else one for one in lists]
    rows = zip(*lists, strict=True)
    return [{name: None if value != value else value for name, value in zip(columns, row, strict=True)} for row in rows]


def _columns(rows: list[Spec]) -> Columns:
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}
