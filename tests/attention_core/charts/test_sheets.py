"""Charts of pictures' regions, looks and channels follow the schema and show the numbers that they were given."""

import numpy as np
import pytest

from attention_core.charts import signed_ramp
from attention_core.charts.overlay import glow_ramp
from attention_core.charts.pictures import contact_sheet
from pages.ask.charts import nothing_weights
from tests.support.charts import rows_of, valid

EMPTY, BARE = np.array([[0.3, 0.2], [0.2, 0.1]]), np.array([[0.5, 0.4], [0.1, 0.2]])


def test_what_matches_nothing_is_the_empty_key_and_the_bare_paper():
    chart = nothing_weights([0, 1], EMPTY, BARE, ["0", "1"])
    valid(chart)
    drawn = {(row["matching"], row["look"], row["part"]): row["weight"] for row in rows_of(chart) if "part" in row}
    assert drawn[0, "look 1", "empty key and bare paper"] == pytest.approx(0.8)
    assert drawn[1, "look 2", "empty key alone"] == pytest.approx(0.1)
    assert len(drawn) == 8


PICTURES = np.random.default_rng(0).normal(size=(3, 5, 5))


def test_layers_without_an_axis_come_before_those_with_one():
    """Vega-Lite stumbles over an axis that is taken away after another layer has asked for it."""
    spec = contact_sheet(PICTURES, list("abc"), signed_ramp(PICTURES), marked=7).to_dict()
    asks = ["axis" not in layer["encoding"]["x"] for layer in spec["layer"] if "x" in layer.get("encoding", {})]
    assert asks == sorted(asks)


def test_colour_bar_names_the_uniform_weight_only_where_there_is_room():
    assert glow_ramp(225, 0.02).reference == pytest.approx(1 / 225)
    assert glow_ramp(225, 0.7).reference is None
