"""The specs of charts of matrices: positions, colours, masked cells, size; of pictures, bars and steps."""

import json
import re

import numpy as np
import pytest
import vl_convert

from attention_core import load
from attention_core.attention.steps import steps_of
from attention_core.attention.types import Axis, Role
from attention_core.charts import INK_RAMP, VIRIDIS, Ramp, ramp_for, signed_ramp, weights_ramp
from attention_core.charts.bars import bars, probability_bars
from attention_core.charts.chart import data_url
from attention_core.charts.layers import bar_data
from attention_core.charts.matrix import MAX_RECT_SIDE, matrix_chart
from attention_core.charts.pictures import contact_sheet, layered_picture, picture
from attention_core.charts.png import matrix_png, reduce_by_max
from attention_core.charts.ramps import DARK_COLOUR, DARK_INK_RAMP
from attention_core.charts.step import step_chart
from tests.support.charts import (
    bar_numbers,
    bar_of,
    bytes_sent,
    chart_of,
    decode_image,
    rows_of,
    rows_with,
    valid,
    vega_colours,
)
from ui import player

ROWS, COLS = Axis("queries", ["the", "cat", "the"]), Axis("keys", ["a", "b", "b", "a"])
MATRIX = np.array([[0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25], [0.7, 0.1, 0.1, 0.1]])


def find_all(spec, key):
    """Return all values of a key, at any depth of the spec."""
    if isinstance(spec, dict):
        values = [spec[key]] if key in spec else []
        return values + [value for nested in spec.values() for value in find_all(nested, key)]
    return [value for nested in spec for value in find_all(nested, key)] if isinstance(spec, list) else []


def large_matrix(n=784, seed=0):
    """Return weights that compress as badly as any: independent noise in every cell."""
    scores = np.random.default_rng(seed).normal(0, 1.5, (n, n))
    weights = np.exp(scores)
    return weights / weights.sum(1, keepdims=True)


def test_small_matrices_are_cells_at_positions_with_the_matrix_s_values():
    spec = matrix_chart(MATRIX, ROWS, COLS, Role.WEIGHTS).to_dict()
    rows = next(iter(spec["datasets"].values()))
    assert len(rows) == 12
    assert {(row["row"], row["col"]) for row in rows} == {(row, col) for row in range(3) for col in range(4)}
    assert {encoding["field"] for encoding in find_all(spec, "x")} == {"col"}
    assert {encoding["field"] for encoding in find_all(spec, "y")} == {"row"}
    labels = find_all(find_all(spec, "x"), "labelExpr")
    assert json.dumps(["a", "b", "b", "a"]) in labels[0]
    assert [row["value"] for row in rows] == pytest.approx(MATRIX.ravel().tolist())


@pytest.mark.parametrize("masked", [np.nan, -np.inf])
def test_masked_cells_are_marked_and_have_no_value(masked):
    matrix = MATRIX.copy()
    matrix[0, 2] = masked
    spec = matrix_chart(matrix, ROWS, COLS, Role.SCORES).to_dict()
    rows = next(iter(spec["datasets"].values()))
    (row,) = [row for row in rows if row["masked"]]
    assert (row["row"], row["col"]) == (0, 2)
    assert row["value"] is None
    assert any("masked" in json.dumps(condition) for condition in find_all(spec, "condition"))


def test_colour_domain_is_fixed_by_the_ramp_and_can_be_shared():
    ramp = Ramp(VIRIDIS, 0.0, 0.9)
    for matrix in (MATRIX, MATRIX / 3):
        spec = matrix_chart(matrix, ROWS, COLS, Role.WEIGHTS, ramp=ramp).to_dict()
        assert bar_numbers(spec) == [0.0, 0.9]
        assert list(VIRIDIS) in find_all(spec, "range")


