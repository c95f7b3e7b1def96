"""Words, weights between them, bars, planes and parts of a map as charts: what is in them, and where it lies."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from attention_core import Role
from attention_core.charts import figure
from attention_core.charts.bars import bar_table
from attention_core.charts.ramps import ROLE_COLOURS
from attention_core.charts.words import shade_ramp, shaded_words, text_width, word_weights
from pages.scoring.charts import BANDS, score_fields
from tests.support.charts import valid
from ui.chart import LECTURE_SCALE

PINK = "#CC79A7"
SOURCE, TARGET = ["The", "red", "car", "end"], ["La", "voiture", "end"]
WEIGHTS = np.array([[0.9, 0.05, 0.05, 0.0], [0.01, 0.09, 0.9, 0.0], [0.0, 0.0, 0.0, 1.0]])


def datasets(chart, column: str) -> list[list[dict]]:
    return [rows for rows in chart.to_dict()["datasets"].values() if rows and column in rows[0]]


@pytest.mark.parametrize("text", ["Ill will, it fits", "WWW MMM @ 100%", "Été à Málaga", "abcdefghijklmnopqrstuvwxyz"])
def test_a_text_is_as_long_as_the_letters_of_the_file_are(text):
    chart = shaded_words([text], [1.0], ["#ff0000"])
    picture = np.asarray(Image.open(io.BytesIO(figure(chart, "png"))).convert("RGB"), int)
    ink = np.flatnonzero((picture.sum(2) < 150).any(0))
    assert (ink[-1] - ink[0]) / 2 == pytest.approx(text_width(text), abs=3)


def test_weights_between_words_are_a_matrix_and_one_vector_is_its_only_column():
    chart = word_weights(SOURCE, TARGET, WEIGHTS.tolist(), 1, "")
    (cells,) = datasets(chart, "row_label")
    assert {(cell["row_label"], cell["col_label"]): cell["value"] for cell in cells} == {
        (word, key): WEIGHTS[row, col] for row, word in enumerate(TARGET) for col, key in enumerate(SOURCE)
    }
    assert b"one vector: 8 numbers" in figure(
        word_weights(SOURCE, TARGET, np.ones((3, 1)), -1, "one vector: 8 numbers"), "svg"
    )


def test_words_wrap_glued_ones_touch_and_the_strongest_shade_is_that_of_the_bar():
    chart = shaded_words(
        ["a", "b", "c" * 100], [0, 0.5, 1], [PINK] * 3, bar=(shade_ramp(PINK, 0.4), "weight"), glued=[0, 1, 0]
    )
    first, second, third = datasets(chart, "fill")[0]
    assert first["right"] == second["left"]
    assert third["left"] == first["left"]
    assert third["top"] > first["top"]
    assert (first["fill"], third["fill"]) == ("#ffffff", shade_ramp(PINK, 1).colours[1])


def test_bars_of_groups_stand_under_their_names_and_columns():
    chart = bar_table(
        ["a", "b", "a"], {"score": [2, -1, 3, 4, 5, 6], "weight": [1, 0, 0, 0, 1, 0]}, (PINK, "#111111"), ["one", "two"]
    )
    (bars,) = datasets(chart, "group")
    assert [(bar["group"], bar["place"], bar["number"]) for bar in bars if bar["column"] == "score"] == [
        ("one", 0, 2),
        ("one", 1, -1),
        ("one", 2, 3),
        ("two", 0, 4),
        ("two", 1, 5),
        ("two", 2, 6),
    ]
    said = figure(chart, "svg").decode()
    assert all(f">{word}<" in said for word in ("a", "b", "score", "weight", "one", "two"))


def test_a_field_has_its_bands_and_its_keys():
    field = np.linspace(-1, 1, 900).reshape(30, 30)
    chart = score_fields({"dot": field, "sum": field}, [1, 1], [[0, 2], [2, 0]], 2)
    (pictures,) = datasets(chart, "url")
    assert [(row["name"], row["ends"]) for row in pictures] == [("dot", "−1 to 1"), ("sum", "−1 to 1")]
    colours = Image.open(io.BytesIO(base64.b64decode(pictures[0]["url"].split(",")[1]))).convert("RGBA")
    assert len(colours.getcolors()) == BANDS
    hues = {colour[:3] for _, colour in colours.getcolors() if colour[3]}
    assert hues == {tuple(bytes.fromhex(ROLE_COLOURS[Role.SCORES][1:]))}, (
        "a key's yellow and a query's blue mean these alone"
    )


def test_words_of_charts_stand_apart_in_the_letters_of_a_lecture():
    fields = score_fields({"dot": np.eye(30)}, [1, 1], [[0, 2], [2, 0]], 2).to_dict()
    name, ends = (layer["mark"] for layer in fields["layer"] if layer["mark"]["type"] == "text")
    assert ends["dy"] - name["dy"] > LECTURE_SCALE * ends["fontSize"]


@pytest.mark.parametrize(("row", "words"), [(0, TARGET), (1, ["Un", "train", "fin"])])
def test_charts_of_words_follow_the_schema(row, words):
    valid(word_weights(SOURCE, words, WEIGHTS, row, ""))
    valid(shaded_words(words, [0.1 * row] * 3, [PINK] * 3, bar=(shade_ramp(PINK, 1 + row), "weight")))
    valid(bar_table(words, {"weight": [1, 2, 3 + row]}, [PINK]))
