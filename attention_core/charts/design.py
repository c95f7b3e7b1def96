"""Charts as Vega-Lite has them, put together from pieces that are called as in Altair, without Altair's own work.

data = {"x": [1, 2], "y": [3, 4]}
chart = mark("point", data, {"x": alt.X("x:Q", title="one"), "y": alt.Y("y:Q")})
spec, data = chart.drawn()
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from attention_core.charts.look import THEME
from attention_core.charts.raster import data_url

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.4.1.json"
TYPES = {"Q": "quantitative", "N": "nominal", "O": "ordinal", "T": "temporal"}
UNDEFINED = object()  # stands for what is left to Vega-Lite, where None would switch it off

Spec = dict[str, Any]
Data = Mapping[str, Any]  # columns of equal length by their names; a data frame is one, too
Columns = dict[str, Any]  # data that are put together: quicker than a data frame


class Channel(Spec):
    """What a channel of a mark shows, such as x or color."""


def known(named: Spec) -> Spec:
    """Return what is not left to Vega-Lite."""
    return {name: value for name, value in named.items() if value is not UNDEFINED}


def _part(**named: Any) -> Spec:
    return known(named)


def _channel(field: str | None = None, **named: Any) -> Channel:
    """Return a channel that shows a field with its type, such as "row:Q"."""
    name, _, kind = (field or "").partition(":")
    return Channel(known({"field": name or UNDEFINED, "type": TYPES.get(kind, UNDEFINED), **named}))


def _end(field: str | None = None, **named: Any) -> Channel:
    """Return the channel of a second end, whose type is that of the first."""
    return _channel((field or "").partition(":")[0], **named)


class alt:
    """Pieces of charts by the names that Altair has for them."""

    Undefined = UNDEFINED
    X = XOffset = Y = YOffset = Angle = Color = Description = Detail = Opacity = Order = _channel
    Shape = Size = Stroke = StrokeDash = StrokeWidth = Text = Tooltip = Url = _channel
    X2 = Y2 = _end
    Axis = Legend = Scale = _part

    @staticmethod
    def Title(text: str, **named: Any) -> Spec:
        return {"text": text, **named}

    @staticmethod
    def value(value: Any) -> Channel:
        return Channel(value=value)

    YValue = value

    @staticmethod
    def condition(test: str | Spec, then: Spec, otherwise: Spec) -> Channel:
        """Return one channel where a test of the data, or a selection, holds, and another one elsewhere."""
        tested = {"test": test} if isinstance(test, str) else {"param": test["name"]}
        return Channel(condition={**tested, **then}, **otherwise)

    @staticmethod
    def selection_point(name: str, **named: Any) -> Spec:
        return {"name": name, "select": {"type": "point", **known(named)}}

    @staticmethod
    def layer(*layers: Chart, **properties: Any) -> Chart:
        """Return layers in one plot, the first one below."""
        return Chart({"layer": [layer.spec for layer in layers], **properties})


class Chart:
    """A chart or a layer of one; its pictures are PNG files, and data URLs where it is written out."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec  # as Vega-Lite has it, with columns for data

    def properties(self, **named: Any) -> Chart:
        return Chart({**self.spec, **named})

    def encode(self, **channels: Any) -> Chart:
        return self.properties(encoding={**self.spec["encoding"], **channels})

    def transform_filter(self, test: str) -> Chart:
        """Return the chart of those rows of its data for which an expression is true."""
        return self._and("transform", {"filter": test})

    def transform_calculate(self, **columns: str) -> Chart:
        return self._and("transform", *({"calculate": how, "as": name} for name, how in columns.items()))

    def add_params(self, *selections: Spec) -> Chart:
        return self._and("params", *selections)

    def _and(self, name: str, *more: Spec) -> Chart:
        return self.properties(**{name: [*self.spec.get(name, []), *more]})

    def drawn(self, *, themed: bool = False) -> tuple[Spec, dict[str, Data]]:
        """Return the Vega-Lite spec, for a file with a theme, and the data by the names that stand for them in it."""
        data: dict[str, Data] = {}
        config = {"view": {"continuousWidth": 300, "continuousHeight": 300}, **(THEME if themed else {})}
        spec = {**_written(self.spec, data), "$schema": SCHEMA, "config": config}
        params = []
        for number, layer in enumerate(_layers(spec)):
            if "params" in layer:  # the whole names the layers in which a click counts
                layer["name"] = f"view_{number}"
                params += [{**one, "views": [layer["name"]]} for one in layer.pop("params")]
        return {**spec, "params": params} if params else spec, data

    def to_dict(self, *, themed: bool = False) -> Spec:
        spec, data = self.drawn(themed=themed)
        return spec | {"datasets": {name: _records(columns) for name, columns in data.items()}}

    def to_altair(self) -> Any:
        import altair

        return (altair.LayerChart if "layer" in self.spec else altair.Chart).from_dict(self.to_dict())

    def save(self, path: str | Path, **said: Any) -> None:
        """Write the chart into an SVG, PDF or PNG file, see figure.save()."""
        from attention_core.charts.figure import save

        save(self, path, **said)

    def _repr_mimebundle_(self, *given: Any, **named: Any) -> Any:
        return self.to_altair()._repr_mimebundle_(*given, **named)


def _written(node: Any, data: dict[str, Data]) -> Any:
    """Return a copy as JSON has it: Python's own numbers and lists, texts for pictures, and names for its data."""
    if isinstance(node, dict):
        return {name: _named(one, data) if name == "data" else _written(one, data) for name, one in node.items()}
    if isinstance(node, list | tuple):
        return [_written(one, data) for one in node]
    if isinstance(node, bytes):
        return data_url(node)
    return node.tolist() if isinstance(node, np.ndarray | np.generic) else node


def _named(columns: Data, data: dict[str, Data]) -> Spec:
    found = next((name for name, one in data.items() if one is columns), f"columns_{len(data)}")
    data[found] = columns  # Vega calls its own ones data_0, data_1 ...
    return {"name": found}


def _layers(spec: Spec) -> Iterator[Spec]:
    for layer in spec.get("layer", []):
        yield layer
        yield from _layers(layer)


def _records(columns: Data) -> list[Spec]:
    """Return data row by row, as JSON has it: None where a number is missing."""
    lists = [np.asarray(columns[name], dtype=object).tolist() for name in columns]
    lists = [[*map(data_url, one)] if one and isinstance(one[0], bytes) else one for one in lists]
    rows = zip(*lists, strict=True)
    return [{name: None if value != value else value for name, value in zip(columns, row, strict=True)} for row in rows]
