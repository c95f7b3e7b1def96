"""Draw charts and pictures on a page, and note each, so that a visitor can save it as a figure.

Data are sent as Arrow. A large picture is one file for all visitors, which a browser fetches once.
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

MIN_FILE_BYTES = 1500
"""From which on a picture is a file, fetched once however often its chart changes."""
LECTURE_SCALE, MIN_FONT_SIZE = 1.4, 12
"""In a lecture: how many times larger letters of charts are, and the pixels to which smaller ones are raised before."""
MAX_GROWN_HEIGHT = 340
"""Pixels to which a lower chart may grow in a lecture, so that larger letters leave room for its plot."""
GUIDES = ("axis", "header", "legend")  # what Vega-Lite writes around a plot
_layered_picture = component("layers")


def draw_chart(
    chart: Chart,
    *,
    alt: str,
    key: str | None = None,
    width: Literal["stretch", "content"] | None = None,
    on_select: Callable[[], Any] | Literal["rerun", "ignore"] = "ignore",
    selection_mode: str | list[str] | None = None,
    container: DeltaGenerator | None = None,
    step: str = "",
) -> Any:
    """Draw a chart in a container, None = the open one; `alt` describes it for screen readers.

    For `step` see note_picture; the other arguments and the result are those of st.vega_lite_chart.
    """
    note_picture(lambda: chart, alt, step)
    spec = deepcopy(chart.spec)  # which Streamlit changes
    if LECTURE.value:
        spec = _for_lecture(spec)
    sides = ("width", "height") if width == "content" else ("height",)
    spec, row = with_row(spec | _streamlit_overrides(spec, sides))
    return (container or st).vega_lite_chart(
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
    row_height: int | None = None,
    row_labels: Sequence[str] = (),
    smooth: bool = False,
    axis: str = "",
    tooltip: str = "",
    chosen: int | None = None,
    on_choose: Callable[[int], object] | None = None,
) -> None:
    """Draw PNGs over one another, the top one first, `size` pixels wide: much quicker than a chart of them.

    The values, (rows, columns), are those of their cells; the tooltip has a cell's value in place of {}. Rows of a set
    height have gaps between them, and row labels in the file that is saved. The cell under the pointer is lit as a
    position of the axis, the chosen one has a frame, and on_choose is called with the index of the clicked one.
    """
    rows, columns = values.shape

    def build_chart() -> Chart:
        from attention_core.charts.pictures import layered_picture

        height = rows * row_height if row_height else round(size * rows / columns)
        sides, shape = (size, height), values.shape
        return layered_picture(layers, shape, sides, row_labels=row_labels, smooth=smooth, marked=chosen)

    def on_click() -> None:
        cell = (component_message(key, "chosen") or {}).get("cell")
        if on_choose and type(cell) is int and 0 <= cell < rows * columns:
            on_choose(cell)

    note_picture(build_chart, alt)
    data = {"rows": rows, "columns": columns, "size": size, "row": row_height, "smooth": smooth, "about": alt}
    data |= {"layers": [*map(picture_address, layers)], "axis": axis, "tells": tooltip}
    data |= {"chosen": chosen, "takes": on_choose is not None}
    data["numbers"] = [float(f"{value:.3g}") for value in values.ravel()] if tooltip else []
    _layered_picture(key=key, data=data, default={"chosen": None}, on_chosen_change=on_click)


def draw_map(
    weights: np.ndarray,
    picture: np.ndarray,
    key: str,
    alt: str,
    *,
    size: int,
    high: float | None = None,
    smooth: bool = True,
    axis: str = "regions",
    tooltip: str = "weight {}%",
    **choice: Any,
) -> None:
    """Draw a map of weights (rows, columns) over a picture, where those from `high` on look alike; see draw_layers."""
    from attention_core.charts.overlay import glow_ramp, image_png, map_png

    ramp = glow_ramp(weights.size, float(weights.max()) if high is None else high)
    layers = [map_png(weights, ramp, smooth, 0.85 if smooth else 1), image_png(picture)]
    draw_layers(layers, 100 * weights, key, alt, size=size, smooth=smooth, axis=axis, tooltip=tooltip, **choice)


def clickable(key: str, selection: str, on_click: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """Return arguments of draw_chart that call on_click with the selection's fields of each clicked mark."""

    def on_select() -> None:
        for clicked in chart_selection(key, selection):
            on_click(clicked)

    return {"key": key, "on_select": on_select, "selection_mode": selection}


