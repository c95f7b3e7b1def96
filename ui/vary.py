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

ROW, BETWEEN = "vary", "\x1f"
"""The dataset, and what stands between the words of a list in it."""
LITERAL = re.compile(
    r"""\[(?:"(?:[^"\\]|\\.)*"(?:, )?)+\]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\b\d+(?:\.\d+)?(?:e[+-]?\d+)?\b"""
)
"""A list of words, a text or a number in an expression."""
ALONE = "scale.exponent", "axis.tickCount", "legend.gradientLength"
UNSEEN = {"data": {"name": ROW}, "mark": {"type": "point", "opacity": 0, "size": 0, "aria": False}}
"""Vega knows a dataset only where a layer draws it; at the bottom, it takes no click."""


def with_row(spec: Spec) -> tuple[Spec, dict[str, Columns]]:
    """Return a spec whose titles, domains, ticks, labels and size are expressions, and the dataset that they read.

    A spec without layers is returned as it is, without a dataset; a size stays that is told by no param.
    """
    if "layer" not in spec:
        return spec, {}
    row = _Row()
    kept = {name: row.kept(name, value) for name, value in spec.items()}
    for param in kept.get("params", []):
        if (side := param["name"]) in ("width", "height") and spec.get("autosize") == {"type": "pad"}:
            size = row.put(side, param.pop("value"))
            param |= {"expr": size, "on": [{"events": {"signal": side}, "update": size}]}
            kept[side] = 100
    kept["layer"].insert(0, UNSEEN)
    return kept, {ROW: row.columns}


class _Row:
    """The row: what is the same at the same kind of place stands in it once, since layers share their axes."""

    def __init__(self) -> None:
        self.columns: Columns = {}
        self._names: dict[tuple[str, str], str] = {}

    def put(self, where: str, value: Any) -> str:
        """Return the expression of a text or a number."""
        name = self._names.setdefault((where, repr(value)), f"v{len(self._names)}")
        self.columns[name] = [value]
        return f"data('{ROW}')[0].{name}"

    def kept(self, where: str, node: Any) -> Any:
        """Return a part of a spec as it stays; `where` are the names on the way to it."""
        if isinstance(node, dict):
            return {name: self.kept(f"{where}.{name}", value) for name, value in node.items()}
        if isinstance(node, list):
            is_numeric = node and all(isinstance(one, int | float) for one in node)
            return self._numbers(where, node) if is_numeric else [self.kept(where, one) for one in node]
        if where == "title" and node:
            return {"text": {"expr": self.put(where, node)}}
        if where.endswith(ALONE) or where == "title.text":
            return {"expr": self.put(where, node)}
        if where.endswith("labelExpr"):
            return LITERAL.sub(lambda met: self._literal(where, met[0]), node)
        return node

    def _numbers(self, where: str, numbers: list[Any]) -> Any:
        """Return numbers as they stay: a domain or ticks as expressions, evenly spaced ticks in any number."""
        steps = {after - before for before, after in pairwise(numbers)} or {1}
        if where.endswith("axis.values") and len(steps) == 1:
            ends = {"first": numbers[0], "end": numbers[-1] + min(steps) / 2, "step": min(steps)}
            return {"expr": f"sequence({', '.join(self.put(f'{where} {name}', one) for name, one in ends.items())})"}
        if where.endswith(("scale.domain", "legend.values")):
            parts = [self.put(f"{where}{place}", one) for place, one in enumerate(numbers)]
            return [{"expr": part} for part in parts] if "scale" in where else {"expr": f"[{', '.join(parts)}]"}
        return numbers

    def _literal(self, where: str, text: str) -> str:
        """Return what stands in an expression for a list of words, a share such as '1/9', or a number."""
        if text.startswith("["):
            return f"split({self.put(where, BETWEEN.join(json.loads(text)))}, '{BETWEEN}')"
        if text[0] in "'\"":
            return self.put(where, text[1:-1]) if re.fullmatch(r"'1/\d+'", text) else text
        return self.put(where, float(text))
