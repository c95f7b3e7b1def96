"""Alignments and the collapse of states as specs."""

import numpy as np
import pytest

from attention_core.topics.memory.charts import cure_chart
from attention_core.topics.translate.charts import alignment_chart, collapse_chart, cost_chart
from attention_core.topics.translate.unrolled import ACROSS, LIT, STEPS, unrolled_chart
from tests.charts.tools import valid

GENERATOR = np.random.default_rng(0)
CHARTS = {
    "alignment": lambda: alignment_chart(GENERATOR.dirichlet(np.ones(4), 3), ["la", "la", "?"], list("abba"), marked=1),
    "one key": lambda: alignment_chart(np.ones((3, 1)), ["a", "b", "c"], ["whole sentence"]),
    "many pieces": lambda: alignment_chart(GENERATOR.dirichlet(np.ones(70), 80), ["x"] * 80, ["y"] * 70),
    "collapse": lambda: collapse_chart(
        ["a", "b"], GENERATOR.normal(size=(2, 7)), np.array([0.25, 0.75]), GENERATOR.normal(size=7)
    ),
    "multiplied": lambda: collapse_chart(
        ["a", "b", "c"],
        GENERATOR.normal(size=(3, 7)),
        np.array([1.2, -0.3, 0.1]),
        GENERATOR.normal(size=7),
        multiplied=True,
    ),
    "unrolled": lambda: unrolled("scores"),
    "unrolled without attention": lambda: unrolled_chart(["a", "b"], ["c", "d", "end"], 2, "context", None, None),
    "cure": lambda: cure_chart(["a", "b", "end"], np.array([0.5, 0.3, 0.2]), np.array([0.0, 0.9, 0.1]), marked=1),
    "cost": lambda: cost_chart(lambda n: 7, lambda n: 7 * n, 40, 3),
}


def unrolled(lit: str):
    return unrolled_chart(
        ["a", "b", "c"], ["d", "e"], 1, lit, np.array([-3.0, -1.0, -2.0]), np.array([0.1, 0.66, 0.24])
    )


@pytest.mark.parametrize("name", CHARTS)
def test_spec_follows_the_schema(name):
    valid(CHARTS[name]())


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


def test_a_part_against_the_context_is_drawn_to_the_left_and_all_bars_have_room():
    spec = CHARTS["multiplied"]().to_dict()
    bars = next(rows for rows in spec["datasets"].values() if "weight" in rows[0])
    zero = bars[0]["left"]
    assert bars[1]["right"] == pytest.approx(zero)
    assert bars[1]["left"] < zero
    assert [row["right"] - row["left"] for row in bars] == pytest.approx([114.4 / 1.5 * one for one in (1.2, 0.3, 0.1)])


@pytest.mark.parametrize("lit", STEPS)
def test_each_step_of_the_unrolled_network_lights_other_marks(lit):
    def lights(step: str) -> dict[str, int]:
        spec = unrolled(step).to_dict()
        colours = [row["fill"] for rows in spec["datasets"].values() for row in rows if "fill" in row]
        bold = str(spec).count("'bold'")
        return {one: colours.count(one) for one in colours if one.endswith(LIT)} | {"bold": bold}

    assert all(lights(lit) != lights(other) for other in STEPS if other != lit)


def test_scores_of_the_unrolled_network_begin_at_the_lowest():
    frames = unrolled("scores").to_dict()["datasets"].values()
    rows = [row for rows in frames for row in rows if row.get("bottom", 0) - row["top"] == pytest.approx(10)]
    long = [row["right"] - row["left"] for row in rows]
    assert long[::2] == pytest.approx([1, ACROSS, ACROSS / 2])
    assert long[1::2] == pytest.approx([ACROSS * one for one in (0.1, 0.66, 0.24)])