def _streamlit_overrides(spec: Spec, sides: tuple[str, ...]) -> Spec:
    """Return entries of a spec that undo what Streamlit does to a chart.

    In full screen, it stretches sides to the screen, but page.css enlarges a chart in all its proportions; and it moves
    the first and last label of an axis away from their ticks.
    """
    sizes = {side: spec[side] for side in sides if isinstance(spec.get(side), int | float)}
    params = [
        {"name": side, "value": size, "on": [{"events": {"signal": side}, "update": f"min({side}, {size})"}]}
        for side, size in sizes.items()
    ]
    no_flush = {"labelFlush": False}
    config = {"axisDiscrete": no_flush, "axisQuantitative": no_flush, **spec.get("config", {})}
    return {"params": [*spec.get("params", []), *params], "config": config}


def _for_lecture(spec: Spec) -> Spec:
    """Return a chart's spec with larger letters, and higher if they would leave too little for the plot."""
    from attention_core.charts.figure import THEME

    defaults = {
        guide: {name: size for name, size in THEME[guide].items() if name.endswith(("FontSize", "Limit"))}
        for guide in GUIDES
    }
    defaults["text"] = {"fontSize": MIN_FONT_SIZE}
    defaults["legend"] |= {"columns": 1}
    config = spec.get("config", {})
    config = config | {guide: sizes | config.get(guide, {}) for guide, sizes in defaults.items()}
    height, spec = spec.get("height"), spec | {"config": config}
    if isinstance(height, int | float) and height < MAX_GROWN_HEIGHT and "autosize" not in spec:
        spec["height"] = min(LECTURE_SCALE**2 * height, MAX_GROWN_HEIGHT)
    return _enlarged(spec)


def _enlarged(value: Any, name: str = "") -> Any:
    """Return a copy of a spec with larger letters, and texts cut at greater lengths; expressions stay as they are."""
    if isinstance(value, list):
        return [_enlarged(child) for child in value]
    if isinstance(value, dict):
        return {child_name: _enlarged(child, child_name) for child_name, child in value.items()}
    is_length = isinstance(value, int | float) and name.lower().endswith(("fontsize", "labellimit"))
    return LECTURE_SCALE * max(value, MIN_FONT_SIZE) if is_length else value


def _arrow(columns: Columns) -> bytes:
    """Return a table as an Arrow stream, with the addresses of pictures in their place."""
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
    """Return the URL of a picture, a PNG: of a file if it is large, else one that holds it."""
    from attention_core.charts.chart import data_url

    return (file_address(content) if len(content) >= MIN_FILE_BYTES else None) or data_url(content)


PAGE_PICTURES = Field[list](APP, "pictures_of_the_page", list)
"""The pictures that are noted of the page; those of a fragment are a list among them."""
OPEN_PICTURES = Field[list](APP, "pictures_of_the_part", list)
"""The list to which pictures are added: the page's, or that of the fragment that is being drawn."""
PICTURE_SUBJECT = Field(APP, "pictures_subject", "")  # see set_picture_subject
PRINT_WIDTHS = {"as shown": None, "85 mm": 85.0, "176 mm": 176.0}
"""In print: a journal's column, and two columns with the gap between them."""
MAX_NAME_LETTERS = 120


class Picture(NamedTuple):
    build: Callable[[], Chart]  # returns what was drawn, as a chart
    title: str  # what it shows
    name: str  # of its file, after the page's name, such as "additive-attention-weights"


def file_name(*words: str) -> str:
    """Return the name of a file, without its ending: lower-case words and numbers with hyphens, no word doubled."""
    plain = unicodedata.normalize("NFKD", " ".join(words).lower()).encode("ascii", "ignore").decode()
    terms = re.findall(r"[a-z0-9]+", plain)
    distinct = [word for before, word in zip(["", *terms], terms, strict=False) if word != before or word.isdecimal()]
    return "-".join(distinct)[:MAX_NAME_LETTERS].strip("-")


