"""A handful of marks that all charts are put together from, what the mouse is told of them, and clicks."""

from collections.abc import Mapping, Sequence
from typing import Any

from attention_core.charts.design import Channel, Chart, Columns, Data, Spec, alt, known
from attention_core.charts.palette import CHOSEN, FAINT

SILENT: dict[str, Any] = {"aria": False, "tooltip": None}
"""Style of a mark that neither the mouse nor a screen reader meets."""
EDGE: dict[str, Any] = {"fillOpacity": 0, "stroke": FAINT, "aria": False}  # style of the thin line around a picture
FILL, INK = alt.Color("fill:N", scale=None), alt.Color("ink:N", scale=None)  # colours that the data name themselves
Line = Sequence[str]  # what the mouse is told: "field:Q", or with a title and a format after it, "" = none


def mark(kind: str, data: Data, channels: Mapping[str, Any], *told: Line, **style: Any) -> Chart:
    """Return a layer of marks, such as "rect" or "line"; what of its style is a Channel, such as FILL, is one of it.

    Those of which nothing is told meet neither the mouse nor a screen reader.
    """
    own: Spec = {name: value for name, value in style.items() if isinstance(value, Channel)}
    look = {**({} if told else SILENT), **{name: value for name, value in style.items() if name not in own}}
    if told:
        own["tooltip"] = tips(*told)
    return Chart({"data": data, "mark": {"type": kind, **known(look)}, "encoding": {**channels, **own}})


def images(data: Data, space: Mapping[str, Any], field: str = "url", **style: Any) -> Chart:
    """Return pictures, whose data URLs are a field of the data, from corner to corner with crisp pixels."""
    return mark("image", data, {**space, "url": alt.Url(f"{field}:N")}, **{"smooth": False, "aspect": False, **style})


def texts(data: Data, space: Mapping[str, Any], field: str = "text", **style: Any) -> Chart:
    """Return words, a field of the data, at x and y of the space."""
    return mark("text", data, {"x": space["x"], "y": space["y"], "text": alt.Text(f"{field}:N")}, **style)


def word(text: str, left: float, top: float, space: Mapping[str, Any], **style: Any) -> Chart:
    """Return one text at a place."""
    return texts({"left": [left], "top": [top], "text": [text]}, space, **style)


def outlined(data: Data, space: Mapping[str, Any], width: float, colour: Any = CHOSEN, **style: Any) -> Chart:
    """Return the outlines of rectangles, in the colour of what is chosen unless told otherwise."""
    return mark("rect", data, space, fillOpacity=0, stroke=colour, strokeWidth=width, **style)


def haloed(
    data: Data, space: Mapping[str, Any], widths: tuple[float, float], colour: Any = CHOSEN, kind="rect", **style: Any
) -> list[Chart]:
    """Return the outlines of marks on a white halo that shows on any ground; widths are those of halo and outline."""
    strokes = zip(("white", colour), widths, strict=True)
    return [mark(kind, data, space, fillOpacity=0, stroke=one, strokeWidth=wide, **style) for one, wide in strokes]


def tips(*lines: Line) -> list[Channel]:
    return [_line(line) if isinstance(line, str) else _line(*line) for line in lines]


def _line(field: str, title: str = "", form: str = "") -> Channel:
    return alt.Tooltip(field, title=title or alt.Undefined, format=form or alt.Undefined)


def mouse_cells(data: Data, space: Mapping[str, Any], *told: Line, **style: Any) -> Chart:
    """Return what the mouse meets and is told by, for the top: invisible rectangles."""
    return mark("rect", data, space, *told, **{"opacity": 0, "aria": False, **style})


def clickable(chart: Chart, select: str | None, *fields: str, clear: Any = False) -> Chart:
    """Return the chart with a point selection over fields that a click makes and no click clears; as it is if None."""
    if not select:
        return chart
    return chart.add_params(alt.selection_point(name=select, fields=list(fields), on="click", clear=clear))


def pointer(select: str | None) -> dict[str, Any]:
    """Return what makes the mouse a hand over marks that can be selected."""
    return {"cursor": "pointer" if select else "default", "aria": False}


def long_form(
    fields: tuple[str, str, str], series: Mapping[str, Any], at: Sequence[Any] | None = None, **more: Any
) -> Columns:
    """Return one row per series and place, without those whose number is None.

    The fields are the names of the columns of series, places and numbers. Places are 0, 1, 2 ... if none are given;
    more are columns of what else is known of each place.
    """
    rows = [
        (name, place, float(number), *(column[i] for column in more.values()))
        for name, numbers in series.items()
        for i, (place, number) in enumerate(zip(range(len(numbers)) if at is None else at, numbers, strict=True))
        if number is not None
    ]
    return {field: [row[i] for row in rows] for i, field in enumerate((*fields, *more))}
