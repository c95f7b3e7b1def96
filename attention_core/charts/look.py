"""The theme of a chart in a file; a page has its own, light or dark."""

from typing import Any

from attention_core.charts.palette import DARK, FAINT, LABELS

LETTERS = {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"}  # screen pixels, as on the pages
THEME: dict[str, Any] = {
    "background": "#ffffff",
    "font": "Liberation Sans, Arial, Helvetica, sans-serif",  # of one width; files embed the first
    "axis": {
        **LETTERS,
        "labelColor": LABELS,
        "titleColor": LABELS,
        "gridColor": FAINT,
        "domain": False,
        "ticks": False,
    },
    "header": {"labelFontSize": 12, "titleFontSize": 12},
    "legend": {
        **LETTERS,
        "labelFontSize": 14,
        "titleFontSize": 14,
        "labelColor": LABELS,
        "titleColor": LABELS,
        "labelLimit": 160,  # a longer name is cut
    },
    "title": {"color": DARK, "anchor": "start", "fontSize": 16},
    "view": {"stroke": "transparent"},
}
