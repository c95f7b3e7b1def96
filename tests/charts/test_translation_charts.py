"""Alignments and the collapse of states as specs."""

from __future__ import annotations

import altair as alt
import numpy as np
import pytest

from attention_core.charts.alignment import alignment_chart
from attention_core.charts.collapse import collapse_chart, cost_chart

GENERATOR = np.random.default_rng(0)
CHARTS = {
    "alignment": lambda: alignment_chart(GENERATOR.dirichlet(np.ones(4), 3), ["la", "la", "?"], list("abba"), marked=1),
    "one key": lambda: alignment_chart(np.ones((3, 1)), ["a", "b", "c"], ["whole sentence"]),
    "many pieces": lambda: alignment_chart(GENERATOR.dirichlet(np.ones(70), 80), ["x"] * 80, ["y"] * 70),
    "collapse": lambda: collapse_chart(
        ["a", "b"], GENERATOR.normal(size=(2, 7)), np.array([0.25, 0.75]), GENERATOR.normal(size=7)
    ),
    "cost": lambda: cost_chart(lambda n: 7, lambda n: 7 * n, 40, 3),
}


@pytest.mark.parametrize("name", CHARTS)
def test_spec_follows_the_schema(name):
    alt.LayerChart.from_dict(CHARTS[name]().to_dict(), validate=True)


def test_all_alignments_share_one_scale_and_mark_the_uniform_weight():
    spec = str(CHARTS["alignment"]().to_dict())
    assert "'domain': [0.0, 1.0]" in spec
    assert "1/4" in spec
    assert "'domain': [0.0, 1.0]" in str(CHARTS["one key"]().to_dict())


def test_rows_of_an_alignment_answer_the_mouse():
    spec = CHARTS["alignment"]().to_dict()
    assert any(one["name"] == "looked" and one["select"]["on"] == "pointerover" for one in spec["params"])


def test_collapse_is_drawn_to_scale():
    small, large = (
        collapse_chart(["w"] * n, GENERATOR.normal(size=(n, 7)), np.full(n, 1 / n), GENERATOR.normal(size=7)).to_dict()
        for n in (2, 12)
    )
    assert large["height"] - small["height"] == 10 * (small["height"] / 5)