def test_ramps_begin_at_zero_and_name_the_uniform_weight_and_a_scale_that_is_not_linear():
    assert ramp_for(Role.WEIGHTS, MATRIX, 4).low == 0
    signed = ramp_for(Role.SCORES, MATRIX - 0.5, 4)
    rising = ramp_for(Role.OUTPUT, MATRIX, 4)
    assert (rising.low, rising.colours) == (0, signed.colours[2:]), "above 0 an output has the colours of its factors"
    assert signed.low == -signed.high
    assert signed_ramp(np.zeros((2, 2))).high > 0
    ramp = weights_ramp(784, 0.2)
    assert ramp.reference == pytest.approx(1 / 784)
    assert ramp.reference_label == "1/784"
    assert ramp.position(np.array([1 / 784])) > 0.15  # not lost in the dark
    assert "1/784" in json.dumps(chart_of(large_matrix(80), ramp=ramp).to_dict())
    assert bar_of(weights_ramp(5), "weight")["legend"]["title"] == "weight"
    assert bar_of(weights_ramp(500), "weight")["legend"]["title"] == "weight, not linear"


def test_images_begin_above_the_largest_matrix_of_cells_and_have_at_most_600_kb():
    cells, image = (chart_of(large_matrix(n)).to_dict() for n in (MAX_RECT_SIDE, MAX_RECT_SIDE + 1))
    assert not find_all(cells, "url")
    assert find_all(image, "url")
    assert 100_000 < bytes_sent(chart_of(large_matrix(), size=500, marked_row=400).to_dict()) <= 600_000
    image = np.zeros((28, 28), np.float32)
    image[5:8, 8:20] = image[5:24, 16:19] = 1
    weights = load("pixel-classifier", "cpu").trace(image).weights(0).numpy()
    spec = chart_of(weights).to_dict()
    assert bytes_sent(spec) <= 600_000
    assert len(np.unique(decode_image(spec).reshape(-1, 4), axis=0)) > 50


def test_image_decodes_to_the_ramps_colours():
    matrix = large_matrix(100)
    ramp = weights_ramp(100, float(matrix.max()))
    pixels = decode_image(chart_of(matrix, ramp=ramp).to_dict())
    assert pixels.shape == (100, 100, 4)
    expected = ramp.lookup()[np.rint(ramp.position(matrix) * 255).astype(int)]
    assert np.abs(pixels.astype(int) - expected).max() <= 4  # the image has 255 steps of colour, the ramp 256


@pytest.mark.parametrize("ramp", [weights_ramp(784, 0.3), weights_ramp(4, 0.9), signed_ramp(MATRIX - 0.3)])
def test_colour_bar_and_image_agree_on_every_value(ramp):
    """The image is painted by Ramp.position, cells and the colour bar by Vega's scale: both give the same colours."""
    values = np.linspace(ramp.low, ramp.high, 101)
    scale = bar_of(ramp)["scale"] | {"domain": [ramp.low, ramp.high], "exponent": ramp.exponent}
    painted = ramp.lookup()[np.rint(ramp.position(values) * 255).astype(int)]
    assert np.abs(vega_colours(scale, values) - painted).max() < 4


@pytest.mark.parametrize("masked", [np.nan, -np.inf])
def test_masked_cells_of_an_image_are_translucent_grey_and_no_other_cell_is(masked):
    matrix = large_matrix(80)
    matrix[:, 40:] = masked
    spec = chart_of(matrix, Role.SCORES).to_dict()
    pixels = decode_image(spec)
    (grey,) = {tuple(pixel) for pixel in pixels[:, 40:].reshape(-1, 4)}
    assert 0 < grey[3] < 128
    assert grey not in {tuple(pixel) for pixel in pixels[:, :40].reshape(-1, 4)}
    json.dumps(spec, allow_nan=False)


def test_image_has_real_axes_that_pan_and_zoom_and_crisp_pixels():
    spec = chart_of(large_matrix(100)).to_dict()
    assert [0, 100] in find_all(spec, "domain")
    assert [100, 0] in find_all(spec, "domain")
    assert {"queries", "keys"} <= {title for title in find_all(spec, "title") if isinstance(title, str)}
    image = next(mark for mark in find_all(spec, "mark") if mark["type"] == "image")
    assert image["smooth"] is False
    assert image["aria"] is False  # else the whole picture is copied into a label
    assert any(param.get("bind") == "scales" for params in find_all(spec, "params") for param in params)


