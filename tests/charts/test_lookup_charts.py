"""Charts of the look-up and of triples: right numbers, right marks, Vega-Lite's own schema."""

import numpy as np
import pytest

from attention_core.attention.types import Axis, Role
from attention_core.charts.heatmap import pair_map
from attention_core.topics.lookup.charts import bump_chart, recall_chart, regression_chart, sweep_chart
from attention_core.topics.lookup.recall import Recall
from tests.charts.tools import rows_of

GENERATOR = np.random.default_rng(2)


def weights(*shape):
    raw = GENERATOR.random(shape)
    return raw / raw.sum(-1, keepdims=True)


def test_sweep_draws_the_heaviest_records_and_the_mean_of_the_others():
    share = weights(6, 9)
    rows = rows_of(sweep_chart(share, [0.1, 0.2, 0.4, 1, 2, 4], [f"record {n}" for n in range(9)], 0.2))
    names = {row["record"] for row in rows if "record" in row}
    assert len(names) == 6
    others = [row["weight"] for row in rows if row.get("record") == "each of the other 4"]
    kept = np.argsort(-share.max(0))[:5]
    np.testing.assert_allclose(others, (1 - share[:, kept].sum(1)) / 4)


def test_sweep_keeps_records_apart_whose_names_begin_alike():
    rows = rows_of(sweep_chart(weights(2, 3), [0.1, 1], ["the same long beginning, one"] * 2 + ["x"], 0.2))
    assert len({row["record"] for row in rows if "record" in row}) == 3


def test_recall_draws_three_lines():
    rows = rows_of(recall_chart([Recall(0, 1, 1, 0.9), Recall(0.5, 0, 0.8, 0.6)]))
    assert sorted({row["look-up"] for row in rows}) == [
        "dictionary: found",
        "soft: largest weight on the right record",
        "soft: weight on the right record",
    ]
    assert [row["share"] for row in rows if row["look-up"].startswith("dictionary")] == [1, 0]


def test_regression_and_bump_share_their_axis():
    keys, share, span = np.arange(4.0), weights(4), (0.0, 5.0)
    chart = regression_chart(
        keys, keys, (keys, keys), np.array([1.5, 5.0]), np.array([1.0, 2.0]), share, 0, ("times", "value"), span
    )
    bump = bump_chart(keys, share, 1.5, span, "times")
    for one in (chart, bump):
        assert [0.0, 5.0] in [layer["encoding"]["x"].get("scale", {}).get("domain") for layer in one.to_dict()["layer"]]


@pytest.mark.parametrize("framed", [(), [(0, 2)]])
def test_pairs_are_framed_in_both_orders(framed):
    values = weights(4, 4)
    values[1] = np.nan
    chart = pair_map(values, Axis.numbered("pair", 4), Role.WEIGHTS, framed=framed, title="weight")
    marks = {(row["row"], row["col"]) for row in rows_of(chart) if set(row) == {"row", "col"}}
    assert marks == ({(0, 2), (2, 0)} if framed else set())
    assert sum(bool(row.get("masked")) for row in rows_of(chart)) == 4
