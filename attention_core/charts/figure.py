"""A chart becomes a figure for slides and papers: SVG, PDF or PNG, made without a network."""

import re
from textwrap import wrap
from typing import Any

from attention_core.charts.ramps import DARK_COLOUR, FAINT, FONT_SIZE, LABEL_COLOUR

COLUMN = 85.0
"""Millimetres of a printed column; two of them with the gap between are 176."""
PER_MILLIMETRE = 96 / 25.4  # screen pixels, as CSS counts them
SHARPNESS = 2  # pixels of a PNG along one on the screen
FORMATS = ("svg", "pdf", "png")
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
SIZE = re.compile(r'(<svg[^>]*?) width="([\d.]+)" height="([\d.]+)"')


def figure(chart: Any, form: str, *, title: str = "", width: float | None = None) -> bytes:
    """Return a chart as a file in one of FORMATS, light and with its colour bar; a ValueError where it is none of them.

    Words stay words: an SVG names a family of letters and what may stand for it, a PDF embeds them. The width is in
    millimetres in print, such as COLUMN; letters grow and shrink with it. It is as on the screen if None.
    """
    if form not in FORMATS:
        raise ValueError(f"a figure is one of {', '.join(FORMATS)}, not {form!r}")
    import vl_convert

    spec = themed(chart.to_dict())
    if title:
        across = spec.get("width")
        lines = wrap(title, max(24, int(across / 6)) if isinstance(across, int | float) else 48)
        spec["title"] = {"text": lines, "fontSize": 13, "fontWeight": "normal", "offset": 10}
    svg = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    _, across, down = SIZE.search(svg).groups()  # type: ignore[union-attr]
    ratio = 1.0 if width is None else width * PER_MILLIMETRE / float(across)
    if form == "png":
        dots = SHARPNESS * 96 / ratio  # in an inch of print
        return vl_convert.svg_to_png(svg, scale=SHARPNESS * 72 / dots, ppi=dots)
    unit, of_a_pixel = ("mm", ratio / PER_MILLIMETRE) if form == "svg" else ("", ratio * 72 / 96)
    sides = f'width="{float(across) * of_a_pixel:.2f}{unit}" height="{float(down) * of_a_pixel:.2f}{unit}"'
    svg = SIZE.sub(rf"\1 {sides}", svg, count=1)
    return svg.encode() if form == "svg" else vl_convert.svg_to_pdf(svg)


def themed(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a spec in the colours and letters of files."""
    return spec | {"config": spec.get("config", {}) | THEME}