def test_blocks_of_an_image_tell_mean_and_largest_value_and_the_marked_row_its_numbers():
    matrix = np.zeros((80, 80))
    matrix[3, 70] = 5
    rows = next(rows for rows in chart_of(matrix).to_dict()["datasets"].values() if "largest" in rows[0])
    block = next(row for row in rows if row["largest"] == 5)
    assert (block["rows"], block["cols"]) == ("3 to 4", "71 to 72")
    assert block["mean"] == pytest.approx(5 / 4)
    assert len(rows) == 40 * 40
    matrix = large_matrix()
    data = chart_of(matrix, select="cell", marked_row=7).data
    assert next(iter(data)) == "row", "what the browser shows as the chart's data"
    assert data["row"]["value"].tolist() == matrix[7].tolist()
    assert sorted({*data["blocks"]["row"].tolist()}) == list(range(784))
    assert data["blocks"]["largest"] == pytest.approx(matrix.max(1), abs=1e-6)


@pytest.mark.parametrize("n", [4, 100])
def test_a_tooltip_tells_rows_and_columns_of_one_name_apart(n):
    axis = Axis.numbered("words", n)
    spec = matrix_chart(np.eye(n), axis, axis, Role.WEIGHTS, select="cell").to_dict()
    titles = {field["title"] for fields in find_all(spec, "tooltip") if isinstance(fields, list) for field in fields}
    assert {"words, row", "words, column"} <= titles
    assert [param["name"] for param in spec["params"]][-1] == "cell"


