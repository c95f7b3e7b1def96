"""Draws a chart of the core in the page: its spec, data as Arrow, pictures as files; notes it for who saves figures.

Pictures and large tables are files, one of each for all visitors, which a browser fetches once.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import streamlit as st
from starlette.routing import Route
from streamlit.delta_generator import DeltaGenerator

from attention_core.concurrency import BoundedCache
from ui import served
from ui.component import component
from ui.lecture.mode import LECTURE
from ui.state import APP, Field, chart_selection, component_message
from ui.vary import with_row

if TYPE_CHECKING:
    from attention_core.charts.chart import Chart, Spec
    from attention_core.charts.columns import Columns

MIN_FILE = 1500
"""Bytes of a picture from which the browser gets it as a file, once, however often its chart changes."""
IN_A_LECTURE, MIN_LETTERS = 1.4, 12
"""How much larger all letters of charts are there, and the pixels as which smaller ones count."""
HALL_HEIGHT = 340
"""Pixels of a chart there, letters and all, up to which a lower one grows."""
LETTERED = ("axis", "header", "legend")
_layers = component("layers")


def draw_chart(
    chart: Chart,
    *,
    alt: str,
    key: str | None = None,
    width: Literal["stretch", "content"] | None = None,
    on_select: Callable[[], Any] | Literal["rerun", "ignore"] = "ignore",
    selection_mode: str | list[str] | None = None,
    on: DeltaGenerator | None = None,
    step: str = "",
) -> Any:
    """Draw a chart; arguments and result are otherwise those of st.vega_lite_chart.

    `alt` describes it for screen readers. It is drawn in the open container unless `on` is another one; for `step`
    see note_picture.
    """
    note_picture(lambda: chart, alt, step)
    spec = deepcopy(chart.spec)  # which Streamlit changes
    if LECTURE.value:
        spec = _for_a_hall(spec)
    spec, row = with_row(spec | _settled(spec, ("width", "height") if width == "content" else ("height",)))
    return (on or st).vega_lite_chart(
        None,
        spec | {"datasets": {name: _arrow(columns) for name, columns in {**chart.data, **row}.items()}},
        key=key,
        width=width,
        on_select=on_select,
        selection_mode=selection_mode,
        alt=alt,
    )


def draw_layers(
    layers: Sequence[bytes],
    values: np.ndarray,
    key: str,
    alt: str,
    *,
    size: int,
    row: int | None = None,
    row_labels: Sequence[str] = (),
    smooth: bool = False,
    axis: str = "",
    tooltip: str = "",
    chosen: int | None = None,
    take: Callable[[int], object] | None = None,
) -> None:
    """Draw pictures over one another, PNGs, the top one first, so wide, which is much quicker than a chart of them.

    Rows may have a height of their own, with a gap between them, and labels in the file that is saved. The tooltip has
    the value of a cell, of (rows, columns), at {}; a cell under the pointer is lit as a position of the axis. A chosen
    one has a frame, and `take`, if given, gets another that is clicked.
    """
    rows, columns = values.shape

    def saved() -> Chart:
        from attention_core.charts.pictures import layered_picture

        sides = size, rows * row if row else round(size * rows / columns)
        return layered_picture(layers, (rows, columns), sides, row_labels=row_labels, smooth=smooth, marked=chosen)

    def on_chosen() -> None:
        cell = (component_message(key, "chosen") or {}).get("cell")
        if take and type(cell) is int and 0 <= cell < rows * columns:
            take(cell)

    note_picture(saved, alt)
    data = {"rows": rows, "columns": columns, "size": size, "row": row, "smooth": smooth, "about": alt}
    data |= {"layers": [*map(picture_address, layers)], "axis": axis, "tells": tooltip}
    data |= {"chosen": chosen, "takes": take is not None}
    data["numbers"] = [float(f"{value:.3g}") for value in values.ravel()] if tooltip else []
    _layers(key=key, data=data, default={"chosen": None}, on_chosen_change=on_chosen)


def draw_map(
    weights: np.ndarray,
    over: np.ndarray,
    key: str,
    alt: str,
    *,
    size: int,
    high: float | None = None,
    smooth: bool = True,
    axis: str = "regions",
    tooltip: str = "weight {}%",
    chosen: int | None = None,
    take: Callable[[int], object] | None = None,
) -> None:
    """Draw a map of weights (rows, columns) over a picture; see charts.overlay, and draw_layers."""
    from attention_core.charts.overlay import glow_ramp, image_png, map_png

    ramp, opacity = glow_ramp(weights.size, float(weights.max()) if high is None else high), 0.85 if smooth else 1
    layers = [map_png(weights, ramp, smooth, opacity), image_png(over)]
    options: dict[str, Any] = {"smooth": smooth, "axis": axis, "tooltip": tooltip, "chosen": chosen, "take": take}
    draw_layers(layers, 100 * weights, key, alt, size=size, **options)


def click(key: str, selection: str, take: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """Return what hands on what is clicked in a chart of this key, the fields of its selection; for draw_chart."""

    def on_select() -> None:
        for clicked in chart_selection(key, selection):
            take(clicked)

    return {"key": key, "on_select": on_select, "selection_mode": selection}


def _settled(spec: Spec, sides: tuple[str, ...]) -> Spec:
    """Return what keeps Streamlit from changing a chart.

    It sets sides to those of the full screen, where ui.skeleton enlarges a chart as a whole; and it moves the first
    and the last name of an axis from what they name.
    """
    sizes = {side: spec[side] for side in sides if isinstance(spec.get(side), int | float)}
    params = [
        {"name": side, "value": size, "on": [{"events": {"signal": side}, "update": f"min({side}, {size})"}]}
        for side, size in sizes.items()
    ]
    no_flush = {"labelFlush": False}
    config = {"axisDiscrete": no_flush, "axisQuantitative": no_flush, **spec.get("config", {})}
    return {"params": [*spec.get("params", []), *params], "config": config}


def _for_a_hall(spec: Spec) -> Spec:
    """Return a chart in larger letters, and higher where they would take its height from the plot."""
    from attention_core.charts.figure import THEME

    defaults = {
        part: {name: size for name, size in THEME[part].items() if name.endswith(("FontSize", "Limit"))}
        for part in LETTERED
    }
    defaults["text"] = {"fontSize": MIN_LETTERS}
    defaults["legend"] |= {"columns": 1}
    config = spec.get("config", {})
    config = config | {part: sizes | config.get(part, {}) for part, sizes in defaults.items()}
    height, sized = spec.get("height"), spec | {"config": config}
    if isinstance(height, int | float) and height < HALL_HEIGHT and "autosize" not in spec:
        sized["height"] = min(IN_A_LECTURE**2 * height, HALL_HEIGHT)
    return _enlarged(sized)


def _enlarged(node: Any) -> Any:
    """Return a copy of a spec with larger letters, but for sizes that are expressions."""
    if isinstance(node, list):
        return [_enlarged(child) for child in node]
    if not isinstance(node, dict):
        return node
    return {
        name: _enlarged(value) if isinstance(value, list | dict) else _larger(name, value)
        for name, value in node.items()
    }


def _larger(name: str, size: Any) -> Any:
    """Return a size of letters, or the length at which they are cut, as it is in a hall; and anything else as it is."""
    if not isinstance(size, int | float) or not name.lower().endswith(("fontsize", "labellimit")):
        return size
    return IN_A_LECTURE * max(size, MIN_LETTERS)


def _arrow(columns: Columns) -> bytes:
    import pyarrow as pa

    arrays = {}
    for name, column in columns.items():
        if isinstance(next(iter(column), None), bytes):
            column = [picture_address(content) for content in column]
        arrays[name] = pa.array(np.asarray(column), from_pandas=True)
    table, sink = pa.table(arrays), pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def picture_address(content: bytes) -> str:
    """Return where the browser finds a picture, a PNG: in a file, if it is large."""
    from attention_core.charts.chart import data_url

    return (address(content) if len(content) >= MIN_FILE else None) or data_url(content)


PAGE, PART = Field[list](APP, "pictures_of_the_page", list), Field[list](APP, "pictures_of_the_part", list)
"""What of pictures is noted: those of the whole page, with a list for each of its parts, and the list of one part."""
SUBJECT = Field(APP, "pictures_subject", "")
WIDTHS = {"as shown": None, "85 mm": 85.0, "176 mm": 176.0}
"""In print: a journal's column, and two with what lies between them."""
MAX_NAME = 120  # letters of a file's name


