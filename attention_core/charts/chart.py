"""Charts are plain Altair over named data. A chart is a spec, compiled once for its structure, and its data.

What a chart's structure depends on are the arguments of a function that writes it in Altair; all else is data:

@compiled
def dots(colour: str) -> alt.Chart:
    return alt.Chart(alt.NamedData("dots")).mark_point(color=colour).encode(alt.X("x:Q"), alt.Y("y:Q"))

chart = Chart(dots("#ff0000"), {"dots": {"x": [1, 2], "y": [3, 4]}})
chart.to_altair()  # alt.Chart, which is what `attention_core.charts` gives to notebooks

Altair takes 15 to 40 ms to build and compile a chart of several layers, so `compiled` keeps its spec for whoever asks
with equal arguments. What changes with every click, such as the numbers at a colour bar, belongs into the data. A chart
of one layer takes 2 to 10 ms, and is compiled each time: Chart.of(alt.Chart(...), data).
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, ParamSpec

import altair as alt
import numpy as np

from attention_core.charts.columns import Columns
from attention_core.files import atomic_write

Spec = dict[str, Any]
Arguments = ParamSpec("Arguments")
MAX_SPECS = 32
"""Specs that each compiled function remembers."""


def compiled(build: Callable[Arguments, alt.Chart | alt.LayerChart]) -> Callable[Arguments, Spec]:
    """Let a function that writes a chart in Altair return its spec, the same one for equal, hashable arguments."""

    @lru_cache(MAX_SPECS)
    @wraps(build)
    def spec(*args: Any, **kwargs: Any) -> Spec:
        return build(*args, **kwargs).to_dict(validate=False)  # tests hold it against the schema

    return spec  # type: ignore[return-value]


class Figure:
    """What every chart of this library can do, those of Altair's classes too."""

    def save(self, path: str | Path, *, title: str = "", width: float | None = None) -> None:
        """Write the chart into a file, whose ending says whether it is an SVG, a PDF or a PNG; see figure.figure()."""
        from attention_core.charts.figure import figure

        content = figure(self, Path(path).suffix.removeprefix(".").lower(), title=title, width=width)
        with atomic_write(Path(path)) as file:
            file.write_bytes(content)

    def to_altair(self) -> Any:
        """Return the chart, which is Altair's."""
        return self


@dataclass(frozen=True, eq=False)
class Chart(Figure):
    """A Vega-Lite spec, which charts share and none changes, and its data by the names that the spec has for them."""

    spec: Spec
    data: Mapping[str, Columns]

    @classmethod
    def of(cls, chart: alt.Chart | alt.LayerChart, data: Mapping[str, Columns]) -> Chart:
        """Return a chart of Altair's with its data; tests hold it against the schema."""
        return cls(chart.to_dict(validate=False), data)

    def properties(self, **properties: Any) -> Chart:
        """Return the chart with these properties of its spec changed, such as height."""
        return replace(self, spec=self.spec | properties)

    def to_dict(self) -> Spec:
        """Return the spec with the data."""
        return deepcopy(self.spec) | {"datasets": {name: records(columns) for name, columns in self.data.items()}}

    def to_altair(self) -> AltairChart | AltairLayerChart:
        """Return it as a chart of Altair's, which can be saved as a figure too."""
        chart_class = AltairLayerChart if "layer" in self.spec else AltairChart
        added = {"$schema", "config"}  # by Altair when a chart is drawn; with them it could not stand beside another
        return chart_class.from_dict({name: value for name, value in self.to_dict().items() if name not in added})

    def _repr_mimebundle_(self, *args: Any, **kwargs: Any) -> Any:
        """Show it in a notebook."""
        return self.to_altair()._repr_mimebundle_(*args, **kwargs)


class AltairChart(Figure, alt.Chart):  # type: ignore[misc]
    """A chart of Altair's with one kind of mark."""


class AltairLayerChart(Figure, alt.LayerChart):  # type: ignore[misc]
    """A chart of Altair's with layers in one plot."""


class AltairHConcatChart(Figure, alt.HConcatChart):  # type: ignore[misc]
    """Charts of Altair's side by side."""


def in_altair(build: Callable[Arguments, Chart]) -> Callable[Arguments, AltairChart | AltairLayerChart]:
    """Let a function that returns a Chart return one of Altair's, for notebooks; pages need spec and data only."""

    @wraps(build)
    def build_in_altair(*args: Arguments.args, **kwargs: Arguments.kwargs) -> AltairChart | AltairLayerChart:
        return build(*args, **kwargs).to_altair()

    return build_in_altair


def data_url(content: bytes) -> str:
    """Return a PNG file as a data URL."""
    return "data:image/png;base64," + base64.b64encode(content).decode()


def records(columns: Columns) -> list[Spec]:
    """Return data as a list of rows for JSON: None where a number is NaN, and a PNG file as its data URL."""
    lists = [np.asarray(column, dtype=object).tolist() for column in columns.values()]
    lists = [[*map(data_url, column)] if column and isinstance(column[0], bytes) else column for column in lists]
    rows = zip(*lists, strict=True)
    return [{name: None if value != value else value for name, value in zip(columns, row, strict=True)} for row in rows]
