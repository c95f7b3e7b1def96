"""BLEU against the length of the sentence: one line per translator, named at its end."""

from __future__ import annotations

import pandas as pd

from attention_core.charts.design import Design, alt
from attention_core.charts.layers import fixed
from attention_core.charts.marks import texts, tips
from attention_core.charts.palette import WORDS
from attention_core.charts.scale import from_to, one_each
from attention_core.topics.translate.lengths import TRANSLATORS, ByLength

COLOURS = {
    "translator-plain": "#E69F00",
    "translator-none": "#D55E00",
    "translator-mean": "#CC79A7",
    "translator-dot": "#56B4E9",
    "translator-general": "#0072B2",
    "translator-additive": "#009E73",
    "translator-transformer": "#7d8794",
}
"""Okabe and Ito 2008, and grey; every line also has its own mark and its name at its end."""
SHAPES = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "triangle-right")
NAME_HEIGHT = 15
"""Screen pixels between two names."""


def length_chart(figures: ByLength, *, width: int = 560, height: int = 320) -> Design:
    """Draw BLEU against length; the names on the right of the plot are not counted in its width.

    Raises:
        ValueError: there are no figures.
    """
    if not figures.scores or not figures.groups:
        raise ValueError("figures must hold at least one model, got none")
    names = list(figures.scores)
    frame = pd.DataFrame(
        {"model": name, "label": TRANSLATORS.get(name, name), "words": group, "bleu": value}
        for name, row in figures.scores.items()
        for group, value in zip(figures.groups, row, strict=True)
        if value is not None
    )
    top = 5 * (1 + float(frame["bleu"].max()) // 5)
    x = alt.X(
        "words:O",
        sort=figures.groups,
        title="words of the English sentence",
        scale=alt.Scale(paddingOuter=0.2, type="point"),
        axis=alt.Axis(labelAngle=0, grid=False),
    )
    colours = one_each(names, [COLOURS.get(name, WORDS) for name in names])
    looked = alt.selection_point(fields=["model"], on="pointerover", clear="pointerout", name="looked")
    base = alt.Chart(frame).encode(
        x=x,
        y=alt.Y("bleu:Q", title="BLEU", scale=from_to(0, top), axis=alt.Axis(tickCount=5)),
        color=alt.Color("model:N", scale=colours, legend=None),
        opacity=alt.condition(looked, alt.value(1), alt.value(0.2)),
    )
    kinds = dict(zip(TRANSLATORS, SHAPES, strict=True))
    shapes = one_each(names, [kinds.get(name, "circle") for name in names])
    marks = base.mark_point(size=70, filled=True, opacity=1).encode(
        shape=alt.Shape("model:N", scale=shapes, legend=None),
        tooltip=tips(("label:N", "translator"), "words:O", ("bleu:Q", "BLEU", ".1f")),
    )
    # names right of the last group, moved apart where lines end close to each other
    ends = frame[frame["words"] == figures.groups[-1]].sort_values("bleu", ascending=False).copy()
    ends["place"] = spread_out(list(ends["bleu"]), NAME_HEIGHT * top / height, lowest=0.0)
    place = {"x": x, "y": alt.Y("place:Q")}
    dimmed = alt.condition(looked, alt.value(1), alt.value(0.3))
    labels = texts(ends, place, "label", align="left", dx=30, fontSize=12, color=WORDS, tooltip=None)
    mark = alt.Shape("model:N", scale=shapes, legend=None), alt.Color("model:N", scale=colours, legend=None)
    keys = alt.Chart(ends).mark_point(size=70, filled=True, opacity=1, xOffset=20, tooltip=None)
    keys = keys.encode(**place, shape=mark[0], color=mark[1], opacity=dimmed)
    layers = [base.mark_line(strokeWidth=2.2), marks.add_params(looked), keys, labels.encode(opacity=dimmed)]
    return fixed(layers, width, height)


def spread_out(places: list[float], gap: float, lowest: float) -> list[float]:
    """Return falling places, moved so that neighbours are a gap apart; all move up where the last would be too low."""
    moved: list[float] = []
    for place in places:
        moved.append(min(place, moved[-1] - gap) if moved else place)
    up = max(0.0, lowest - moved[-1]) if moved else 0.0
    return [place + up for place in moved]
