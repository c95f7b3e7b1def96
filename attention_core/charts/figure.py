"""A chart becomes a figure for slides and papers: SVG, PDF or PNG, made without a network."""

import re
from textwrap import wrap
from typing import Any

from attention_core.charts.ramps import DARK_COLOUR, FAINT, FONT_SIZE, LABEL_COLOUR

COLUMN = 85.0
"""Millimetres of a printed column; two of them with the gap between are 176."""
PER_INCH, POINTS_PER_INCH = 96, 72  # screen pixels, as CSS counts them, and points of PDF
PER_MILLIMETRE = PER_INCH / 25.4  # screen pixels
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
SVG_SIZE = re.compile(r'(<svg[^>]*?) width="([\d.]+)" height="([\d.]+)"')


def figure(chart: Any, form: str, *, title: str = "", width: float | None = None) -> bytes:
    """Return a chart as a file in one of FORMATS, light and with its colour bar; a ValueError where it is none of them.

    Texts stay texts: an SVG names font families, a PDF embeds the font. The width is in millimetres in print, such as
    COLUMN; letters grow and shrink with it. It is as on the screen if None.
    """
    if form not in FORMATS:
        raise ValueError(f"a figure is one of {', '.join(FORMATS)}, not {form!r}")
    import vl_convert

    spec = themed(chart.to_dict())
    if title:
        plot_width = spec.get("width")
        lines = wrap(title, max(24, int(plot_width / 6)) if isinstance(plot_width, int | float) else 48)
        spec["title"] = {"text": lines, "fontSize": 13, "fontWeight": "normal", "offset": 10}
    svg = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    pixels = [float(side) for side in SVG_SIZE.search(svg).group(2, 3)]  # type: ignore[union-attr]
    enlargement = 1.0 if width is None else width * PER_MILLIMETRE / pixels[0]
    if form == "png":
        ppi = SHARPNESS * PER_INCH / enlargement  # dots in an inch of print
        return vl_convert.svg_to_png(svg, scale=SHARPNESS * POINTS_PER_INCH / ppi, ppi=ppi)
    unit, per_unit = ("mm", PER_MILLIMETRE) if form == "svg" else ("", PER_INCH / POINTS_PER_INCH)
    sides = (f"{side * enlargement / per_unit:.2f}{unit}" for side in pixels)
    svg = SVG_SIZE.sub(r'\1 width="{}" height="{}"'.format(*sides), svg, count=1)
    return svg.encode() if form == "svg" else vl_convert.svg_to_pdf(svg)


def themed(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a spec in the colours and letters of files."""
    return spec | {"config": spec.get("config", {}) | THEME}
