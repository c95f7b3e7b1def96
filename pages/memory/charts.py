"""Charts of what a recurrent network remembers, and of BLEU by the length of the sentence."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attention_core.attention.types import Role
from attention_core.charts import vega as vl
from attention_core.charts.heatmap import block, matrix_png
from attention_core.charts.words import text_width
from attention_core.evaluate.translation_figures import ByLength
from attention_core.inference.word_influence import MemoryOverview
from ui.chart import IN_A_LECTURE

PER_LABEL = 15  # screen pixels that a slanted word at an axis needs


def over_time(
    memory: MemoryOverview,
    direction: str,
    ramp: vl.Ramp,
    *,
    title: str,
    read: Sequence[bool],
    now: int,
    size: tuple[int, int],
) -> vl.Chart:
    """Draw the states of a reading in one direction: time runs to the right, dimensions downwards.

    More rows than screen pixels are averaged in whole blocks. Words that are read by now are shown, and the one that is
    read at this moment is framed.
    """
    values, labels = memory.states[direction], memory.labels
    n = len(labels)
    width, height = size
    there = np.asarray(read, dtype=bool)
    rows = -(-len(values) // height), 1
    sums, sizes = (block(some, rows, np.add.reduceat) for some in (values, np.ones_like(values)))
    middles = [place + 0.5 for place in range(n)]
    axis = dict(values=middles, labelAngle=-45, **_word_labels(labels, width))
    x = vl.field("left:Q", title=None, scale=vl.exact_scale(0, n), axis=axis)
    space = vl.corners(n, 1, x=x, y=vl.field("top:Q", title=None, axis=None, scale=vl.exact_scale(1, 0)))
    told = vl.rectangles(range(n), 0, word=labels, length=np.linalg.norm(values, axis=0))
    data = {name: np.asarray(some)[there] for name, some in told.items()}
    url = matrix_png(np.where(there, sums / sizes, np.nan), ramp)
    layers = [
        vl.images(vl.rectangles(0, 0, n, url=url), space, clip=True),
        vl.hover_cells(data, space, ("word:N",), ("length:Q", "length of h", ".3g")),
        vl.colour_bar_layer(ramp, "number in the state", min(width, 200)),
        *vl.halo_outlines(vl.rectangles(now, 0), space, (4, 2)),
    ]
    heading = dict(text=title, anchor="start", fontSize=12, fontWeight="normal", offset=4)
    return vl.fixed_size(layers, width, height, title=heading)


def _word_labels(labels: Sequence[str], length: int) -> dict[str, Any]:
    every = -(-len(labels) * PER_LABEL // max(length, 1)) or 1
    return {
        "labelExpr": vl.label_expression(labels, "floor(datum.value)", every),
        "labelLimit": 90,
        "labelFontSize": 12,
        "grid": False,
        "ticks": False,
        "domain": False,
        "labelOverlap": "greedy",
        "labelSeparation": -200,
    }


TRANSLATOR_COLOURS = {"translator-none": "#75808E", "translator-additive": vl.ROLE_COLOURS[Role.WEIGHTS]}
"""Also of the words that the one vector knows: grey is what does without attention."""
LINE, ACROSS, NUMBER, HEAD, SIZE = 18, 112, 34, 22, 12
"""Screen pixels: of a line, of the longest bar, of a number beside it, of what stands above, of the letters."""


def cure_chart(words: Sequence[str], vector: np.ndarray, context: np.ndarray, *, marked: int) -> vl.Chart:
    """Draw one line per word: to the left its share in the one vector, to the right in the context.

    Both are shares (n,) on one scale. The marked word is bold.
    """
    n, middle = len(words), max(text_width(one, IN_A_LECTURE * SIZE) for one in words) + 12
    limit, left = max(float(vector.max()), float(context.max()), 1e-9), ACROSS + NUMBER
    right = left + middle
    wide, tops = right + ACROSS + NUMBER, HEAD + LINE * np.arange(n)
    space = vl.corners(wide, HEAD + LINE * n)
    layers = []
    for name, values, start, way, colour in (
        ("one vector", vector, left, -1, TRANSLATOR_COLOURS["translator-none"]),
        ("attention", context, right, 1, TRANSLATOR_COLOURS["translator-additive"]),
    ):
        long, align = ACROSS * values / limit, "right" if way < 0 else "left"
        bars = vl.rectangles(np.minimum(start, start + way * long), tops + 4, long, LINE - 8)
        said = [f"{100 * value:.{0 if value >= 0.0095 else 1}f}%" for value in values]
        ends = {"left": start + way * (long + 4), "top": tops + LINE / 2, "text": said}
        layers += [
            vl.mark("rect", bars, space, color=colour),
            vl.texts(ends, space, align=align, fontSize=11, color=vl.LABEL_COLOUR, baseline="middle"),
            vl.text_at(name, start, HEAD / 2, space, align=align, fontSize=SIZE, fontWeight="bold", color=colour),
        ]
    names = {"left": np.full(n, left + middle / 2), "top": tops + LINE / 2, "text": np.array(words, object)}
    for weight, chosen in (("normal", np.arange(n) != marked), ("bold", np.arange(n) == marked)):
        some = {name: column[chosen] for name, column in names.items()}
        layers.append(vl.texts(some, space, baseline="middle", fontSize=SIZE, fontWeight=weight, color=vl.LABEL_COLOUR))
    lines = vl.rectangles(0.0, tops, wide, LINE, word=list(words), vector=vector, context=context)
    tooltip = ("word:N", ("vector:Q", "one vector", ".1%"), ("context:Q", "attention", ".1%"))
    return vl.fixed_size([*layers, vl.hover_cells(lines, space, *tooltip)], round(wide), HEAD + LINE * n)


NAME_HEIGHT = 15  # screen pixels between two names


def length_chart(
    figures: ByLength, *, width: int, height: int, called: Mapping[str, str], marked: Mapping[str, str]
) -> vl.Chart:
    """Draw BLEU against length.

    Names right of the plot, which are what models are `called`, do not count in its width. Of the groups that are
    marked, each has its own words above.
    """
    data = vl.long_form(("model", "words", "bleu"), figures.scores, figures.groups)
    data["label"] = [called[name] for name in data["model"]]
    top = 5 * (1 + max(data["bleu"]) // 5)
    x = vl.field(
        "words:O",
        sort=figures.groups,
        title=None,
        scale=dict(paddingOuter=0.2, type="point"),
        axis=dict(labelAngle=0, grid=False),
    )
    y = vl.field("bleu:Q", title=None, scale=vl.exact_scale(0, top), axis=dict(tickCount=5))
    scale = vl.category_scale(list(figures.scores), [TRANSLATOR_COLOURS[name] for name in figures.scores])
    space = {"x": x, "y": y, "color": vl.field("model:N", scale=scale, legend=None)}
    tooltip = ("label:N", "translator"), "words:O", ("bleu:Q", "BLEU", ".1f")
    last = {name: scores[-1] for name, scores in figures.scores.items() if scores[-1] is not None}
    falling = sorted(last, key=last.__getitem__, reverse=True)
    ends = {
        "model": falling,
        "label": [called[name] for name in falling],
        "words": [figures.groups[-1]] * len(falling),
        "place": spread_out([last[name] for name in falling], NAME_HEIGHT * top / height, lowest=0.0),
    }
    marks = {"words": list(marked), "place": [top] * len(marked), "text": list(marked.values())}
    place = {"x": x, "y": vl.field("place:Q")}
    names = place | {"color": space["color"], "text": vl.field("label:N")}
    layers = [
        vl.mark("rule", marks, {"x": x}, strokeDash=[3, 3], color=vl.TEXT_COLOUR, opacity=0.6),
        vl.texts(marks, place, baseline="bottom", dy=-3, color=vl.TEXT_COLOUR),
        vl.mark("line", data, space, *tooltip, strokeWidth=2.2, point={"size": 70}, aria=True),
        vl.mark("text", ends, names, align="left", dx=12, fontSize=12, fontWeight=600),
    ]
    about = "translation quality (BLEU) by words of the English sentence"
    heading = dict(text=about, anchor="start", fontSize=12, fontWeight="normal", offset=22)
    return vl.fixed_size(layers, width, height, title=heading)


def spread_out(places: list[float], gap: float, lowest: float) -> list[float]:
    """Return falling places, moved so that neighbours are a gap apart; all move up where the last would be too low."""
    moved: list[float] = []
    for place in places:
        moved.append(min(place, moved[-1] - gap) if moved else place)
    up = max(0.0, lowest - moved[-1]) if moved else 0.0
    return [place + up for place in moved]
