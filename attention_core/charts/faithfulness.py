"""Charts of whether a map explains an answer: curves of deletion, a word's weight beside another that would do."""

from collections.abc import Mapping, Sequence

from attention_core.attention.types import Role
from attention_core.charts import vega as vl
from attention_core.faithfulness.attribution import Curve

COLOURS = (vl.ROLE_COLOURS[Role.WEIGHTS], "#0072B2", "#E69F00", "#009E73", "#D55E00")

N_WORDS = 12  # whose weights are drawn


def curves_chart(curves: Mapping[str, Curve], what: str = "erased") -> vl.Chart:
    """Draw what is left of the answer over the share of parts erased, or inserted; the last order is chance."""
    colours = (*COLOURS[: len(curves) - 1], vl.GREY)
    data = {
        "order": [name for name, curve in curves.items() for _ in curve.shares],
        what: [share for curve in curves.values() for share in curve.shares],
        "probability": [probability for curve in curves.values() for probability in curve.probability],
    }
    space = {
        "x": vl.field(f"{what}:Q", title=what, axis=dict(format="%", tickCount=5, grid=False)),
        "y": vl.percent_axis("probability", "what is left of the answer"),
        "color": vl.series_colour("order", list(curves), colours, columns=1, labelLimit=260),
    }
    tooltip = "order:N", (f"{what}:Q", "", ".0%"), ("probability:Q", "", ".1%")
    return vl.layer(vl.mark("line", data, space, *tooltip, strokeWidth=2.5), height=190 + 20 * len(curves))


def two_weights_chart(names: Sequence[str], own: Sequence[float], other: Sequence[float]) -> vl.Chart:
    """Draw each word's weight, and below it that of other weights with the same answer; of many words the heaviest."""
    largest = sorted(sorted(range(len(names)), key=lambda place: -own[place])[:N_WORDS])
    labels = [f"{place + 1} {names[place]}" for place in largest]
    both = zip(("these weights", "others, same answer"), (own, other), strict=True)
    series = {name: [weights[place] for place in largest] for name, weights in both}
    data = vl.long_form(("weights", "word", "weight"), series, labels)
    space = {
        "y": vl.field("word:N", sort=labels, title=None, axis=dict(labelLimit=120)),
        "x": vl.field("weight:Q", title="weight", axis=dict(format="%", tickCount=4, grid=False)),
        "yOffset": vl.field("weights:N", sort=list(series)),
        "color": vl.series_colour("weights", list(series), (COLOURS[0], vl.GREY)),
    }
    bars = vl.mark("bar", data, space, "word:N", "weights:N", ("weight:Q", "", ".1%"))
    return vl.layer(bars, height=min(34 * len(labels) + 80, 440))
