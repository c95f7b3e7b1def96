"""Charts of pictures' regions and channels show the numbers that they were given."""

import numpy as np
import pytest

from attention_core.charts import signed_ramp
from attention_core.charts.overlay import glow_ramp
from attention_core.charts.pictures import contact_sheet

PICTURES = np.random.default_rng(0).normal(size=(3, 5, 5))


def test_layers_without_an_axis_come_before_those_with_one():
    """Vega-Lite stumbles over an axis that is taken away after another layer has asked for it."""
    spec = contact_sheet(PICTURES, list("abc"), signed_ramp(PICTURES), marked=7).to_dict()
    asks = ["axis" not in layer["encoding"]["x"] for layer in spec["layer"] if "x" in layer.get("encoding", {})]
    assert asks == sorted(asks)


def test_colour_bar_names_the_uniform_weight_only_where_there_is_room():
    assert glow_ramp(225, 0.02).reference == pytest.approx(1 / 225)
    assert glow_ramp(225, 0.7).reference is None
