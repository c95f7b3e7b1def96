"""Charts of the soft look-up: weights against temperature, recall against noise, regression with its bump."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from attention_core.attention.types import Role
from attention_core.charts.design import Design, alt
from attention_core.charts.marks import tips
from attention_core.charts.palette import CHOSEN, GREY, ROLE_COLOURS
from attention_core.charts.scale import from_to, rule_at, series_colour, shares
from attention_core.topics.lookup.recall import Recall

LINES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
N_SHOWN = len(LINES)


def sweep_chart(
    weights: np.ndarray, temperatures: Sequence[float], labels: Sequence[str], now: float, *, height: int = 380
) -> Design:
    """Draw one query's weights (n_temperatures, n_keys) against the temperature, from look-up to plain average.

    Temperatures are above 0, labels are those of the keys, and the temperature now is marked.
    """
    shown = np.argsort(-weights.max(0), kind="stable")[:N_SHOWN]
    names = [f"{labels[key][:36]}" + ("" if labels[key][:36] == labels[key] else "…") for key in shown]
    names = [name if names.index(name) == place else f"{name} ({place + 1})" for place, name in enumerate(names)]
    frame = pd.DataFrame(
        {"temperature": float(one), "weight": float(weights[row, key]), "record": name}
        for key, name in zip(shown, names, strict=True)
        for row, one in enumerate(temperatures)
    )
    n_others = weights.shape[1] - len(shown)
    if n_others:
        each = (1 - weights[:, shown].sum(1)) / n_others
        name = f"each of the other {n_others}"
        names.append(name)
        more = {"temperature": list(map(float, temperatures)), "weight": each, "record": name}
        frame = pd.concat([frame, pd.DataFrame(more)], ignore_index=True)
    colours = [*LINES[: len(shown)], GREY][: len(names)]
    axis = alt.Axis(tickCount=5, format="~g", grid=False)
    lines = alt.Chart(frame).mark_line(strokeWidth=2)
    lines = lines.encode(
        x=alt.X("temperature:Q", scale=alt.Scale(type="log", nice=False), axis=axis),
        y=shares("weight", alt.Undefined),
        color=series_colour("record", names, colours, orient="bottom", columns=1, labelLimit=260),
        tooltip=tips("record:N", ("temperature:Q", "", ".3g"), ("weight:Q", "", ".3f")),
    )
    return alt.layer(lines, _dashed("temperature", now, GREY), height=height)


def recall_chart(results: Sequence[Recall], *, height: int = 330) -> Design:
    """Draw the share of records found against the share of letters that are wrong."""
    kinds = {
        "dictionary: found": "exact",
        "soft: largest weight on the right record": "soft",
        "soft: weight on the right record": "weight",
    }
    frame = pd.DataFrame(
        {"noise": result.noise, "share": getattr(result, field), "look-up": words}
        for words, field in kinds.items()
        for result in results
    )
    colours = ["#6B7785", "#0072B2", ROLE_COLOURS[Role.WEIGHTS]]
    lines = alt.Chart(frame, height=height).mark_line(point=alt.OverlayMarkDef(size=36), strokeWidth=2)
    return lines.encode(
        x=alt.X("noise:Q", title="share of letters replaced in the keys", axis=alt.Axis(format="%", tickCount=5)),
        y=shares("share"),
        color=series_colour("look-up", list(kinds), colours, orient="bottom", columns=1, labelLimit=320),
        tooltip=tips("look-up:N", ("noise:Q", "", ".0%"), ("share:Q", "", ".1%")),
    )


def regression_chart(
    keys: np.ndarray,
    values: np.ndarray,
    curve: tuple[np.ndarray, np.ndarray],
    queries: np.ndarray,
    answers: np.ndarray,
    weights: np.ndarray,
    chosen: int,
    names: tuple[str, str],
    span: tuple[float, float],
    *,
    height: int = 230,
) -> Design:
    """Draw numeric records, what every query on the way would get back, and the chosen query with its weights.

    Args:
        keys: (n,).
        values: (n,).
        curve: queries along the axis and what they get back, (m,) each.
        queries: (n_queries,), those that were asked.
        answers: (n_queries,).
        weights: (n,), of the chosen query; a record is drawn as large as its weight.
        chosen: which query.
        names: what a key and a value are called.
        span: least and largest number of the axis of keys.
        height: screen pixels.
    """
    at = {
        "x": alt.X("key:Q", title=None, scale=from_to(*span, padding=8), axis=alt.Axis(grid=False, labels=False)),
        "y": alt.Y("value:Q", title=names[1], scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=4, minExtent=44)),
    }
    colour, (key, value) = ROLE_COLOURS[Role.CONTEXT], names
    records = pd.DataFrame({"key": keys, "value": values, "weight": weights})
    line = pd.DataFrame({"key": curve[0], "value": curve[1]})
    asked = pd.DataFrame({"key": queries, "value": answers})
    points = alt.Chart(records).mark_circle(color=ROLE_COLOURS[Role.WEIGHTS], opacity=0.85)
    diamonds = {"shape": "diamond", "filled": True, "opacity": 1, "size": 90, "color": colour, "stroke": "white"}
    return alt.layer(
        _dashed("key", float(queries[chosen]), CHOSEN),
        points.encode(
            **at,
            size=alt.Size("weight:Q", scale=alt.Scale(range=[14, 320]), legend=None),
            tooltip=tips(("key:Q", key), ("value:Q", value), ("weight:Q", "", ".3f")),
        ),
        alt.Chart(line).mark_line(color=colour, strokeWidth=2, clip=True, tooltip=None).encode(**at),
        alt.Chart(asked)
        .mark_point(**diamonds)
        .encode(**at, tooltip=tips(("key:Q", "query"), ("value:Q", "comes back", ".4g"))),
        height=height,
    )


def bump_chart(
    keys: np.ndarray, weights: np.ndarray, query: float, span: tuple[float, float], name: str, *, height: int = 150
) -> Design:
    """Draw the weights (n,) of one query over numeric keys (n,) as thin bars around it; the name is that of a key."""
    frame = pd.DataFrame({"key": keys, "weight": weights, "floor": np.zeros(len(keys))})
    stems = alt.Chart(frame).mark_rule(color=ROLE_COLOURS[Role.WEIGHTS], strokeWidth=3)
    stems = stems.encode(
        x=alt.X("key:Q", title=name, scale=from_to(*span, padding=8), axis=alt.Axis(grid=False)),
        y=alt.Y("weight:Q", title="weight", axis=alt.Axis(tickCount=2, minExtent=44)),
        y2=alt.Y2("floor"),
        tooltip=tips(("key:Q", name), ("weight:Q", "", ".3f")),
    )
    return alt.layer(_dashed("key", query, CHOSEN), stems, height=height)


def _dashed(field: str, value: float, colour: str) -> Design:
    return rule_at("x", field, value, color=colour, strokeWidth=1.5, strokeDash=[4, 3])