def forget_pictures() -> None:
    """Forget the noted pictures, before a page is drawn."""
    PAGE_PICTURES.value = OPEN_PICTURES.value = []
    PICTURE_SUBJECT.value = ""


def new_picture_list() -> list:
    """Return a list for the pictures of a fragment, which is in the open list from now on."""
    fragment_pictures: list = []
    OPEN_PICTURES.value.append(fragment_pictures)
    return fragment_pictures


@contextmanager
def noting_pictures_in(fragment_pictures: list) -> Iterator[None]:
    """Note the pictures of a fragment, in its list, in place of those of its last run."""
    fragment_pictures.clear()
    outer = OPEN_PICTURES.value, PICTURE_SUBJECT.value
    OPEN_PICTURES.value = fragment_pictures
    try:
        yield
    finally:
        OPEN_PICTURES.value, PICTURE_SUBJECT.value = outer


def set_picture_subject(subject: str) -> None:
    """Set what the steps drawn next in this fragment are of, such as a model: it is in their titles and file names."""
    PICTURE_SUBJECT.value = subject


def note_picture(build: Callable[[], Chart], title: str, step: str = "") -> None:
    """Note a chart, which the menu at the page's foot can save; that of a step is named after its subject and step.

    A title's text from a semicolon on is for the page alone: it says what to do with the chart.
    """
    title, subject = title.partition(";")[0], PICTURE_SUBJECT.value
    full_title = f"{title} ({subject})" if step and subject else title
    picture = Picture(build, full_title, file_name(subject, step) if step else title)
    OPEN_PICTURES.value.append(picture)


def noted_pictures() -> list[Picture]:
    """Return the noted pictures of the page, each with a unique name."""
    counts: Counter[str] = Counter()
    renamed = []
    for picture in _flat(PAGE_PICTURES.value):
        name = file_name(picture.name)
        counts[name] += 1
        renamed.append(picture._replace(name=name if counts[name] == 1 else f"{name}-{counts[name]}"))
    return renamed


def _flat(noted: list) -> Iterator[Picture]:
    for item in noted:
        if isinstance(item, Picture):
            yield item
        else:
            yield from _flat(item)


def save_pictures(page: str) -> None:
    """Draw the widgets that save a picture of a page (see PageEntry.name) as a figure, which is made on demand."""
    from attention_core.charts.figure import FORMATS

    choices = noted_pictures()
    if not choices:
        return
    short = [choice.title.split(": ")[0] for choice in choices]
    labels = [label if short.count(label) == 1 else choice.title for label, choice in zip(short, choices, strict=True)]
    index = st.selectbox("Picture", range(len(choices)), format_func=labels.__getitem__)
    width = st.segmented_control("Width", list(PRINT_WIDTHS), default=next(iter(PRINT_WIDTHS)), required=True)
    picture = choices[index]
    with st.container(horizontal=True, gap="small"):
        for file_format in FORMATS:
            st.download_button(
                file_format.upper(),
                partial(_figure, picture, file_format, PRINT_WIDTHS[width]),
                f"{file_name(page, picture.name)}.{file_format}",
                on_click="ignore",
                key=f"pictures_{file_format}",
            )


def _figure(picture: Picture, file_format: str, width: float | None) -> bytes:
    from attention_core.charts.figure import figure

    return figure(picture.build(), file_format, title=picture.title, width=width)


MAX_FILES_BYTES = 96 * 2**20  # of all files together; the least recently used are dropped
FOLDER = "pictures"
FILES = BoundedCache(MAX_FILES_BYTES, size=len)


def route() -> Route:
    """Return the route to the files, see ui.served."""
    return served.file_route(FOLDER, lambda name: file.value if (file := FILES.get(name)) else None)


def file_address(content: bytes, ending: str = "png") -> str | None:
    """Return the URL of a file with this content; None if no server runs, as in tests of pages."""
    if not served.IS_SERVED.is_set():
        return None
    name = f"{served.content_name(content)}.{ending}"
    if FILES.get(name) is None:
        FILES.put(name, content)
    return f"{FOLDER}/{name}"
