"""How a chart looks beyond its design: the size of its letters, and a theme of its own where no page brings one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from attention_core.charts.palette import DARK, FAINT, LABELS

SIZES = {"axis": 12, "header": 12, "legend": 14, "title": 16}
"""Letters of the parts of a chart in screen pixels, as on the pages."""
LONGEST_NAME = 160
"""Screen pixels of a name in a legend; a longer one is cut."""
THEME: dict[str, Any] = {
    "background": "#ffffff",
    "font": "Liberation Sans, Arial, Helvetica, sans-serif",  # of one width; files embed the first
    "axis": {
        "labelColor": LABELS,
        "titleColor": LABELS,
        "gridColor": FAINT,
        "domain": False,
        "ticks": False,
        "titleFontWeight": "normal",
    },
    "legend": {"labelColor": LABELS, "titleColor": LABELS, "titleFontWeight": "normal"},
    "title": {"color": DARK, "anchor": "start"},
    "view": {"stroke": "transparent"},
}


@dataclass(frozen=True)
class Look:
    """How a chart is dressed.

    Attributes:
        letters: how many times as large as on a page.
        themed: whether it has a theme of its own, as a file needs one; a page has its own, light or dark.
    """

    letters: float = 1.0
    themed: bool = False

    def dress(self, spec: dict[str, Any]) -> dict[str, Any]:
        """Return a Vega-Lite spec in this look."""
        config = {**spec.get("config", {}), **(THEME if self.themed else {})}
        if self.themed or self.letters != 1:
            for part, size in SIZES.items():
                names = ("fontSize",) if part == "title" else ("labelFontSize", "titleFontSize")
                config[part] = {**config.get(part, {}), **dict.fromkeys(names, size)}
            config["legend"]["labelLimit"] = LONGEST_NAME
        return self._enlarged({**spec, "config": config}) if self.letters != 1 else {**spec, "config": config}

    def _enlarged(self, node: Any, name: str = "") -> Any:
        if isinstance(node, dict):
            return {name: self._enlarged(child, name) for name, child in node.items()}
        if isinstance(node, list):
            return [self._enlarged(child) for child in node]
        is_length = name.lower().endswith("fontsize") or name == "labelLimit"
        return round(node * self.letters, 1) if is_length and isinstance(node, int | float) else node
