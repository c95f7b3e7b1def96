"""Charts of forgetting: specs that follow the schema, shared colours, unread columns, names that do not overlap."""

from itertools import pairwise

import numpy as np
import pytest

from attention_core.charts.palette import signed_ramp
from attention_core.topics.memory.charts import (
    DECADES,
    NAME_HEIGHT,
    fading_chart,
    gradient_heatmap,
    gradient_ramp,
    length_chart,
    over_time,
    spread_out,
)
from attention_core.topics.translate.training import TRANSLATORS, ByLength
from tests.charts.tools import valid

WORDS = ["red", "<b>", "red", "end"]
MATRIX = np.where(np.tri(4, dtype=bool), np.random.default_rng(0).random((4, 4)) + 0.01, np.nan)
TOLD = np.full((4, 4), "after “red”", dtype=object)
BLEU = ByLength(
    groups=["1-5", "18+"],
    scores={"translator-none": [40.0, 10.0], "translator-dot": [41.0, 30.0], "translator-general": [42.0, 30.5]},
    overall={},
    long={},
    n=9,
    missing=[],
)


def states(**more):
    settings = {"title": "state", "columns": {"word": WORDS, "size": [1.0, 2.0, 3.0, 4.0]}, "read": [True] * 4}
    return over_time(np.random.default_rng(0).random((30, 4)), WORDS, signed_ramp(np.ones(1)), **settings | more)


def gradients(logarithmic=False, **more):
    ramp = gradient_ramp([MATRIX], logarithmic)
    return gradient_heatmap(MATRIX, WORDS, ramp, title="norm", told=TOLD, logarithmic=logarithmic, **more)


CHARTS = {
    "states": lambda: states(now=2, bar="number"),
    "gate": lambda: states(words=False, size=(100, 10)),
    "gradients": lambda: gradients(marked_row=1, select="cell"),
    "log gradients": lambda: gradients(logarithmic=True),
    "fading": lambda: fading_chart({"GRU": [1, 0.5, 0.2], "plain RNN": [1, 0.1, 0.0]}, words=WORDS, logarithmic=True),
    "average": lambda: fading_chart({"GRU": [1.0, 1.4]}, bands={"GRU": ([1, 0.5], [1, 1.6])}),
    "one word": lambda: fading_chart({"GRU": [1.0]}, words=["end"]),
    "lengths": lambda: length_chart(BLEU),
}


@pytest.mark.parametrize("name", CHARTS)
def test_spec_follows_the_schema(name):
    valid(CHARTS[name]())


def dataset(chart, layer):
    spec = chart.to_dict()
    data = spec["layer"][layer].get("data") or spec["data"]
    return spec["datasets"][data["name"]]


def test_mouse_finds_only_columns_that_were_read():
    found = dataset(states(read=[False, False, True, True]), 1)
    assert [row["left"] for row in found] == [2, 3]
    assert found[0]["word"] == "red"


def test_equal_words_keep_columns_of_their_own():
    assert len({(row["row"], row["col"]) for row in dataset(gradients(), 0)}) == 16


def test_matrices_that_are_compared_share_the_larger_scale():
    ramp = gradient_ramp([MATRIX, 3 * MATRIX])
    assert ramp.low == 0
    assert ramp.high == pytest.approx(3 * np.nanmax(MATRIX))
    logs = gradient_ramp([MATRIX, 3 * MATRIX], logarithmic=True)
    assert logs.high == pytest.approx(np.log10(ramp.high))
    assert logs.low == pytest.approx(np.log10(np.nanmin(MATRIX)))
    tiny = gradient_ramp([np.array([[1.0, 1e-20]])], logarithmic=True)
    assert tiny.high - tiny.low == pytest.approx(DECADES)


def test_logarithmic_axis_begins_at_the_power_of_ten_below_the_least():
    def lowest(*lines):
        chart = fading_chart({"GRU": lines[0], "plain RNN": lines[-1]}, logarithmic=True)
        return next(one for one in chart.to_dict()["layer"] if "x" in one["encoding"])["encoding"]["y"]["scale"][
            "domain"
        ][0]

    assert lowest([1.0, 0.5], [1.0, 0.3]) == pytest.approx(0.1)
    assert lowest([1.0, 0.5], [1.0, 0.03]) == pytest.approx(0.01)
    assert lowest([1.0, 0.0]) == pytest.approx(10.0**-DECADES)


def test_logarithmic_colours_keep_the_numbers_for_the_mouse():
    rows = [row for row in dataset(gradients(logarithmic=True), 0) if not row["masked"]]
    assert len(rows) == 10
    assert all(10 ** row["shown"] == pytest.approx(row["value"]) for row in rows)


def test_names_at_lines_ends_keep_apart_and_stay_inside():
    assert spread_out([30.5, 30.0, 10.0], 4.0, 0.0) == [30.5, 26.5, 10.0]
    assert spread_out([2.0, 1.0], 4.0, 0.0) == [4.0, 0.0]
    assert spread_out([], 1.0, 0.0) == []
    names = dataset(length_chart(BLEU, height=320), 2)
    assert {row["label"] for row in names} == {TRANSLATORS[name] for name in BLEU.scores}
    places = sorted(row["place"] for row in names)
    assert min(b - a for a, b in pairwise(places)) >= NAME_HEIGHT * 45 / 320 - 1e-9


def test_chart_of_no_figures_is_refused():
    with pytest.raises(ValueError, match="got none"):
        length_chart(ByLength([], {}, {}, {}, 0, ["translator-none"]))
