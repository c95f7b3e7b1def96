"""Near words and their weights as a chart: order, values, words whose usual weight is not known."""

from attention_core.topics.matter.charts import neighbours_chart
from attention_core.topics.matter.word_space import Neighbour, Usual
from tests.charts.tools import valid

NEAR = [
    Neighbour("fine", 1.0, 2.0, Usual(30, 1.5, 0.5)),
    Neighbour("good", 0.9, 1.8, Usual(99, 0.4, 0.9)),
    Neighbour("rare", 0.7, 1.1, None),
]


def test_words_keep_their_order_and_their_numbers():
    spec = valid(neighbours_chart(NEAR))
    rows = next(data for data in spec["datasets"].values() if len(data) == 3)
    assert [row["word"] for row in rows] == ["fine", "good", "rare"]
    assert (rows[0]["low"], rows[0]["high"]) == (1.0, 2.0)
    assert rows[1]["low"] == 0  # a weight is never negative
    assert rows[2]["mean"] is None


def test_the_even_share_is_marked_at_one():
    spec = neighbours_chart(NEAR).to_dict()
    assert [{"even": 1.0}] in spec["datasets"].values()
