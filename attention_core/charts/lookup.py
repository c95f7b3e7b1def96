"""Charts of the soft look-up: weights against temperature, recall against noise, regression with its bump."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from attention_core.attention.types import Role
from attention_core.charts.palette import ROLE_COLOURS
from attention_core.charts.scale import series_colour
from attention_core.topics.lookup.recall import Recall

LINES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
OTHERS = "#8a93a0"
N_SHOWN = len(LINES)


def sweep_chart(
    weights: np.ndarray, temperatures: Sequence[float], labels: Sequence[str], now: float, *, height: int = 380
) -> alt.LayerChart:
    """Draw one query's weights against the temperature, from look-up to plain average.

    Args:
        weights: float (n_temperatures, n_keys).
        temperatures: n_temperatures numbers above 0.
        labels: n_keys texts.
        now: the present temperature, marked.
        height: screen pixels.
    """
    shown = np.argsort(-weights.max(0), kind="stable")[:N_SHOWN]
    names = [f"{labels[key][:36]}" + ("" if labels[key][:36] == labels[key] else "…") for key in shown]
    names = [name if names.index(name) == place else f"{name} ({place + 1})" for place, name in enumerate(names)]
    frame = pd.DataFrame(
        [
            {"temperature": float(one), "weight": float(weights[row, key]), "record": name}
            for key, name in zip(shown, names, strict=True)
            for row, one in enumerate(temperatures)
        ]
    )
    n_others = weights.shape[1] - len(shown)
    if n_others:
        each = (1 - weights[:, shown].sum(1)) / n_others
        name = f"each of the other {n_others}"
        names.append(name)
        more = {"temperature": list(map(float, temperatures)), "weight": each, "record": name}
        frame = pd.concat([frame, pd.DataFrame(more)], ignore_index=True)
    colours = [*LINES[: len(shown)], OTHERS][: len(names)]
    lines = (
        alt.Chart(frame)
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X(
                "temperature:Q",
                scale=alt.Scale(type="log", nice=False),
                axis=alt.Axis(tickCount=5, format="~g", grid=False),
            ),
            y=alt.Y("weight:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=3, format="%")),
            color=series_colour("record", names, colours, orient="bottom", columns=1, labelLimit=260),
            tooltip=[
                alt.Tooltip("record:N"),
                alt.Tooltip("temperature:Q", format=".3g"),
                alt.Tooltip("weight:Q", format=".3f"),
            ],
        )
    )
    return alt.layer(lines, _rule("temperature", now, OTHERS)).properties(height=height)


def recall_chart(results: Sequence[Recall], *, height: int = 330) -> alt.Chart:
    """Draw the share of records found against the share of letters that are wrong."""
    kinds = {
        "dictionary: found": "exact",
        "soft: largest weight on the right record": "soft",
        "soft: weight on the right record": "weight",
    }
    frame = pd.DataFrame(
        [
            {"noise": result.noise, "share": getattr(result, field), "look-up": words}
            for words, field in kinds.items()
            for result in results
        ]
    )
    colours = ["#6B7785", "#0072B2", ROLE_COLOURS[Role.WEIGHTS]]
    return (
        alt.Chart(frame)
        .mark_line(point=alt.OverlayMarkDef(size=36), strokeWidth=2)
        .encode(
            x=alt.X("noise:Q", title="share of letters replaced in the keys", axis=alt.Axis(format="%", tickCount=5)),
            y=alt.Y("share:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=3)),
            color=series_colour("look-up", list(kinds), colours, orient="bottom", columns=1, labelLimit=320),
            tooltip=["look-up:N", alt.Tooltip("noise:Q", format=".0%"), alt.Tooltip("share:Q", format=".1%")],
        )
        .properties(height=height)
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
) -> alt.LayerChart:
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
    scale = alt.Scale(domain=list(span), nice=False, padding=8)
    x = alt.X("key:Q", title=None, scale=scale, axis=alt.Axis(grid=False, labels=False))
    y = alt.Y("value:Q", title=names[1], scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=4, minExtent=44))
    records = pd.DataFrame({"key": keys, "value": values, "weight": weights})
    points = (
        alt.Chart(records)
        .mark_circle(color=ROLE_COLOURS[Role.WEIGHTS], opacity=0.85)
        .encode(
            x=x,
            y=y,
            size=alt.Size("weight:Q", scale=alt.Scale(range=[14, 320]), legend=None),
            tooltip=[
                alt.Tooltip("key:Q", title=names[0]),
                alt.Tooltip("value:Q", title=names[1]),
                alt.Tooltip("weight:Q", format=".3f"),
            ],
        )
    )
    line = (
        alt.Chart(pd.DataFrame({"key": curve[0], "value": curve[1]}))
        .mark_line(color=ROLE_COLOURS[Role.CONTEXT], strokeWidth=2, clip=True, tooltip=None)
        .encode(x=x, y=y)
    )
    asked = pd.DataFrame({"key": queries, "value": answers})
    dots = (
        alt.Chart(asked)
        .mark_point(shape="diamond", filled=True, opacity=1, size=90, color=ROLE_COLOURS[Role.CONTEXT], stroke="white")
        .encode(
            x=x,
            y=y,
            tooltip=[alt.Tooltip("key:Q", title="query"), alt.Tooltip("value:Q", title="comes back", format=".4g")],
        )
    )
    query = _rule("key", float(queries[chosen]), ROLE_COLOURS[Role.QUERY])
    return alt.layer(query, points, line, dots).properties(height=height)


def bump_chart(
    keys: np.ndarray, weights: np.ndarray, query: float, span: tuple[float, float], name: str, *, height: int = 150
) -> alt.LayerChart:
    """Draw the weights of one query over numeric keys as thin bars around it.

    Args:
        keys: (n,).
        weights: (n,).
        query: where it asks.
        span: least and largest number of the axis.
        name: what a key is called.
        height: screen pixels.
    """
    frame = pd.DataFrame({"key": keys, "weight": weights, "floor": np.zeros(len(keys))})
    x = alt.X(
        "key:Q",
        title=name,
        scale=alt.Scale(domain=list(span), nice=False, padding=8),
        axis=alt.Axis(grid=False),
    )
    stems = (
        alt.Chart(frame)
        .mark_rule(color=ROLE_COLOURS[Role.WEIGHTS], strokeWidth=3)
        .encode(
            x=x,
            y=alt.Y("weight:Q", title="weight", axis=alt.Axis(tickCount=2, minExtent=44)),
            y2=alt.Y2("floor"),
            tooltip=[alt.Tooltip("key:Q", title=name), alt.Tooltip("weight:Q", format=".3f")],
        )
    )
    return alt.layer(_rule("key", query, ROLE_COLOURS[Role.QUERY]), stems).properties(height=height)


def _rule(field: str, value: float, colour: str) -> alt.Chart:
    return (
        alt.Chart(pd.DataFrame({field: [value]}))
        .mark_rule(color=colour, strokeWidth=1.5, strokeDash=[4, 3], aria=False)
        .encode(x=f"{field}:Q")
    )
