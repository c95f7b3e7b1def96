"""Why divide by sqrt(d_k): what grows with d_k, without and with the division."""

from collections.abc import Sequence

from attention_core.charts.design import ChartTemplate, alt
from attention_core.charts.marks import long_form, mark
from attention_core.charts.palette import GREY
from attention_core.charts.scale import rule_at, series_colour, shares
from attention_core.topics.scoring.scaling import ScaleRow

WITHOUT, WITH = "q · k", "q · k / √dₖ"
COLOUR = series_colour("scores", (WITHOUT, WITH), ("#D55E00", "#0072B2"), offset=2)


def scale_chart(
    rows: Sequence[ScaleRow],
    field: str,
    title: str,
    *,
    reference: float | None = None,
    logarithmic: bool = False,
    chosen: int | None = None,
    height: int = 240,
) -> ChartTemplate:
    """Draw one measured quantity over d_k, a line without the division and one with it, under a title.

    The field is variance, entropy, largest or gradient. The reference, such as the value of uniform weights, is
    dotted; a d_k can be marked, and the vertical axis can be logarithmic.

    Raises:
        ValueError: no such field.
    """
    if field not in ("variance", "entropy", "largest", "gradient"):
        raise ValueError(f"field must be variance, entropy, largest or gradient, got {field!r}")
    data = {"d_k": [row.d_k for row in rows], field: [getattr(row, field) for row in rows]}
    data["scores"] = [WITH if row.scaled else WITHOUT for row in rows]
    axis = alt.Axis(values=[1, 4, 16, 64, 256, 1024], format="d", grid=False)
    scale = alt.Scale(type="log", base=10) if logarithmic else alt.Scale(zero=True)
    space = {
        "x": alt.X("d_k:Q", title="dₖ", scale=alt.Scale(type="log", base=2), axis=axis),
        "y": alt.Y(f"{field}:Q", title=None, scale=scale, axis=alt.Axis(tickCount=4, format="~g")),
        "color": COLOUR,
    }
    told = "scores:N", ("d_k:Q", "dₖ"), (f"{field}:Q", title, ".4g")
    layers = [mark("line", data, space, *told, point={"size": 28}, strokeWidth=2)]
    if reference is not None:
        layers.append(rule_at("y", "value", reference, strokeDash=[3, 3], color=GREY))
    if chosen is not None:
        layers.append(rule_at("x", "d_k", chosen, color=GREY, opacity=0.6))
    return alt.layer(*layers, height=height, title=alt.Title(title, anchor="start", fontSize=13, fontWeight="normal"))


def sorted_weights_chart(without: Sequence[float], with_scale: Sequence[float]) -> ChartTemplate:
    """Draw one query's weights over its keys, largest first, without the division and with it."""
    series = {WITHOUT: without, WITH: with_scale}
    data = long_form(("scores", "rank", "weight"), series, range(1, len(without) + 1))
    space = {
        "x": alt.X("rank:O", title="keys, largest weight first", axis=alt.Axis(labelAngle=0, labelOverlap=True)),
        "xOffset": alt.XOffset("scores:N", sort=[WITHOUT, WITH]),
        "y": shares("weight", "weight"),
        "color": COLOUR,
    }
    return mark("bar", data, space, "scores:N", "rank:O", ("weight:Q", "", ".4f")).properties(height=190)
