"""Draws a chart of the core in the page: its spec, its data as Arrow, and its pictures as files of their own."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention_core.charts.design import Chart, Data, Spec, data_url
from ui.figures import note_picture
from ui.pictures import address
from ui.state import Field, selected

LEAST_FILE = 1500
"""Bytes of a picture from which the browser gets it as a file, once, however often its chart changes."""


def draw_chart(
    chart: Chart,
    *,
    alt: str,
    key: str | None = None,
    width: Literal["stretch", "content"] | None = None,
    on_select: Callable[[], Any] | Literal["rerun", "ignore"] = "ignore",
    selection_mode: str | None = None,
    step: str = "",
    on: DeltaGenerator = st._main,
) -> Any:
    """Draw a chart; all else is as st.vega_lite_chart has it, what is returned, too.

    What it shows is told by `alt` to those who do not see it. A step of a trace is named, for the name of its file. It
    is drawn in the container that is open unless `on` says in which.
    """
    note_picture(lambda: chart, alt, step)
    spec, data = chart.drawn()
    settled = _settled(spec, ("width", "height") if width == "content" else ("height",))
    return on.vega_lite_chart(
        None,
        spec | settled | {"datasets": {name: _arrow(columns) for name, columns in data.items()}},
        key=key,
        width=width,
        on_select=on_select,
        selection_mode=selection_mode,
        alt=alt,
    )


def click(key: str, selection: str, part: str, field: Field[Any]) -> dict[str, Any]:
    """Return what lets a click in a chart of this key set a field to a number of the selection, for draw_chart."""

    def take() -> None:
        for clicked in selected(key, selection):
            field.value = int(clicked[part])

    return {"key": key, "on_select": take, "selection_mode": selection}


def _settled(spec: Spec, sides: tuple[str, ...]) -> Spec:
    """Return what keeps Streamlit from changing a chart.

    It sets sides to those of the full screen, where ui.skeleton enlarges a chart as a whole; and it moves the first
    and the last name of an axis from the middle of what they name.
    """
    own = {side: spec[side] for side in sides if isinstance(spec.get(side), int | float)}
    kept = [
        {"name": side, "value": size, "on": [{"events": {"signal": side}, "update": f"min({side}, {size})"}]}
        for side, size in own.items()
    ]
    config = {"axisDiscrete": {"labelFlush": False}, **spec.get("config", {})}
    return {"params": [*spec.get("params", []), *kept], "config": config}


def _arrow(columns: Data) -> bytes:
    arrays = {}
    for column in columns:
        given = columns[column]
        if isinstance(next(iter(given), None), bytes):
            given = [_address(content) for content in given]
        values = np.asarray(given)
        arrays[column] = _coded(pa.array(_narrow(values), from_pandas=True))
    table, sink = pa.table(arrays), pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def _coded(column: pa.Array) -> pa.Array:
    """Return texts that come again and again as numbers, and each text once; all else as it is."""
    if not pa.types.is_string(column.type):
        return column
    coded = column.dictionary_encode()
    n_texts = len(coded.dictionary)
    if 2 * n_texts > len(column) or n_texts > np.iinfo(np.int16).max:
        return column
    return coded.cast(pa.dictionary(pa.int8() if n_texts <= np.iinfo(np.int8).max else pa.int16(), pa.string()))


def _narrow(values: np.ndarray) -> np.ndarray:
    """Return numbers in the fewest bytes that hold them exactly."""
    if not values.size or values.dtype.kind not in "iuf":
        return values
    if values.dtype.kind != "f":
        return values.astype(np.result_type(*map(np.min_scalar_type, (values.min(), values.max()))))
    with np.errstate(over="ignore"):
        small = values.astype(np.float32)
    return small if np.array_equal(small, values, equal_nan=True) else values


def _address(content: bytes) -> str:
    """Return where the browser finds a picture: in a file, if it is large."""
    return (address(content) if len(content) >= LEAST_FILE else None) or data_url(content)
