"""Charts of many heads: one image that loses no bright cell, masked cells, colours, clicks and maps."""

import io
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image
from PIL.ImageColor import getcolor

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.view.colours import MASKED_COLOUR, UNIFORM_AT
from attention_core.charts import heads as heads_module
from attention_core.charts.heads import head_ramp, heads_chart, mosaic
from tests.support.charts import valid
from tests.support.traces import of_weights, trace_of


def random_trace(n_heads: int, n: int, *, is_causal: bool = False) -> AttentionTrace:
    query, key, value = torch.randn(3, n_heads, n, 8, generator=torch.Generator().manual_seed(n))
    return trace_of(3 * query, key, value, queries="tokens", keys="tokens", is_causal=is_causal)


def pixels(drawn, layer: int, head: int) -> np.ndarray:
    """Return a head's picture as colours, uint8 (height, width, 4)."""
    whole = Image.open(io.BytesIO(drawn.url)).convert("RGBA")
    top, left = layer * (drawn.height + drawn.gap), head * (drawn.width + drawn.gap)
    return np.asarray(whole)[top : top + drawn.height, left : left + drawn.width]


def nearest(drawn, shares: np.ndarray) -> np.ndarray:
    """Return the colours of places on the ramp, with the steps of the image."""
    return drawn.ramp.lookup(127)[np.rint(shares * 126).astype(int)]


def test_no_bright_cell_is_lost_when_pictures_shrink():
    generator = np.random.default_rng(0)
    weights = np.full((2, 300, 300), 1e-3)
    at = generator.integers(0, 300, (40, 2))
    weights[1, at[:, 0], at[:, 1]] = 1
    drawn = mosaic([of_weights(weights)], size=70)
    assert (drawn.width, drawn.height, drawn.n_rows) == (70, 70, 300)
    bright = (pixels(drawn, 0, 1) == nearest(drawn, np.array([1.0]))).all(-1)
    expected = np.zeros((70, 70), bool)
    edges = np.arange(71) * 300 // 70
    expected[np.searchsorted(edges, at[:, 0], "right") - 1, np.searchsorted(edges, at[:, 1], "right") - 1] = True
    np.testing.assert_array_equal(bright, expected)


def test_small_matrices_are_drawn_cell_by_cell_and_pictures_stay_apart():
    trace = random_trace(3, 5)
    drawn = mosaic([trace, trace], size=60)
    for layer, head in ((0, 0), (1, 2)):
        weights = trace.weights(head).numpy()
        shares = head_ramp(1 / 5, weights.max()).position(weights)[np.arange(60) * 5 // 60][:, np.arange(60) * 5 // 60]
        np.testing.assert_array_equal(pixels(drawn, layer, head), nearest(drawn, shares))
    whole = np.asarray(Image.open(io.BytesIO(drawn.url)).convert("RGBA"))
    assert whole.shape == (2 * 60 + 9, 3 * 60 + 18, 4)
    assert not whole[60:69, :, 3].any()
    assert drawn.largest[1][2] == pytest.approx(float(trace.weights(2).max()), rel=1e-6)


def test_what_may_not_be_seen_is_grey_in_large_pictures_too():
    drawn = mosaic([random_trace(1, 200, is_causal=True)], size=50)
    is_grey = (pixels(drawn, 0, 0) == getcolor(MASKED_COLOUR, "RGBA")).all(-1)
    np.testing.assert_array_equal(is_grey, ~np.tri(50, dtype=bool))


def test_other_shapes_have_as_many_pixels():
    weights = torch.rand(1, 90, 400, generator=torch.Generator().manual_seed(1)).softmax(-1)
    drawn = mosaic([of_weights(weights)], size=80)
    assert (drawn.height, drawn.width) == (20, 80)
    few = mosaic([of_weights(weights[:, :20])], size=80)  # as many queries as pixels, and more keys
    for one, rows in ((few, weights[0, :20]), (drawn, weights[0])):
        height = one.height
        edges = np.arange(height) * len(rows) // height
        largest = np.maximum.reduceat(rows.numpy().reshape(len(rows), 80, 5).max(2), edges)
        shares = head_ramp(1 / 400, float(rows.max())).position(largest)
        np.testing.assert_array_equal(pixels(one, 0, 0), nearest(one, shares))


def test_very_long_inputs_are_drawn_from_a_sample_that_is_told(monkeypatch):
    trace = random_trace(2, 400)
    monkeypatch.setattr(heads_module, "MAX_CELLS", 2 * 400 * 90)
    drawn = mosaic([trace], size=40)
    assert (drawn.n_rows, drawn.n_queries) == (80, 400)
    most = mosaic([replace(trace, query=trace.query * 0)], size=40).largest
    assert most[0][0] == pytest.approx(1 / 400, rel=1e-4)


def test_colours_of_its_own_have_one_place_for_looking_everywhere_alike():
    for uniform, largest in ((1 / 512, 0.9), (1 / 512, 1 / 500), (1 / 40, 0.3)):
        ramp = head_ramp(uniform, largest)
        assert float(ramp.position(np.array([uniform]))[0]) == pytest.approx(UNIFORM_AT, abs=1e-6)
        assert ramp.high >= largest
    dull = mosaic([of_weights(np.full((1, 64, 64), 1 / 64))], size=64)
    assert (pixels(dull, 0, 0) == nearest(dull, np.array([UNIFORM_AT]))).all()


def test_heads_of_uneven_layers_can_be_clicked_and_many_small_ones_are_numbered_sparsely():
    drawn = mosaic([random_trace(1, 6), random_trace(3, 6)], size=30)
    notes = [["one"], ["two", "three", "four"]]
    spec = valid(heads_chart(drawn, notes, chosen=(1, 2), select="head"))
    rows = [row for data in spec["datasets"].values() for row in data if "note" in row]
    told = {(row["layer"], row["head"], row["note"]) for row in rows}
    assert told == {(0, 0, "one"), (1, 0, "two"), (1, 1, "three"), (1, 2, "four")}
    assert "its largest" in str(spec)
    assert str(spec).count("data:image/png") == 1
    trace = random_trace(32, 4)
    spec = valid(heads_chart(mosaic([trace], size=12), [[""] * 32], chosen=(0, 0)))
    texts = [row["text"] for data in spec["datasets"].values() for row in data if "text" in row]
    assert "head 1" not in texts
    assert {"1", "3", "31"} <= set(texts)
    assert "2" not in texts