class Picture(NamedTuple):
    make: Callable[[], Chart]  # returns what was drawn, as a chart
    title: str  # what it shows
    name: str  # what its file is called after the page, such as "additive-attention-weights"


def file_name(*words: str) -> str:
    """Return the name of a file, without its ending: small letters, figures and hyphens."""
    plain = unicodedata.normalize("NFKD", " ".join(words).lower()).encode("ascii", "ignore").decode()
    parts = re.findall(r"[a-z0-9]+", plain)
    once = [part for part, before in zip(parts, ["", *parts], strict=False) if part != before or part.isdecimal()]
    return "-".join(once)[:MAX_NAME].strip("-")


def forget_pictures() -> None:
    """Begin with a page that has not drawn anything yet."""
    PAGE.value = PART.value = []
    SUBJECT.value = ""


def new_part() -> list:
    """Return a list for the pictures of a part that reruns alone."""
    part: list = []
    PART.value.append(part)
    return part


@contextmanager
def noted_in(part: list) -> Iterator[None]:
    """Note the pictures of a part anew, in its list."""
    part.clear()
    around = PART.value, SUBJECT.value
    PART.value = part
    try:
        yield
    finally:
        PART.value, SUBJECT.value = around


def set_picture_subject(subject: str) -> None:
    """Name the files of the pictures that follow in this part after what they are about, such as a model."""
    SUBJECT.value = subject


