"""Charts as Vega-Lite has them: what is put together here is what Altair makes of the same."""

import json

import altair
import numpy as np
import pandas as pd
import pytest

from attention_core.attention.types import Axis, Role
from attention_core.charts import matrix_chart, overlay, picture, probability_bars, weights_ramp
from attention_core.charts import vega as vl
from attention_core.charts.vega import mark
from tests.support.charts import valid


def chart(values=(1.0, 2.0), title="one", width=200, colour="#ff0000", above=0):
    data = {"x": list(range(len(values))), "y": np.array(values)}
    shown = vl.condition(f"datum.y > {above}", vl.value(colour), vl.value("#000000"))
    where = {"x": vl.field("x:Q", title=title), "y": vl.field("y:Q")}
    dots = mark("point", data, where, color=shown)
    return vl.layer(dots, mark("line", data, {"x": vl.field("x:Q"), "y": vl.field("y:Q")}, aria=True), width=width)


def chart_of_altair(values=(1.0, 2.0), title="one", width=200, colour="#ff0000", above=0):
    data = altair.Data(values=pd.DataFrame({"x": range(len(values)), "y": values}).to_dict("records"))
    shown = altair.condition(f"datum.y > {above}", altair.value(colour), altair.value("#000000"))
    where = {"x": altair.X("x:Q", title=title), "y": altair.Y("y:Q")}
    points = altair.Chart(data).mark_point(aria=False, tooltip=None).encode(**where, color=shown)
    lines = altair.Chart(data).mark_line(aria=True, tooltip=None).encode(x="x:Q", y="y:Q")
    return altair.LayerChart(layer=[points, lines], width=width)


def matrix(n, seed=0, **more):
    axes = [Axis(name, [f"{name} {place}" for place in range(n)]) for name in ("queries", "keys")]
    return matrix_chart(np.random.default_rng(seed).random((n, n)), *axes, Role.WEIGHTS, title="weight", **more)


def photograph(seed):
    generator = np.random.default_rng(seed)
    return overlay(generator.integers(0, 255, (60, 60, 3), dtype=np.uint8), generator.random((15, 15)), marked=seed)


CHARTS = {
    "sum": lambda seed: chart(np.random.default_rng(seed).random(4 + seed), f"seed {seed}", 200 + seed, above=seed),
    "cells": lambda seed: matrix(5, seed, marked_row=seed, size=300 + seed),
    "image": lambda seed: matrix(90 + seed, seed, marked_row=seed),
    "picture": lambda seed: picture(
        np.random.default_rng(seed).random((28, 28)), weights_ramp(784, 0.2 + 0.1 * seed), title="weight", marked=seed
    ),
    "overlay": photograph,
    "bars": lambda seed: probability_bars({f"model {seed}": [0.2, 0.8]}, ["0", str(seed + 1)]),
}


def whole(spec):
    """The spec with data in the places of their names, and in each layer that they count for."""
    shared, named = spec.pop("data", None), spec.pop("datasets", {})
    for layer in spec["layer"]:
        data = layer.get("data", shared)
        layer["data"] = {"values": named[data["name"]]} if "name" in data else data
    return spec


def test_spec_is_that_of_altair():
    assert whole(chart().to_dict()) == whole(chart_of_altair().to_dict())
    assert chart().to_dict()["$schema"] == altair.SCHEMA_URL


@pytest.mark.parametrize("name", CHARTS)
def test_same_numbers_give_the_same_spec_and_others_another(name):
    specs = [json.dumps(valid(CHARTS[name](seed))) for seed in (2, 3, 2)]
    assert specs[0] == specs[2] != specs[1]


def test_another_colour_is_in_the_spec():
    assert chart(colour="#00ff00").to_dict() != chart().to_dict()
    assert "#00ff00" in json.dumps(chart(colour="#00ff00").to_dict())


def test_data_that_two_layers_share_are_there_once():
    spec, data = chart().spec_and_data()
    assert len(data) == 1
    assert "datasets" not in spec


def test_values_become_plain_json_and_missing_numbers_nothing():
    spec = chart([0.5, np.nan], width=np.int64(300)).to_dict()
    assert json.loads(json.dumps(spec, allow_nan=False))["width"] == 300
    assert [row["y"] for row in next(iter(spec["datasets"].values()))] == [0.5, None]


def test_a_spec_that_was_changed_leaves_its_chart_alone():
    drawn = chart()
    spec = drawn.to_dict()
    spec["layer"][1]["mark"]["type"] = "area"
    spec["layer"].pop(0)
    spec["width"] = 1
    assert [layer["mark"]["type"] for layer in drawn.to_dict()["layer"]] == ["point", "line"]
    assert drawn.to_dict()["width"] == 200


def test_notebook_shows_what_altair_shows():
    assert '"y": 2.0' in str(chart()._repr_mimebundle_())


def test_mistake_in_a_design_is_an_error():
    with pytest.raises(AttributeError):
        chart()._private  # noqa: B018


@pytest.mark.parametrize("name", CHARTS)
def test_file_has_a_theme_and_is_valid(name):
    plain, file = (CHARTS[name](1).to_dict(themed=themed) for themed in (False, True))
    assert file["config"]["background"] == "#ffffff"
    assert plain["config"].get("background") is None
    (altair.LayerChart if "layer" in file else altair.Chart).from_dict(file, validate=True)
