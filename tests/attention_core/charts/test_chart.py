"""Charts are Altair's: compiled once for equal arguments, with their data beside the spec."""

import json

import altair
import numpy as np
import pytest

from attention_core import charts
from attention_core.attention.types import Axis, Role
from attention_core.charts import weights_ramp
from attention_core.charts.bars import bar_table, curves_chart, probability_bars
from attention_core.charts.chart import Chart, compiled
from attention_core.charts.figure import themed
from attention_core.charts.layers import fixed_size, named
from attention_core.charts.matrix import matrix_chart
from attention_core.charts.overlay import overlay
from attention_core.charts.pictures import picture
from attention_core.faithfulness.attribution import Curve
from tests.support.charts import valid


def matrix(n, seed=0, **more):
    axes = [Axis(name, [f"{name} {place}" for place in range(n)]) for name in ("queries", "keys")]
    return matrix_chart(np.random.default_rng(seed).random((n, n)), *axes, Role.WEIGHTS, title="weight", **more)


def photograph(seed):
    generator = np.random.default_rng(seed)
    return overlay(generator.integers(0, 255, (60, 60, 3), dtype=np.uint8), generator.random((15, 15)), marked=seed)


CHARTS = {
    "cells": lambda seed: matrix(5, seed, marked_row=seed, size=300 + seed),
    "hover": lambda seed: matrix(5, seed, hover_rows=True, framed=[(seed, 1)]),
    "image": lambda seed: matrix(90 + seed, seed, marked_row=seed),
    "picture": lambda seed: picture(
        np.random.default_rng(seed).random((28, 28)), weights_ramp(784, 0.2 + 0.1 * seed), title="weight", marked=seed
    ),
    "overlay": photograph,
    "bars": lambda seed: probability_bars({f"model {seed}": [0.2, 0.8]}, ["0", str(seed + 1)]),
    "table": lambda seed: bar_table(["a", "b"], {"one": [seed, 1]}, ["#112233"]),
    "curves": lambda seed: curves_chart(
        {"one": Curve((0.0, 1.0), (1.0, seed)), "chance": Curve((0.0, 1.0), (1.0, 0.5))}
    ),
}


@compiled
def dots(title: str | None, colour: str, height: int) -> altair.LayerChart:
    calls.append(title)
    x = altair.X("x:Q", title=title, axis=altair.Axis(labelExpr=f"datum.value + '{colour}'"))
    return fixed_size([named("dots").mark_point(color=colour).encode(x)], 200, height)


calls: list[str | None] = []


def chart(title: str | None = "one", colour: str = "#ff0000", height: int = 100, x=(1, 2)) -> Chart:
    return Chart(dots(title, colour, height), {"dots": {"x": np.array(x)}})


def test_a_spec_is_compiled_once_for_equal_arguments():
    calls.clear()
    first, second, third = chart("compiled once"), chart("compiled once", x=(3, 4)), chart("another title")
    assert calls == ["compiled once", "another title"]
    assert first.spec is second.spec
    assert second.data["dots"]["x"].tolist() == [3, 4]
    assert third.spec["layer"][0]["encoding"]["x"]["title"] == "another title"


def test_changes_leave_the_compiled_spec_alone_and_other_properties_are_drawn_and_saved():
    spec, made = chart().to_dict(), chart().to_altair()
    spec["layer"][0]["mark"]["type"] = "area"
    made.layer[0].mark.type = "line"
    assert [layer["mark"]["type"] for layer in chart().spec["layer"]] == ["point"]
    wide = chart().properties(width=321, title="above")
    assert (wide.spec["width"], wide.spec["title"]) == (321, "above")
    assert wide.to_dict()["width"] == wide.to_altair().width == 321


@pytest.mark.parametrize("name", CHARTS)
def test_charts_become_altair_s_and_themed_files_and_same_numbers_give_the_same_spec(name):
    drawn = CHARTS[name](2)
    made = drawn.to_altair()
    assert isinstance(made, altair.LayerChart if "layer" in drawn.spec else altair.Chart)
    assert json.loads(json.dumps(made.to_dict())) == json.loads(json.dumps(drawn.to_dict()))
    specs = [json.dumps(valid(CHARTS[name](seed))) for seed in (2, 3, 2)]
    assert specs[0] == specs[2] != specs[1]
    file = themed(CHARTS[name](1).to_dict())
    assert file["config"]["background"] == "#ffffff"
    assert CHARTS[name](1).to_dict()["config"].get("background") is None
    (altair.LayerChart if "layer" in file else altair.Chart).from_dict(file, validate=True)


def test_what_people_call_is_a_chart_of_altairs_that_can_be_put_beside_others(tmp_path):
    made = charts.bars([1.0, 2.0], ["a", "b"], title="n", colour="#000000")
    assert isinstance(made, altair.Chart)
    assert isinstance((made | made).properties(title="twice"), altair.HConcatChart)
    made.properties(height=50).save(tmp_path / "bars.svg", width=85)
    assert "85.00mm" in (tmp_path / "bars.svg").read_text()
    assert made.to_altair() is made


def test_it_shows_itself_in_a_notebook():
    drawn = chart(x=[0.5, np.nan], height=300)
    assert '"x": 0.5' in str(drawn.to_altair()._repr_mimebundle_())
    spec = drawn.to_dict()
    assert spec["$schema"] == altair.SCHEMA_URL
    assert [row["x"] for row in spec["datasets"]["dots"]] == [0.5, None]
