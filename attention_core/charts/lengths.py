"""BLEU against the length of the sentence: one line per translator, named at its end."""

from __future__ import annotations

import altair as alt
import pandas as pd

from attention_core.charts.layers import fixed
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


def length_chart(figures: ByLength, *, width: int = 560, height: int = 320) -> alt.LayerChart:
    """Draw BLEU against length.

    Args:
        figures: at least one model and one group.
        width: screen pixels of the plot, names on its right not counted.
        height: screen pixels.

    Raises:
        ValueError: there are no figures.
    """
    if not figures.scores or not figures.groups:
        raise ValueError("figures must hold at least one model, got none")
    names = list(figures.scores)
    frame = pd.DataFrame(
        [
            {"model": name, "label": TRANSLATORS.get(name, name), "words": group, "bleu": value}
            for name, row in figures.scores.items()
            for group, value in zip(figures.groups, row, strict=True)
            if value is not None
        ]
    )
    top = 5 * (1 + float(frame["bleu"].max()) // 5)
    x = alt.X(
        "words:O",
        sort=figures.groups,
        title="words of the English sentence",
        scale=alt.Scale(paddingOuter=0.2, type="point"),
        axis=alt.Axis(labelAngle=0, grid=False),
    )
    y = alt.Y("bleu:Q", title="BLEU", scale=alt.Scale(domain=[0, top], nice=False), axis=alt.Axis(tickCount=5))
    colours = alt.Scale(domain=names, range=[COLOURS.get(name, "#7d8794") for name in names])
    colour = alt.Color("model:N", scale=colours, legend=None)
    looked = alt.selection_point(fields=["model"], on="pointerover", clear="pointerout", name="looked")
    told = [
        alt.Tooltip("label:N", title="translator"),
        alt.Tooltip("words:O"),
        alt.Tooltip("bleu:Q", title="BLEU", format=".1f"),
    ]
    opacity = alt.condition(looked, alt.value(1), alt.value(0.2))
    base = alt.Chart(frame).encode(x=x, y=y, color=colour, opacity=opacity)
    kinds = {
        name: SHAPES[list(TRANSLATORS).index(name) % len(SHAPES)] if name in TRANSLATORS else "circle" for name in names
    }
    shape = alt.Shape("model:N", scale=alt.Scale(domain=names, range=[kinds[name] for name in names]), legend=None)
    lines = base.mark_line(strokeWidth=2.2)
    marks = base.mark_point(size=70, filled=True, opacity=1).encode(shape=shape, tooltip=told).add_params(looked)
    return fixed([lines, marks, _names(frame, figures, top, height, x, looked)], width, height)


def _names(frame, figures, top, height, x, looked) -> alt.Chart:
    """Write the names right of the last group, moved apart where lines end close to each other."""
    ends = frame[frame["words"] == figures.groups[-1]].sort_values("bleu", ascending=False).copy()
    ends["place"] = spread_out(list(ends["bleu"]), NAME_HEIGHT * top / height, lowest=0.0)
    return (
        alt.Chart(ends)
        .mark_text(align="left", dx=14, fontSize=12, color="#7d8794", aria=False, tooltip=None)
        .encode(
            x=x,
            y=alt.Y("place:Q"),
            text=alt.Text("label:N"),
            opacity=alt.condition(looked, alt.value(1), alt.value(0.3)),
        )
    )


def spread_out(places: list[float], gap: float, lowest: float) -> list[float]:
    """Return places, given from the highest to the lowest, moved so that neighbours are a gap apart.

    Args:
        places: falling numbers.
        gap: least distance.
        lowest: where the last one may end; if there is no room, all move up.
    """
    moved: list[float] = []
    for place in places:
        moved.append(min(place, moved[-1] - gap) if moved else place)
    up = max(0.0, lowest - moved[-1]) if moved else 0.0
    return [place + up for place in moved]
