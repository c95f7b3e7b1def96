"""Channels as bars, and as a sheet of pictures that can be clicked."""

import json

import numpy as np
import pytest
import torch

from attention_core.charts import contact_sheet, signed_ramp
from attention_core.charts.overlay import glow_ramp
from attention_core.topics.find import Products
from attention_core.topics.find.charts import channel_bars, product_bars
from tests.charts.tools import rows_with, valid

VALUES = np.array([0.5, -1.0, 2.0, 0.0])
PRODUCTS = Products([2, 1], torch.tensor([3.0, -1.0]), 0.25, 2.25)
PICTURES = np.random.default_rng(0).normal(size=(3, 5, 5))


@pytest.mark.parametrize(
    "chart",
    [
        channel_bars(VALUES, [2, 1, 0, 3], title="weight", chosen=1, select="picked"),
        channel_bars(VALUES, [0, 1, 2, 3], title="context", beside=VALUES / 2, beside_title="average"),
        product_bars(PRODUCTS, 9),
    ],
    ids=["weights", "beside", "products"],
)
def test_spec_follows_the_schema(chart):
    valid(chart)


def test_bars_stand_in_the_order_asked_for_with_their_channels_values():
    rows = rows_with(channel_bars(VALUES, [2, 1, 0, 3], title="weight"), "channel")
    assert [(row["channel"], row["value"]) for row in rows] == [(2, 2.0), (1, -1.0), (0, 0.5), (3, 0.0)]


def test_products_are_told_with_their_signs_and_the_others_last():
    rows = rows_with(product_bars(PRODUCTS, 9), "product")
    assert [row["channel"] for row in rows] == ["channel 3", "channel 2", "the other 7"]
    assert [row["words"] for row in rows] == ["+3.00", "-1.00", "+0.25"]


def test_sheet_frames_the_chosen_picture_and_can_be_clicked():
    sheet = contact_sheet(PICTURES, list("abc"), signed_ramp(PICTURES), marked=7, chosen=2, select="picked")
    spec = valid(sheet)
    assert "datum.number === 2" in json.dumps(spec) or "datum.number == 2" in json.dumps(spec)
    assert spec["params"][0]["select"]["fields"] == ["number"]


def test_layers_without_an_axis_come_before_those_with_one():
    """Vega-Lite stumbles over an axis that is taken away after another layer has asked for it."""
    spec = contact_sheet(PICTURES, list("abc"), signed_ramp(PICTURES), marked=7, chosen=2, select="picked").to_dict()
    asks = ["axis" not in layer["encoding"]["x"] for layer in spec["layer"] if "x" in layer.get("encoding", {})]
    assert asks == sorted(asks)


def test_colour_bar_names_the_uniform_weight_only_where_there_is_room():
    assert glow_ramp(225, 0.02).reference == pytest.approx(1 / 225)
    assert glow_ramp(225, 0.7).reference is None
