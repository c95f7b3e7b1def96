"""How a chart looks beyond its design: a theme of its own where no page brings one."""

from dataclasses import dataclass
from typing import Any

from attention_core.charts.palette import DARK, FAINT, LABELS

SIZES = {"axis": 12, "header": 12, "legend": 14, "title": 16}
"""Letters of the parts of a chart in screen pixels, as on the pages."""
LONGEST_NAME = 160  # screen pixels of a name in a legend; a longer one is cut
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
    """How a chart looks where it is shown."""

    themed: bool = False  # whether it has a theme of its own, as a file needs one; a page has its own, light or dark

    def dress(self, spec: dict[str, Any]) -> dict[str, Any]:
        config = {"view": {"continuousWidth": 300, "continuousHeight": 300}, **(THEME if self.themed else {})}
        if self.themed:
            for part, size in SIZES.items():
                names = ("fontSize",) if part == "title" else ("labelFontSize", "titleFontSize")
                config[part] = {**config.get(part, {}), **dict.fromkeys(names, size)}
            config["legend"]["labelLimit"] = LONGEST_NAME
        return {**spec, "config": config}
