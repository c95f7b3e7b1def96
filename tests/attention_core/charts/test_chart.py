"""Charts are Altair's; on pages they are compiled once per structure, and are what Altair makes of the same."""

import json

import altair
import numpy as np
import pytest
from altair.utils import schemapi

from attention_core.attention.types import Axis, Role
from attention_core.charts import matrix_chart, overlay, picture, probability_bars, weights_ramp
from attention_core.charts.bars import bar_table, curves_chart
from attention_core.charts.chart import Blueprint, LayerChart, per_structure, records
from attention_core.charts.layers import fixed_size, named
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


@pytest.fixture
def as_on_pages(monkeypatch):
    """Altair checks nothing, and no structure is known yet."""
    import attention_core.charts.chart as module

    monkeypatch.setattr(schemapi, "DEBUG_MODE", False)
    monkeypatch.setattr(module, "_templates", type(module._templates)())


@pytest.mark.parametrize("name", CHARTS)
def test_a_page_draws_what_altair_makes(as_on_pages, name):
    """The second chart of a structure is filled into what was compiled for the first one."""
    CHARTS[name](2).spec_and_data()
    spec, data = CHARTS[name](3).spec_and_data()
    whole = spec | {"datasets": {name: records(columns) for name, columns in data.items()}}
    made = CHARTS[name](3).to_altair().properties()
    assert isinstance(made, altair.Chart | altair.LayerChart)
    assert json.loads(json.dumps(whole)) == json.loads(json.dumps(made.to_dict()))


@per_structure
def dots(title: str | None, colour: str, height: int) -> altair.LayerChart:
    dots.built += 1
    x = altair.X("x:Q", title=title, axis=altair.Axis(labelExpr=f"datum.value + '{colour}'"))
    return fixed_size([named("dots").mark_point(color=colour).encode(x)], 200, height)


def chart(title="one", colour="#ff0000", height=100, x=(1, 2)):
    return dots({"dots": {"x": np.array(x)}}, title=title, colour=colour, height=height)


def test_words_and_numbers_do_not_make_another_structure_but_what_is_left_out_does(as_on_pages):
    dots.built = 0
    looks = ("a", "#111111", 1), ("b", "#222222", 2)
    specs = [chart(*look).spec_and_data()[0] for look in looks]
    assert dots.built == 1
    axes = [spec["layer"][0]["encoding"]["x"] for spec in specs]
    assert [(axis["title"], axis["axis"]["labelExpr"].split("'")[1]) for axis in axes] == [look[:2] for look in looks]
    assert [spec["height"] for spec in specs] == [1, 2]
    assert specs[1]["layer"][0]["mark"]["color"] == "#222222"
    assert chart(None).spec_and_data()[0]["layer"][0]["encoding"]["x"]["title"] is None
    assert dots.built == 2


def test_a_spec_that_was_changed_leaves_the_next_one_alone(as_on_pages):
    spec, _ = chart().spec_and_data()
    spec["layer"][0]["mark"]["type"] = "area"
    spec["layer"].append({})
    assert [layer["mark"]["type"] for layer in chart().spec_and_data()[0]["layer"]] == ["point"]


def test_other_properties_are_drawn_and_saved(as_on_pages):
    wide = chart().properties(width=321, title="above")
    assert (wide.spec_and_data()[0]["width"], wide.spec_and_data()[0]["title"]) == (321, "above")
    assert wide.to_dict()["width"] == wide.width == 321


def test_a_chart_that_was_changed_in_altairs_way_is_drawn_as_it_is(as_on_pages):
    spec, data = (chart() + named("dots").mark_line().encode(altair.X("x:Q"))).spec_and_data()
    assert [layer["mark"]["type"] for layer in spec["layer"]] == ["point", "line"]
    assert data["dots"]["x"] == [1, 2]


def test_a_chart_is_altairs_from_the_beginning_and_shows_itself_in_a_notebook():
    drawn = chart(x=[0.5, np.nan], height=np.int64(300))
    assert isinstance(drawn, altair.LayerChart)
    assert '"x": 0.5' in str(drawn._repr_mimebundle_())
    spec = drawn.to_dict()
    assert spec["$schema"] == altair.SCHEMA_URL
    assert [row["x"] for row in spec["datasets"]["dots"]] == [0.5, None]
    with pytest.raises(AttributeError):
        drawn._private  # noqa: B018


def test_what_altair_does_not_know_is_an_error():
    blueprint = Blueprint(lambda: named("dots").mark_point(opacity="red"), {}, {})
    with pytest.raises(schemapi.SchemaValidationError):
        LayerChart.of(blueprint).to_dict()


@pytest.mark.parametrize("name", CHARTS)
def test_same_numbers_give_the_same_spec_and_others_another(name):
    specs = [json.dumps(valid(CHARTS[name](seed))) for seed in (2, 3, 2)]
    assert specs[0] == specs[2] != specs[1]


@pytest.mark.parametrize("name", CHARTS)
def test_file_has_a_theme_and_is_valid(name):
    file = CHARTS[name](1).file_spec()
    assert file["config"]["background"] == "#ffffff"
    assert CHARTS[name](1).to_dict()["config"].get("background") is None
    (altair.LayerChart if "layer" in file else altair.Chart).from_dict(file, validate=True)
