"""Keeps the spec of a chart as it is while what it shows varies: Streamlit builds a chart anew whose spec has changed.

What varies travels as a dataset of one row, which expressions in the spec read.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attention_core.charts.chart import Spec
    from attention_core.charts.columns import Columns

ROW, SEPARATOR = "vary", "\x1f"
"""The dataset, and what stands between the words of a list in it."""
LITERAL = re.compile(
    r"""\[(?:"(?:[^"\\]|\\.)*"(?:, )?)+\]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\b\d+(?:\.\d+)?(?:e[+-]?\d+)?\b"""
)
"""A list of words, a text or a number in an expression."""
SINGLE_VALUES = "axis.tickCount", "legend.gradientLength"
INVISIBLE_LAYER = {"data": {"name": ROW}, "mark": {"type": "point", "opacity": 0, "size": 0, "aria": False}}
"""Vega knows a dataset only where a layer draws it; at the bottom, it takes no click."""


def with_row(spec: Spec) -> tuple[Spec, dict[str, Columns]]:
    """Return a spec whose titles, domains, ticks, labels and size are expressions, and the dataset that they read.

    A spec without layers is returned as it is, without a dataset; a size stays that is told by no param.
    """
    if "layer" not in spec:
        return spec, {}
    row = _Row()
    varying = {name: row.vary(name, value) for name, value in spec.items()}
    for param in varying.get("params", []):
        if (side := param["name"]) in ("width", "height") and spec.get("autosize") == {"type": "pad"}:
            size = row.put(side, param.pop("value"))
            param |= {"expr": size, "on": [{"events": {"signal": side}, "update": size}]}
            varying[side] = 100
    varying["layer"].insert(0, INVISIBLE_LAYER)
    return varying, {ROW: row.columns}


class _Row:
    """The row: what is the same at the same kind of path stands in it once, since layers share their axes."""

    def __init__(self) -> None:
        self.columns: Columns = {}
        self._names: dict[tuple[str, str], str] = {}

    def put(self, path: str, value: Any) -> str:
        """Return the expression of a text or a number."""
        name = self._names.setdefault((path, repr(value)), f"v{len(self._names)}")
        self.columns[name] = [value]
        return f"data('{ROW}')[0].{name}"

    def vary(self, path: str, node: Any) -> Any:
        """Return a node of a spec with expressions for what varies; its path are the names on the way to it."""
        if isinstance(node, dict):
            return {name: self.vary(f"{path}.{name}", value) for name, value in node.items()}
        if isinstance(node, list):
            is_numeric = node and all(isinstance(value, int | float) for value in node)
            return self._numbers(path, node) if is_numeric else [self.vary(path, value) for value in node]
        if path == "title" and node:
            return {"text": {"expr": self.put(path, node)}}
        if path.endswith(SINGLE_VALUES) or path == "title.text":
            return {"expr": self.put(path, node)}
        if path.endswith("labelExpr"):
            return LITERAL.sub(lambda match: self._literal(path, match[0]), node)
        return node

    def _numbers(self, path: str, numbers: list[Any]) -> Any:
        """Return a domain or ticks as expressions, evenly spaced ticks in any number; other numbers as they are."""
        steps = {after - before for before, after in pairwise(numbers)} or {1}
        if path.endswith("axis.values") and len(steps) == 1:
            sequence = {"first": numbers[0], "end": numbers[-1] + min(steps) / 2, "step": min(steps)}
            ticks = [self.put(f"{path} {name}", number) for name, number in sequence.items()]
            return {"expr": f"sequence({', '.join(ticks)})"}
        if path.endswith("scale.domain"):
            return [{"expr": self.put(f"{path}{index}", number)} for index, number in enumerate(numbers)]
        return numbers

    def _literal(self, path: str, text: str) -> str:
        """Return the expression of a list of words or a number in an expression; other texts stay."""
        if text.startswith("["):
            return f"split({self.put(path, SEPARATOR.join(json.loads(text)))}, '{SEPARATOR}')"
        return text if text[0] in "'\"" else self.put(path, float(text))
