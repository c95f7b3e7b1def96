"""Positions that came from a picture, drawn as pictures; probabilities as bars."""

import json

import numpy as np
import pytest

from attention_core.charts import INK_RAMP, bars, contact_sheet, picture, probability_bars, weights_ramp
from tests.charts.tools import rows_of, rows_with

VALUES = np.arange(784.0).reshape(28, 28) / 784
RAMP = weights_ramp(784, 1.0)


def test_every_pixel_answers_the_mouse_with_its_place_and_value():
    rows = rows_with(picture(VALUES, RAMP, title="weight", select="pixel"), "position")
    assert len(rows) == 784
    row = rows[3 * 28 + 17]
    assert (row["position"], row["row"], row["column"]) == (101, 4, 18)
    assert row["value"] == pytest.approx(VALUES[3, 17])


def test_click_selects_a_position_only_where_it_was_asked_for():
    chosen = picture(VALUES, RAMP, select="pixel").to_dict()
    assert "pixel" in json.dumps(chosen["params"])
    assert "params" not in picture(VALUES, RAMP).to_dict()


def test_marked_pixel_is_framed_where_it_is():
    rows = [row for row in rows_of(picture(VALUES, RAMP, marked=101)) if row.get("left") == 17.5]
    assert rows[0]["top"] == 3.5


def test_outline_marks_the_ink():
    ink = np.zeros((28, 28))
    ink[5, 6:9] = 1
    spots = [row for row in rows_of(picture(VALUES, RAMP, outline=ink)) if row.get("top") == 5.5]
    assert [spot["left"] for spot in spots] == [6.5, 7.5, 8.5]


def test_picture_is_as_large_as_asked_and_keeps_its_proportions():
    spec = picture(np.zeros((10, 20)), INK_RAMP, size=200).to_dict()
    assert (spec["width"], spec["height"]) == (200, 100)


def test_contact_sheet_shows_every_dimension_with_its_name():
    pictures = np.random.default_rng(0).normal(size=(11, 28, 28))
    labels = [f"Q[:, {number}]" for number in range(11)]
    rows = rows_with(contact_sheet(pictures, labels, RAMP, columns=4, size=50, marked=30), "url")
    assert [row["label"] for row in rows] == labels
    assert len({(row["left"], row["top"]) for row in rows}) == 11
    assert len({row["left"] for row in rows}) == 4
    assert len({row["url"] for row in rows}) == 11


def test_bars_show_both_models_for_every_class():
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


def test_bars_need_one_label_per_value():
    with pytest.raises(ValueError, match="zip"):
        probability_bars({"one": [0.5, 0.5]}, ["0"])


def test_plain_bars_keep_the_order_given():
    spec = bars([3, -1], ["b", "a"], title="score", colour="#0072B2").to_dict()
    assert spec["encoding"]["y"]["sort"] == ["b", "a"]


def test_contact_sheet_of_wide_pictures_keeps_their_proportions():
    chart = contact_sheet(np.zeros((3, 12, 48)), list("abc"), RAMP, columns=2, size=96)
    row = rows_with(chart, "url")[0]
    assert (row["right"] - row["left"], row["bottom"] - row["top"]) == (96, 24)
