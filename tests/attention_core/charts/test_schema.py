"""Every kind of chart that skips Altair's own check when drawn is checked here against Vega-Lite's schema."""

import altair as alt
import jsonschema
import numpy as np
import pytest

from attention_core.attention.types import Axis, Role
from attention_core.charts import INK_RAMP, weights_ramp
from attention_core.charts.bars import probability_bars
from attention_core.charts.matrix import matrix_chart
from attention_core.charts.overlay import overlay, overlay_strip
from attention_core.charts.pictures import contact_sheet, picture
from tests.support.charts import valid

GENERATOR = np.random.default_rng(0)
PAPER = np.full((60, 60, 3), 255, np.uint8)
RAMP = weights_ramp(784, 0.2)


def matrix(*shape, **more):
    axes = [Axis.numbered(name, n) for name, n in zip(("queries", "keys"), shape, strict=True)]
    return matrix_chart(GENERATOR.random(shape), *axes, Role.WEIGHTS, title="weight", **more)


CHARTS = {
    "cells": lambda: matrix(5, 7, marked_row=2, framed=[(1, 2)]),
    "many cells": lambda: matrix(40, 30),
    "image": lambda: matrix(90, 80, marked_row=3),
    "picture": lambda: picture(GENERATOR.random((28, 28)), RAMP, title="weight", marked=3),
    "outlined": lambda: picture(GENERATOR.random((28, 28)), INK_RAMP, bar=False, outline=np.eye(28)),
    "sheet": lambda: contact_sheet(GENERATOR.random((3, 28, 28)), ["a", "b", "c"], RAMP, marked=8),
    "overlay": lambda: overlay(PAPER, GENERATOR.random((15, 15)), marked=3),
    "strip": lambda: overlay_strip(PAPER, GENERATOR.random((5, 15, 15)), list("abcde"), chosen=1),
    "bars": lambda: probability_bars({"model": [0.5, 0.5]}, ["0", "1"]),
}


@pytest.mark.parametrize("name", CHARTS)
def test_spec_follows_the_schema(name):
    valid(CHARTS[name]())


def test_schema_would_notice_a_mistake():
    spec = CHARTS["picture"]().to_dict()
    spec["layer"][0]["mark"]["type"] = "painting"
    with pytest.raises(jsonschema.ValidationError):
        alt.LayerChart.from_dict(spec, validate=True)
