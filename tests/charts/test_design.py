"""Charts as templates: what is put into a template is what Altair makes of it, and other data need no new one."""

import json
import re

import altair
import numpy as np
import pytest

from attention_core.attention.types import Axis, Role
from attention_core.charts import design as module
from attention_core.charts import matrix_chart, overlay, picture, probability_bars, weights_ramp
from attention_core.charts.design import Varying, alt
from attention_core.charts.look import Look


def chart(values=(1.0, 2.0), title="one", width=200, colour="#ff0000", above=0):
    data = {"x": list(range(len(values))), "y": np.array(values)}
    shown = alt.condition(Varying(f"datum.y > {above}"), alt.value(colour), alt.value("#000000"))
    points = alt.Chart(data).mark_point(aria=False).encode(x=alt.X("x:Q", title=title), y=alt.Y("y:Q"), color=shown)
    return (points + alt.Chart(data).mark_line().encode(x="x:Q", y="y:Q")).properties(width=width)


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


def nameless(spec):
    """The spec without the names that Altair numbers through and gives to data, and with data in their places."""
    data = spec.pop("datasets")
    text = re.sub(r'"(view|param)_\w+"', r'"\1"', json.dumps(spec))
    for name, rows in data.items():
        text = text.replace(f'"name": "{name}"', f'"rows": {json.dumps(rows)}')
    return json.loads(text)


@pytest.mark.parametrize("name", CHARTS)
def test_template_and_altair_say_the_same(name):
    for seed in (0, 1):
        drawn = CHARTS[name](seed)
        assert nameless(drawn.to_dict()) == nameless(drawn.to_altair().to_dict())


@pytest.mark.parametrize("name", CHARTS)
def test_other_data_need_no_new_template(name):
    CHARTS[name](2).drawn()
    before = module._template.cache_info().misses
    specs = [json.dumps(CHARTS[name](seed).to_dict()) for seed in (2, 3, 2)]
    assert module._template.cache_info().misses == before
    assert specs[0] == specs[2] != specs[1]


def test_another_look_is_another_design():
    assert chart(colour="#00ff00").to_dict() != chart().to_dict()
    assert "#00ff00" in json.dumps(chart(colour="#00ff00").to_dict())


def test_data_that_two_layers_share_are_there_once():
    spec, data = chart().drawn()
    assert len(data) == 1
    assert "datasets" not in spec


def test_values_become_plain_json_and_missing_numbers_nothing():
    spec = chart([0.5, np.nan], width=np.int64(300)).to_dict()
    assert json.loads(json.dumps(spec, allow_nan=False))["width"] == 300
    assert [row["y"] for row in next(iter(spec["datasets"].values()))] == [0.5, None]


def test_a_spec_that_was_changed_leaves_its_template_alone():
    spec = chart().to_dict()
    spec["layer"][1]["mark"]["type"] = "area"
    spec["layer"].pop(0)
    spec["width"] = 1
    assert [layer["mark"]["type"] for layer in chart().to_dict()["layer"]] == ["point", "line"]
    assert chart().to_dict()["width"] == 200


def test_notebook_shows_what_altair_shows():
    assert '"y": 2.0' in str(chart()._repr_mimebundle_())


def test_mistake_in_a_design_is_an_error():
    with pytest.raises(AttributeError, match="mark_painting"):
        alt.Chart({"x": [1]}).mark_painting().to_dict()
    with pytest.raises(AttributeError):
        chart()._private  # noqa: B018


@pytest.mark.parametrize("name", CHARTS)
def test_file_has_a_theme_and_is_valid(name):
    plain, file = (CHARTS[name](1).to_dict(look) for look in (Look(), Look(themed=True)))
    assert file["config"]["background"] == "#ffffff"
    assert plain["config"].get("background") is None
    (altair.LayerChart if "layer" in file else altair.Chart).from_dict(file, validate=True)
