"""Charts of whether a map explains an answer: curves of deletion, a word's weight beside another that would do."""

from collections.abc import Mapping, Sequence

from attention_core.attention.types import Role
from attention_core.charts import vega as vl
from attention_core.faithfulness.attribution import Curve

COLOURS = (vl.ROLE_COLOURS[Role.WEIGHTS], "#0072B2", "#E69F00", vl.GREY)


def deletion_chart(curves: Mapping[str, Curve], *, height: int = 260) -> vl.Chart:
    """Draw the answer's probability over the share of parts that are erased, a line per order."""
    rows = [
        (name, share, probability)
        for name, curve in curves.items()
        for share, probability in zip(curve.shares, curve.probability, strict=True)
    ]
    data = {column: [row[place] for row in rows] for place, column in enumerate(("order", "erased", "probability"))}
    space = {
        "x": vl.field("erased:Q", title="erased", axis=dict(format="%", tickCount=5, grid=False)),
        "y": vl.percent_axis("probability", "probability of the answer"),
        "color": vl.series_colour("order", list(curves), COLOURS, columns=1, labelLimit=260),
    }
    tooltip = "order:N", ("erased:Q", "", ".0%"), ("probability:Q", "", ".1%")
    return vl.layer(vl.mark("line", data, space, *tooltip, strokeWidth=2.5), height=height)


def two_weights_chart(names: Sequence[str], own: Sequence[float], other: Sequence[float]) -> vl.Chart:
    """Draw each word's weight, and below it that of other weights with the same answer."""
    labels = [f"{place + 1} {name}" for place, name in enumerate(names)]
    series = {"these weights": own, "others, same answer": other}
    data = vl.long_form(("weights", "word", "weight"), series, labels)
    space = {
        "y": vl.field("word:N", sort=labels, title=None, axis=dict(labelLimit=120)),
        "x": vl.field("weight:Q", title="weight", axis=dict(format="%", tickCount=4, grid=False)),
        "yOffset": vl.field("weights:N", sort=list(series)),
        "color": vl.series_colour("weights", list(series), (COLOURS[0], COLOURS[3])),
    }
    bars = vl.mark("bar", data, space, "word:N", "weights:N", ("weight:Q", "", ".1%"))
    return vl.layer(bars, height=min(34 * len(names), 420))
