"""Figures: vector words, embedded letters, a title, a size that is stated, pictures once, nothing from a network."""

import io
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from PIL import Image

from attention_core import Axis
from attention_core.attention.types import Role
from attention_core.charts import COLUMN, figure
from attention_core.charts.bars import probability_bars
from attention_core.charts.chart import data_url
from attention_core.charts.matrix import matrix_chart
from attention_core.charts.overlay import overlay
from tests.support.charts import SVG, unpacked, words_of

ROWS, COLS = Axis("source words", ["the", "red", "überlang"]), Axis("target words", ["la", "voiture", "rouge", "."])
MATRIX = np.random.default_rng(0).random((3, 4))
TITLE = "Weights of three queries"


def heatmap():
    return matrix_chart(MATRIX, ROWS, COLS, Role.WEIGHTS, title="weight", marked_row=1)


def large():
    axis = Axis.numbered("places", 120)
    return matrix_chart(np.random.default_rng(0).random((120, 120)), axis, axis, Role.WEIGHTS, title="weight")


def over_a_picture():
    return overlay(np.full((48, 64, 3), 200, np.uint8), np.full((4, 6), 1 / 24), size=200)


CHARTS = {
    "heatmap": heatmap,
    "image": large,
    "overlay": over_a_picture,
    "bars": lambda: probability_bars({"one": [0.2, 0.8]}, ["a", "b"]),
}


@pytest.mark.parametrize("make", CHARTS.values(), ids=CHARTS)
def test_every_format_names_or_embeds_its_letters_and_states_the_width_asked_for(make):
    svg = figure(make(), "svg", title=TITLE)
    assert TITLE in words_of(svg)
    families = {text.get("font-family") for text in ET.fromstring(svg).iter(f"{SVG}text")}
    assert families == {"Liberation Sans, Arial, Helvetica, sans-serif"}
    inside = unpacked(figure(make(), "pdf", title=TITLE))
    assert re.search(rb"/BaseFont ?/[A-Z]{6}\+LiberationSans", inside)
    assert b"/FontFile2" in inside
    assert inside.count(b"/Subtype /Image") < 6
    root = ET.fromstring(figure(make(), "svg", width=COLUMN))
    assert root.get("width") == "85.00mm"
    across, down = map(float, root.get("viewBox").split()[2:])
    assert float(root.get("height").removesuffix("mm")) == pytest.approx(85 * down / across, abs=0.01)
    box = re.search(rb"/MediaBox ?\[0 0 ([\d.]+)", unpacked(figure(make(), "pdf", width=COLUMN)))
    assert float(box[1]) == pytest.approx(COLUMN / 25.4 * 72, abs=0.01)
    png = Image.open(io.BytesIO(figure(make(), "png", width=COLUMN)))
    assert png.size == (2 * across, 2 * down)
    assert png.width / png.info["dpi"][0] * 25.4 == pytest.approx(COLUMN, rel=0.01)


def test_svg_has_the_labels_the_numbers_and_the_colour_bar():
    said = words_of(figure(heatmap(), "svg", title=TITLE))
    assert {*ROWS.labels, *COLS.labels, "source words", "target words", "weight"} <= set(said)
    assert f"{MATRIX[0, 0]:.2f}" in said
    assert "1/4" in said


@pytest.mark.parametrize("make", [large, over_a_picture])
def test_a_picture_is_written_once_and_inside_the_file(make):
    svg = figure(make(), "svg")
    pictures = {part for columns in make().data.values() for name in columns for part in columns[name]}
    urls = [data_url(part) for part in pictures if isinstance(part, bytes)]
    assert urls
    assert [svg.count(url.encode()) for url in urls] == [1] * len(urls)


def test_png_shows_its_words():
    """Letters that are found nowhere would be left out without a word."""
    with_title, without = (
        np.asarray(Image.open(io.BytesIO(figure(heatmap(), "png", title=title))).convert("L"))
        for title in ("Weights", "")
    )
    head = with_title[: len(with_title) - len(without)]
    assert (head < 128).sum() > 100


def test_save_takes_the_format_from_the_files_name(tmp_path):
    for ending, begins in (("svg", b"<svg"), ("PDF", b"%PDF"), ("png", b"\x89PNG")):
        path = tmp_path / f"figure.{ending}"
        heatmap().save(path, title=TITLE)
        assert path.read_bytes().startswith(begins)
    with pytest.raises(ValueError, match="svg, pdf, png"):
        heatmap().save(tmp_path / "figure.gif")
