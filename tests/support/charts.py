"""What tests ask of charts: their spec, held against Vega-Lite's schema, and the rows of their data."""

import base64
import io
import json
import re
import xml.etree.ElementTree as ET
import zlib

import altair as alt
import numpy as np
import pyarrow as pa
from PIL import Image

from attention_core.attention.types import Axis, Role
from attention_core.charts.layers import Bar, bar_layer
from attention_core.charts.matrix import matrix_chart


def valid(chart) -> dict:
    """Return the spec, held against Vega-Lite's schema."""
    spec = chart.to_dict()
    (alt.LayerChart if "layer" in spec else alt.Chart).from_dict(spec, validate=True)
    return spec


def rows_of(chart) -> list[dict]:
    """Return all rows of all data sets of a chart."""
    return [row for rows in chart.to_dict()["datasets"].values() for row in rows]


def rows_with(chart, *fields: str) -> list[dict]:
    """Return the rows of the first data set with these fields; none if there is no such set."""
    datasets = chart.to_dict()["datasets"].values()
    return next((rows for rows in datasets if rows and set(fields) <= set(rows[0])), [])


def bar_of(ramp, title=""):
    """Return the encoding of colour in a ramp's colour bar."""
    return bar_layer(Bar.of(ramp, title, 100)).to_dict()["encoding"]["color"]


def chart_of(matrix, role=Role.WEIGHTS, **options):
    axes = [Axis.numbered(name, n) for name, n in zip(("queries", "keys"), matrix.shape, strict=True)]
    return matrix_chart(matrix, *axes, role, title="weight", **options)


def bytes_sent(spec) -> int:
    """Return what Streamlit sends: the spec as JSON, its tables as Arrow."""
    tables = [pa.Table.from_pylist(rows) for rows in spec["datasets"].values()]
    without_data = {key: value for key, value in spec.items() if key != "datasets"}
    sink = pa.BufferOutputStream()
    for table in tables:
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
    return sink.getvalue().size + len(json.dumps(without_data))


def decode_image(spec) -> np.ndarray:
    """Return the pixels of the spec's first image, (height, width, RGBA)."""
    url = next(row["url"] for rows in spec["datasets"].values() for row in rows if "url" in row)
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(url.split(",")[1]))).convert("RGBA"))


def vega_colours(scale: dict, values: np.ndarray) -> np.ndarray:
    """Paint as Vega does: clamp, raise to the power, then interpolate the colours evenly spread over the domain."""
    low, high = scale["domain"]
    exponent = scale.get("exponent", 1)
    power = np.sign(values) * np.abs(values) ** exponent
    ends = np.sign([low, high]) * np.abs([low, high]) ** exponent
    share = np.clip((power - ends[0]) / (ends[1] - ends[0]), 0, 1)
    colours = np.array([[int(f"{colour}ff"[i : i + 2], 16) for i in (1, 3, 5, 7)] for colour in scale["range"]])
    positions = share * (len(colours) - 1)
    return np.stack([np.interp(positions, np.arange(len(colours)), colours[:, i]) for i in range(4)], -1)


def bar_numbers(spec: dict) -> list[float]:
    """Return the numbers written below the colour bar."""
    rows = next(rows for rows in spec["datasets"].values() if "number" in rows[0])
    return [row["number"] for row in rows]


SVG = "{http://www.w3.org/2000/svg}"


def words_of(svg: bytes) -> list[str]:
    return [text.text or "" for text in ET.fromstring(svg).iter(f"{SVG}text")]


def unpacked(pdf: bytes) -> bytes:
    """Return what a PDF holds, its compressed parts opened."""
    parts = [pdf]
    for part in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.S):
        try:
            parts.append(zlib.decompress(part))
        except zlib.error:  # a letter's outlines
            continue
    return b"\n".join(parts)