def note_picture(make: Callable[[], Chart], title: str, step: str = "") -> None:
    """Note a chart that the menu at the page's foot can save; a step of a trace is named by its step.

    What stands behind a semicolon in the title says what to do with it on the page, and not what it shows.
    """
    title, subject = title.partition(";")[0], SUBJECT.value
    picture = Picture(make, f"{title} ({subject})", file_name(subject, step)) if step else Picture(make, title, title)
    PART.value.append(picture)


def pictures() -> list[Picture]:
    """Return the pictures of the page, each under another name."""
    counts: Counter[str] = Counter()
    renamed = []
    for picture in _flat(PAGE.value):
        name = file_name(picture.name)
        counts[name] += 1
        renamed.append(picture._replace(name=name if counts[name] == 1 else f"{name}-{counts[name]}"))
    return renamed


def _flat(part: list) -> Iterator[Picture]:
    for item in part:
        if isinstance(item, Picture):
            yield item
        else:
            yield from _flat(item)


def save_pictures(page: str) -> None:
    """Offer every picture of a page (see PageEntry.name) as a figure; nothing is made before it is asked for."""
    from attention_core.charts.figure import FORMATS

    choices = pictures()
    if not choices:
        return
    short = [choice.title.split(": ")[0] for choice in choices]
    names = [name if short.count(name) == 1 else choice.title for name, choice in zip(short, choices, strict=True)]
    number = st.selectbox("Picture", range(len(choices)), format_func=names.__getitem__)
    width = st.segmented_control("Width", list(WIDTHS), default=next(iter(WIDTHS)), required=True)
    picture = choices[number]
    with st.container(horizontal=True, gap="small"):
        for form in FORMATS:
            st.download_button(
                form.upper(),
                partial(_figure, picture, form, WIDTHS[width]),
                f"{file_name(page, picture.name)}.{form}",
                on_click="ignore",
                key=f"pictures_{form}",
            )


def _figure(picture: Picture, form: str, width: float | None) -> bytes:
    from attention_core.charts.figure import figure

    return figure(picture.make(), form, title=picture.title, width=width)


MAX_BYTES = 96 * 2**20  # of all files together; the one that was used longest ago goes first
FOLDER = "pictures"
FILES = BoundedCache(MAX_BYTES, size=len)


def route() -> Route:
    """Return the way to the files; see ui.served."""
    return served.file_route(FOLDER, lambda name: file.value if (file := FILES.get(name)) else None)


def address(content: bytes, ending: str = "png") -> str | None:
    """Return where browsers find a file; None where no server answers, as in tests of pages without one."""
    if not served.IS_SERVED.is_set():
        return None
    name = f"{served.content_name(content)}.{ending}"
    if FILES.get(name) is None:
        FILES.put(name, content)
    return f"{FOLDER}/{name}"
