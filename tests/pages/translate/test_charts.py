"""Alignments, look-up, pairs, memory: right numbers, right marks, names that keep apart."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from attention_core.attention.types import Axis, Role
from attention_core.charts.matrix import matrix_chart
from attention_core.charts.ramps import signed_ramp
from attention_core.evaluate.translation_figures import ByLength
from attention_core.inference.word_influence import MemoryOverview
from pages.lookup.charts import series_chart
from pages.memory.charts import NAME_HEIGHT, length_chart, over_time, spread_out
from pages.translate.charts import ACROSS, LIT, STEPS, alignment_chart, unrolled_chart
from tests.support.charts import rows_of, valid

WORDS = ["red", "<b>", "red", "end"]
BLEU = ByLength(["1-5", "18+"], {"translator-none": [40.0, 30.0], "translator-dot": [42.0, 30.5]})
CALLED = {"translator-none": "one vector", "translator-dot": "attention"}


def states(**options):
    memory = MemoryOverview(WORDS, {"forward": np.random.default_rng(0).random((30, 4))}, {})
    settings = {"title": "state", "read": [True] * 4, "present": 2, "size": (480, 192)}
    return over_time(memory, "forward", signed_ramp(np.ones(1)), **settings | options)


def lengths(**options):
    return length_chart(BLEU, **{"width": 560, "height": 320, "called": CALLED, "marked": {}} | options)


MEMORY_CHARTS = {
    "states": states,
    "low states": lambda: states(size=(100, 10)),
    "lengths": lengths,
    "marked lengths": lambda: lengths(marked={BLEU.groups[0]: "3 words"}),
}


def dataset(chart, layer):
    spec = chart.to_dict()
    data = spec["layer"][layer].get("data") or spec["data"]
    return spec["datasets"][data["name"]]


def test_the_mouse_finds_read_columns_alone_and_line_names_keep_apart():
    rows = dataset(states(read=[False, False, True, True]), 1)
    assert [row["left"] for row in rows] == [2, 3]
    assert rows[0]["word"] == "red"
    assert spread_out([30.5, 30.0, 10.0], 4.0, 0.0) == [30.5, 26.5, 10.0]
    assert spread_out([2.0, 1.0], 4.0, 0.0) == [4.0, 0.0]
    assert spread_out([], 1.0, 0.0) == []
    names = dataset(lengths(), 3)
    assert {row["label"] for row in names} == set(CALLED.values())
    heights = sorted(row["place"] for row in names)
    assert min(b - a for a, b in pairwise(heights)) >= NAME_HEIGHT * 45 / 320 - 1e-9


GENERATOR = np.random.default_rng(0)
CHARTS = {
    "alignment": lambda: alignment_chart(
        GENERATOR.dirichlet(np.ones(4), 3), ["la", "la", "?"], list("abba"), marked_row=1
    ),
    "many pieces": lambda: alignment_chart(GENERATOR.dirichlet(np.ones(70), 80), ["x"] * 80, ["y"] * 70),
    "unrolled": lambda: unrolled("scores"),
    "unrolled without attention": lambda: unrolled_chart(["a", "b"], ["c", "d", "end"], 2, "context", None, None),
}


def unrolled(lit: str):
    return unrolled_chart(
        ["a", "b", "c"], ["d", "e"], 1, lit, np.array([-3.0, -1.0, -2.0]), np.array([0.1, 0.66, 0.24])
    )


CHARTS |= MEMORY_CHARTS


@pytest.mark.parametrize("name", CHARTS)
def test_spec_follows_the_schema(name):
    valid(CHARTS[name]())


def test_alignments_share_a_scale_and_their_rows_answer_the_mouse():
    bar = CHARTS["alignment"]().data["bar"]
    assert bar["number"].tolist() == [0.0, 0.25, 1.0]
    assert bar["name"] == ["", "1/4", ""]
    spec = CHARTS["alignment"]().to_dict()
    (hovered,) = [parameter for parameter in spec["params"] if parameter["name"] == "hovered_row"]
    assert hovered["select"]["on"] == "pointerover"


def test_steps_of_the_unrolled_network_light_their_marks_and_scores_begin_at_the_lowest():
    def lights(step: str) -> dict[str, int]:
        spec = unrolled(step).to_dict()
        colours = [row["fill"] for rows in spec["datasets"].values() for row in rows if "fill" in row]
        bold = str(spec).count("'bold'")
        return {colour: colours.count(colour) for colour in colours if colour.endswith(LIT)} | {"bold": bold}

    assert all(one != other for one, other in combinations(map(lights, STEPS), 2))
    frames = unrolled("scores").to_dict()["datasets"].values()
    rows = [row for rows in frames for row in rows if row.get("bottom", 0) - row["top"] == pytest.approx(10)]
    long = [row["right"] - row["left"] for row in rows]
    assert long[::2] == pytest.approx([1, ACROSS, ACROSS / 2])
    assert long[1::2] == pytest.approx([ACROSS * weight for weight in (0.1, 0.66, 0.24)])


RANDOM = np.random.default_rng(2)


def weights(*shape):
    raw = RANDOM.random(shape)
    return raw / raw.sum(-1, keepdims=True)


@pytest.mark.parametrize("framed", [(), [(0, 2), (2, 0)]])
def test_cells_are_framed_and_those_without_a_number_grey(framed):
    values = weights(4, 4)
    values[1] = np.nan
    chart = matrix_chart(values, *[Axis.numbered("pair", 4)] * 2, Role.WEIGHTS, framed=framed, title="weight")
    marks = {(row["row"], row["col"]) for row in rows_of(chart) if set(row) == {"row", "col"}}
    assert marks == {*framed}
    assert sum(bool(row.get("masked")) for row in rows_of(chart)) == 4


def test_a_curve_of_a_model_spans_the_predicted_steps():
    spec = valid(series_chart(np.linspace(-1, 1, 5), {"attention": np.array([0.4, 0.9])}, range(3, 5)))
    shaded, lines = (spec["datasets"][layer["data"]["name"]] for layer in spec["layer"])
    assert shaded == [{"step": 2.5, "until": 4}]
    assert [(row["step"], row["value"]) for row in lines if row["what"] == "attention"] == [(3, 0.4), (4, 0.9)]
    assert len([row for row in lines if row["what"] == "drawn"]) == 5
