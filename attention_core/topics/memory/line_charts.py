"""Lines that are named at their ends: how fast words fade, and BLEU against the length of the sentence."""

from collections.abc import Mapping, Sequence

import numpy as np

from attention_core.charts.design import (
    FILL,
    WORDS,
    Chart,
    Columns,
    Line,
    alt,
    fixed,
    from_to,
    long_form,
    mark,
    one_each,
    rule_at,
    texts,
)
from attention_core.topics.memory.charts import DECADES
from attention_core.topics.translate.lengths import TRANSLATORS, ByLength

NETWORK_COLOURS = {"GRU": "#0072B2", "plain RNN": "#D55E00"}
LOOKS = {
    "translator-plain": ("#E69F00", "circle"),
    "translator-none": ("#D55E00", "square"),
    "translator-mean": ("#CC79A7", "diamond"),
    "translator-dot": ("#56B4E9", "triangle-up"),
    "translator-general": ("#0072B2", "triangle-down"),
    "translator-additive": ("#009E73", "cross"),
    "translator-transformer": ("#7d8794", "triangle-right"),
}
"""Okabe and Ito 2008, and grey; every line also has its own mark and its name at its end."""
SIZE = (430, 190)
NAME_HEIGHT = 15  # screen pixels between two names


def fading_chart(
    lines: Mapping[str, Sequence[float]],
    *,
    bands: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None,
    words: Sequence[str] | None = None,
    logarithmic: bool = False,
) -> Chart:
    """Draw what is left of a word after 0, 1, 2, ... more words, one line per network, and where half is left.

    Lines are what is left by name of a network (of NETWORK_COLOURS), bands the (lower, upper) around some of them;
    words, if given, are those that were read at each moment, for the mouse.
    """
    sides = [side for pair in (bands or {}).values() for side in pair]
    least = _lowest([*lines.values(), *sides]) if logarithmic else 0.0
    left = {name: np.maximum(numbers, least) for name, numbers in lines.items()}
    longest = max(1, *(len(numbers) - 1 for numbers in left.values()))
    top = max(1.0, *(float(numbers.max()) for numbers in left.values()))
    scale = alt.Scale(type="log", domain=[least, top], nice=False) if logarithmic else from_to(0, 1.02 * top)
    ticks = [digit * 10.0**power for power in range(-DECADES, 3) for digit in (1, 2, 5)]
    shown = {"values": [tick for tick in ticks if least <= tick <= top]} if logarithmic else {"tickCount": 4}
    axis = alt.Axis(grid=False, format="d", values=list(range(0, longest + 1, 1 + longest // 12)))
    space = {
        "x": alt.X("later:Q", title="words later", scale=from_to(0, longest * 1.16), axis=axis),
        "y": alt.Y("left:Q", title=None, scale=scale, axis=alt.Axis(format="~%", **shown)),
    }
    networks = one_each(list(NETWORK_COLOURS), list(NETWORK_COLOURS.values()))
    colour = alt.Color("network:N", scale=networks, legend=None)
    data = _columns(left)
    told: list[Line] = ["network:N", ("later:Q", "words later"), ("left:Q", "left", ".2%")]
    if words:
        data["word"] = [words[later] for later in data["later"]]
        told.insert(2, ("word:N", "after"))
    layers = [rule_at("y", "left", 0.5, strokeDash=[3, 3], color=WORDS, tooltip=None)]
    if bands:
        low, high = (_columns({name: np.maximum(pair[end], least) for name, pair in bands.items()}) for end in (0, 1))
        area = {**space, "y2": alt.Y2("upper"), "color": colour}
        layers.append(mark("area", low | {"upper": high["left"]}, area, opacity=0.16))
    layers.append(mark("line", data, {**space, "color": colour}, *told, strokeWidth=2.2, point={"size": 30}))
    return fixed([*layers, _network_names(left, space, least, top)], *SIZE)


def _columns(numbers: Mapping[str, np.ndarray]) -> Columns:
    return long_form(("network", "later", "left"), numbers)


def _lowest(lines: Sequence[Sequence[float]]) -> float:
    """Return the power of ten at which a logarithmic axis for these lines begins: 0.1 or below."""
    least = max(min((float(left) for line in lines for left in line), default=1.0), 10.0**-DECADES)
    return min(0.1, 10.0 ** np.floor(np.log10(least)))


def _network_names(left: Mapping[str, np.ndarray], space: dict, least: float, top: float) -> Chart:
    names = sorted(left, key=lambda name: -left[name][-1])
    ends = np.array([left[name][-1] for name in names])
    span = np.log10(top / least) if least else 1.02 * top
    lowest = 0.02 * span + (np.log10(least) if least else 0.0)
    places = np.array(spread_out(list(np.log10(ends) if least else ends), 16 * span / SIZE[1], lowest))
    data = {
        "network": names,
        "later": [len(left[name]) - 1 for name in names],
        "left": np.minimum(10.0**places, top) if least else places,
        "fill": [NETWORK_COLOURS[name] for name in names],
    }
    return texts(data, space, "network", color=FILL, align="left", dx=8, fontWeight="bold")


def length_chart(figures: ByLength, *, width: int = 560, height: int = 320) -> Chart:
    """Draw BLEU against length; names right of the plot do not count in its width. ValueError without figures."""
    if not figures.scores or not figures.groups:
        raise ValueError("figures must hold at least one model, got none")
    names = list(figures.scores)
    data = long_form(("model", "words", "bleu"), figures.scores, figures.groups)
    data["label"] = [TRANSLATORS.get(name, name) for name in data["model"]]
    top = 5 * (1 + max(data["bleu"]) // 5)
    x = alt.X(
        "words:O",
        sort=figures.groups,
        title="words of the English sentence",
        scale=alt.Scale(paddingOuter=0.2, type="point"),
        axis=alt.Axis(labelAngle=0, grid=False),
    )
    y = alt.Y("bleu:Q", title="BLEU", scale=from_to(0, top), axis=alt.Axis(tickCount=5))
    colours, shapes = zip(*(LOOKS.get(name, (WORDS, "circle")) for name in names), strict=True)
    looks = {
        "color": alt.Color("model:N", scale=one_each(names, colours), legend=None),
        "shape": alt.Shape("model:N", scale=one_each(names, shapes), legend=None),
    }
    looked = alt.selection_point(fields=["model"], on="pointerover", clear="pointerout", name="looked")
    shown, dimmed = (alt.condition(looked, alt.value(1), alt.value(faint)) for faint in (0.2, 0.3))
    told = ("label:N", "translator"), "words:O", ("bleu:Q", "BLEU", ".1f")
    dots: dict = {"size": 70, "filled": True}
    # names right of the last group, moved apart where lines end close to each other
    last = {name: scores[-1] for name, scores in figures.scores.items() if scores[-1] is not None}
    falling = sorted(last, key=last.__getitem__, reverse=True)
    ends = {
        "model": falling,
        "label": [TRANSLATORS.get(name, name) for name in falling],
        "words": [figures.groups[-1]] * len(falling),
        "place": spread_out([last[name] for name in falling], NAME_HEIGHT * top / height, lowest=0.0),
    }
    place = {"x": x, "y": alt.Y("place:Q")}
    layers = [
        mark("line", data, {"x": x, "y": y, "color": looks["color"]}, opacity=shown, strokeWidth=2.2, aria=True),
        mark("point", data, {"x": x, "y": y, **looks}, *told, opacity=shown, **dots).add_params(looked),
        mark("point", ends, {**place, **looks}, opacity=dimmed, xOffset=20, aria=True, **dots),
        texts(ends, place, "label", opacity=dimmed, align="left", dx=30, fontSize=12, color=WORDS),
    ]
    return fixed(layers, width, height)


def spread_out(places: list[float], gap: float, lowest: float) -> list[float]:
    """Return falling places, moved so that neighbours are a gap apart; all move up where the last would be too low."""
    moved: list[float] = []
    for place in places:
        moved.append(min(place, moved[-1] - gap) if moved else place)
    up = max(0.0, lowest - moved[-1]) if moved else 0.0
    return [place + up for place in moved]