def test_very_large_matrix_is_reduced_without_losing_its_brightest_cell():
    matrix = np.zeros((2500, 1800))
    matrix[1234, 567] = 1
    small = reduce_by_max(matrix)
    assert small.shape == (834, 600)
    assert small[1234 // 3, 567 // 3] == 1
    assert small.sum() == 1


def test_marked_rows_and_numbers_are_drawn_where_there_is_room():
    for matrix in (MATRIX, large_matrix(100)):
        plain, marked = (chart_of(matrix, marked_row=row).to_dict() for row in (None, 2))
        assert len(marked["layer"]) > len(plain["layer"])
        assert "#0072B2" in json.dumps(marked)
    assert any(mark["type"] == "text" for mark in find_all(chart_of(MATRIX).to_dict(), "mark"))
    assert not any(mark["type"] == "text" for mark in find_all(chart_of(large_matrix(40)).to_dict(), "mark"))
    opaque = chart_of(MATRIX, ramp=Ramp(VIRIDIS, 0.0, 1.0)).to_dict()
    contrast = re.findall(f"#ffffff|{DARK_COLOUR}", json.dumps(opaque))
    assert set(contrast) == {"#ffffff", DARK_COLOUR}


def test_charts_are_as_large_as_asked_and_refuse_axes_that_do_not_fit():
    with pytest.raises(ValueError, match=r"matrix \(3, 4\) does not fit axes of 4 and 3"):
        matrix_chart(MATRIX, COLS, ROWS, Role.WEIGHTS)
    spec = chart_of(large_matrix(100), size=480).to_dict()
    assert (spec["width"], spec["height"]) == (480, 480)
    thin = chart_of(np.ones((784, 2)), size=480).to_dict()
    assert thin["height"] == 480
    assert 40 <= thin["width"] < 480
    spec = picture(np.zeros((10, 20)), INK_RAMP, size=200).to_dict()
    assert (spec["width"], spec["height"]) == (200, 100)


@pytest.mark.parametrize("matrix", [np.zeros((70, 70)), np.full((70, 70), 0.5), np.full((3, 3), np.nan)])
def test_constant_and_fully_masked_matrices_are_drawn(matrix):
    json.dumps(chart_of(matrix).to_dict(), allow_nan=False)
    assert matrix_png(matrix, ramp_for(Role.WEIGHTS, matrix, len(matrix))).startswith(b"\x89PNG")


def test_a_matrix_without_cells_is_refused():
    with pytest.raises(ValueError, match="must have a cell"):
        chart_of(np.zeros((0, 0)))


@pytest.mark.parametrize("shape", [(2, 3), (12, 12), (30, 33)])
def test_colour_bar_of_a_small_matrix_ends_at_its_largest_cell(shape):
    matrix = np.random.default_rng(1).normal(size=shape)
    ramp = signed_ramp(matrix)
    assert ramp.high == np.abs(matrix).max()
    assert {*bar_data(ramp)["sign"]} == {"="}
    assert bar_of(ramp, "score")["legend"]["title"] == "score"


def test_colour_bar_says_where_values_lie_beyond_its_end():
    matrix = np.random.default_rng(1).normal(size=(100, 100))
    ramp = signed_ramp(matrix)
    assert ramp.high in np.abs(matrix)
    assert 0 < (np.abs(matrix) > ramp.high).sum() <= 10
    assert bar_data(ramp)["sign"] == ["<", "=", ">"]


def test_other_numbers_leave_the_spec_of_a_picture_as_it_is():
    values = np.linspace(-1, 1, 9).reshape(3, 3)
    chart, scaled = (picture(numbers, signed_ramp(numbers), title="score") for numbers in (values, 3 * values))
    assert chart.spec == scaled.spec
    assert list(chart.data["bar"]["number"]) == [-1, 0, 1]
    assert list(scaled.data["bar"]["number"]) == [-3, 0, 3]


def test_short_side_of_an_image_is_named_and_the_chosen_row_framed():
    words = Axis("words", [f"word {i}" for i in range(11)])
    chart = matrix_chart(np.ones((11, 192)), words, Axis.numbered("dimensions", 192), Role.QUERY, marked_row=2)
    spec = chart.to_dict()
    svg = vl_convert.vegalite_to_svg(chart.to_dict())
    assert sorted(text for text in re.findall(r">([^<]+)<", svg) if "word " in text) == sorted(words.labels)
    frame = next(rows for rows in spec["datasets"].values() if set(rows[0]) == {"top", "bottom"})
    assert frame == [{"top": 2, "bottom": 3}]
    blocks = next(rows for rows in spec["datasets"].values() if "largest" in rows[0])
    assert (blocks[0]["rows"], blocks[0]["cols"]) == ("word 0", "1 to 5")


PICTURE = np.arange(784.0).reshape(28, 28) / 784
PICTURE_RAMP = weights_ramp(784, 1.0)


def test_every_pixel_answers_the_mouse_and_marks_and_outlines_lie_where_they_belong():
    rows = rows_with(picture(PICTURE, PICTURE_RAMP, title="weight"), "position")
    assert len(rows) == 784
    row = rows[3 * 28 + 17]
    assert (row["position"], row["row"], row["column"]) == (101, 4, 18)
    numbers = rows_with(picture(PICTURE, PICTURE_RAMP, title="weight"), "weight")
    assert numbers[row["position"]]["weight"] == pytest.approx(PICTURE[3, 17])
    rows = [row for row in rows_of(picture(PICTURE, PICTURE_RAMP, marked=101)) if row.get("left") == 17.5]
    assert rows[0]["top"] == 3.5
    ink = np.zeros((28, 28))
    ink[5, 6:9] = 1
    rows = [row for row in rows_of(picture(PICTURE, PICTURE_RAMP, outline=ink)) if row.get("top") == 5.5]
    assert [row["left"] for row in rows] == [6.5, 7.5, 8.5]


def test_contact_sheets_name_every_dimension_and_keep_proportions():
    pictures = np.random.default_rng(0).normal(size=(11, 28, 28))
    labels = [f"Q[:, {number}]" for number in range(11)]
    rows = rows_with(contact_sheet(pictures, labels, PICTURE_RAMP, columns=4, size=50, marked=30), "url")
    assert [row["label"] for row in rows] == labels
    assert len({(row["left"], row["top"]) for row in rows}) == 11
    assert len({row["left"] for row in rows}) == 4
    assert len({row["url"] for row in rows}) == 11
    chart = contact_sheet(np.zeros((3, 12, 48)), list("abc"), PICTURE_RAMP, columns=2, size=96)
    row = rows_with(chart, "url")[0]
    assert (row["right"] - row["left"], row["bottom"] - row["top"]) == (96, 24)


def test_bars_show_every_class_in_the_given_order_and_need_one_label_per_value():
    series = {"attention": [0.1, 0.9], "feed-forward": [0.5, 0.5]}
    spec = probability_bars(series, ["0", "1"]).to_dict()
    rows = next(iter(spec["datasets"].values()))
    assert [(row["model"], row["class"], row["probability"]) for row in rows] == [
        ("attention", "0", 0.1),
        ("attention", "1", 0.9),
        ("feed-forward", "0", 0.5),
        ("feed-forward", "1", 0.5),
    ]
    assert spec["encoding"]["y"]["scale"]["domain"] == [0, 1]
    with pytest.raises(ValueError, match="zip"):
        probability_bars({"one": [0.5, 0.5]}, ["0"])
    spec = bars([3, -1], ["b", "a"], title="score", colour="#0072B2").to_dict()
    assert spec["encoding"]["y"]["sort"] == ["b", "a"]


@pytest.mark.parametrize(("labels", "marked"), [((), None), (("a", "b"), 4)])
def test_layers_of_a_picture_lie_over_one_another_the_top_one_first(labels, marked):
    below, above = (matrix_png(np.full((2, 3), share), Ramp(VIRIDIS, 0, 1)) for share in (0.1, 0.9))
    spec = valid(layered_picture([above, below], (2, 3), (300, 200), row_labels=labels, marked=marked))
    (row,) = spec["datasets"]["image"]
    images = [row[layer["encoding"]["url"]["field"]] for layer in spec["layer"] if layer["mark"]["type"] == "image"]
    assert images == [data_url(below), data_url(above)]
    assert ("marked" in spec["datasets"]) == (marked is not None)


@pytest.fixture(scope="module")
def steps():
    trace = load("pixel-classifier", "cpu").trace(np.eye(28))
    return {step.name: step for step in steps_of(trace)}


def stable_spec(chart):
    """Return the spec without the numbers that Altair appends to names."""
    return json.loads(re.sub(r"(view|param)_\w+", r"\1", json.dumps(chart.to_dict())))


@pytest.mark.parametrize("query", [None, 406])
def test_notebook_and_saved_picture_are_the_same(steps, monkeypatch, query):
    saved = []
    monkeypatch.setattr("ui.player.picture.note_picture", lambda build, *texts: saved.append(build()))
    monkeypatch.setattr("ui.player.picture._moving_step", lambda **arguments: None)
    options = player.StepStyle(query, size=330)
    for step in steps.values():
        player.show_step_picture(load("pixel-classifier", "cpu").trace(np.eye(28)), step, 0, options, "page")
        assert stable_spec(step_chart(step, query=query, size=330)) == stable_spec(saved[-1]), step.name
    chart, small_chart = (step_chart(steps["weights"], query=3, **size) for size in ({}, {"size": 330}))
    assert stable_spec(chart) != stable_spec(small_chart)


def test_step_charts_have_the_form_columns_ink_and_reach_that_were_asked_for(steps):
    for name, size in {"pixels": (380, 380), "query": (484, 548), "weights": (500, 500), "class": (440, 260)}.items():
        spec = step_chart(steps[name]).to_dict()
        assert (spec["width"], spec["height"]) == size
    assert step_chart(steps["class"]).to_dict()["mark"]["type"] == "bar"
    pictures = step_chart(steps["query"]).to_dict()
    assert [len(rows) for rows in pictures["datasets"].values() if "url" in rows[0]] == [16]  # one per dimension
    chart = step_chart(steps["query"], columns=[0, 3])
    assert [len(rows) for rows in chart.to_dict()["datasets"].values() if "url" in rows[0]] == [2]
    with pytest.warns(DeprecationWarning, match="columns"):
        assert stable_spec(step_chart(steps["query"], shown=[0, 3])) == stable_spec(chart)
    light, dark = (stable_spec(step_chart(steps["pixels"], ink=ink)) for ink in (INK_RAMP, DARK_INK_RAMP))
    assert light != dark
    assert dark["layer"][2]["encoding"]["color"]["scale"]["range"] == list(DARK_INK_RAMP.colours)
    plain, wide = (stable_spec(step_chart(steps["scores"], reach=reach)) for reach in (0.0, 1e3))
    assert 1000 not in bar_numbers(plain)
    assert bar_numbers(wide) == [-1000, 0, 1000]
