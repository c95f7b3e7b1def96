"""Words, arcs, tables of bars, planes and parts of a map as charts: what is in them, and where it lies."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from attention_core.charts import figure
from attention_core.charts.words import FAINTEST, Bars, bar_table, shade_ramp, shaded_words, text_width, word_arcs
from attention_core.topics.scoring.charts import BANDS, score_fields
from tests.charts.tools import valid

PINK = "#CC79A7"
SOURCE, TARGET = ["The", "red", "car", "end"], ["La", "voiture", "end"]
WEIGHTS = np.array([[0.9, 0.05, 0.05, 0.0], [0.01, 0.09, 0.9, 0.0], [0.0, 0.0, 0.0, 1.0]])


def datasets(chart, column: str) -> list[list[dict]]:
    return [rows for rows in chart.to_dict()["datasets"].values() if rows and column in rows[0]]


@pytest.mark.parametrize("text", ["Ill will, it fits", "WWW MMM @ 100%", "Été à Málaga", "abcdefghijklmnopqrstuvwxyz"])
def test_a_text_is_as_long_as_the_letters_of_the_file_are(text):
    chart = shaded_words([text], [1.0], "#ff0000")
    picture = np.asarray(Image.open(io.BytesIO(figure(chart, "png"))).convert("RGB"), int)
    ink = np.flatnonzero((picture.sum(2) < 150).any(0))
    assert (ink[-1] - ink[0]) / 2 == pytest.approx(text_width(text), abs=3)


def test_every_weight_that_counts_has_an_arc_and_the_chosen_rows_shares_are_told():
    chart = word_arcs(SOURCE, TARGET, WEIGHTS, 1)
    (points,) = datasets(chart, "arc")
    assert len({point["arc"] for point in points}) == (WEIGHTS >= FAINTEST).sum()
    texts = [row["text"] for rows in datasets(chart, "text") for row in rows]
    assert {*SOURCE, *TARGET, "1%", "9%", "90%", "·"} == set(texts)


def test_arcs_end_at_their_words():
    for down in (False, True):
        chart = word_arcs(SOURCE, TARGET, WEIGHTS, 0, down=down)
        words = {row["text"]: row for rows in datasets(chart, "fill") for row in rows if row["text"] != "end"}
        points = datasets(chart, "arc")[0]
        last = [point for point in points if point["at"] == max(one["at"] for one in points)]
        ends = {(point["left"], point["top"]) for point in last}
        spot = ("right", "y") if down else ("x", "top")
        for word in TARGET[:2]:
            assert any(np.allclose(end, [words[word][side] for side in spot], atol=0.06) for end in ends)


def test_one_vector_stands_between_the_words():
    chart = word_arcs(SOURCE, TARGET, np.ones((3, 1)), 1, single="one vector: 8 numbers")
    (points,) = datasets(chart, "arc")
    assert len({point["arc"] for point in points}) == len(SOURCE) + len(TARGET)
    assert b"one vector: 8 numbers" in figure(chart, "svg")


def test_words_wrap_glued_ones_touch_and_the_strongest_shade_is_that_of_the_bar():
    chart = shaded_words(
        ["a", "b", "c" * 100], [0, 0.5, 1], PINK, bar=(shade_ramp(PINK, 0.4), "weight"), glued=[0, 1, 0]
    )
    first, second, third = datasets(chart, "fill")[0]
    assert first["right"] == second["left"]
    assert third["left"] == first["left"]
    assert third["top"] > first["top"]
    assert (first["fill"], third["fill"]) == ("#ffffff", shade_ramp(PINK, 1).colours[1])


def test_bars_are_as_long_as_their_numbers_and_signed_ones_begin_in_the_middle():
    chart = bar_table(["a", "b"], [Bars("score", [2, -1], 4, ["2", "−1"], ("#111111", "#222222"))], [(0, "group")])
    (bars,) = datasets(chart, "fill")
    assert bars[0]["left"] == bars[1]["right"]
    assert bars[0]["right"] - bars[0]["left"] == 2 * (bars[1]["right"] - bars[1]["left"])
    assert [bar["fill"] for bar in bars] == ["#111111", "#222222"]
    said = figure(chart, "svg").decode()
    assert all(f">{word}<" in said for word in ("a", "b", "score", "group", "2", "−1"))


def test_a_field_has_its_bands_and_its_keys():
    field = np.linspace(-1, 1, 900).reshape(30, 30)
    chart = score_fields({"dot": field, "sum": field}, [1, 1], [[0, 2], [2, 0]], 2)
    (pictures,) = datasets(chart, "url")
    assert [(row["name"], row["ends"]) for row in pictures] == [("dot", "−1 to 1"), ("sum", "−1 to 1")]
    colours = Image.open(io.BytesIO(base64.b64decode(pictures[0]["url"].split(",")[1]))).convert("RGBA")
    assert len(colours.getcolors()) == BANDS


@pytest.mark.parametrize(("row", "words"), [(0, TARGET), (1, ["Un", "train", "fin"])])
def test_charts_of_words_follow_the_schema(row, words):
    valid(word_arcs(SOURCE, words, WEIGHTS, row))
    valid(shaded_words(words, [0.1 * row] * 3, PINK, bar=(shade_ramp(PINK, 1 + row), "weight")))
    valid(bar_table(words, [Bars("weight", [1, 2, 3 + row], 5 + row, words, (PINK,))]))
