"""Words as a picture: shaded by one number each, in lines or columns with an arc for every weight, or beside bars."""

import unicodedata
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from attention_core.attention.types import Role
from attention_core.charts import vega as vl
from attention_core.charts.vega import mark, texts

LETTERS = {
    191: "'", 222: "ijl", 260: "|", 278: " !,./:;I[\\]ft", 333: "()-`r", 334: "{}", 355: '"', 389: "*", 469: "^",
    500: "Jcksvxyz", 584: "+<=>~", 611: "FTZ", 667: "&ABEKPSVXY", 722: "CDHNRUw", 778: "GOQ", 833: "Mm", 889: "%",
    944: "W", 1015: "@",
}  # fmt: skip
WIDTHS = {letter: width for width, letters in LETTERS.items() for letter in letters}
"""Thousandths of its size that a letter takes up in Helvetica, and in whatever was made to fit in its place."""
OTHERS, WIDE = 556, 1000  # letters beyond these, and those of scripts that are written in squares
SIZE, PAD, LINE, WIDTH = 14, 4, 26, 640
"""Screen pixels: letters, room beside a word in its box, from one line to the next, of running text."""
STRONGEST = 0.8  # how much of its colour the strongest shade has; the rest is paper, so that words stay readable
FAINTEST = 0.03  # weights below have no arc
BETWEEN = 76  # screen pixels between two lines of words, or 2.5 times that between two columns
STEPS = np.linspace(0, 1, 17)


def text_width(text: str, size: float = SIZE) -> float:
    """Return how many screen pixels a text is long."""
    letters = [one for one in unicodedata.normalize("NFKD", text) if not unicodedata.combining(one)]
    others = [WIDE if unicodedata.east_asian_width(one) in "WF" else OTHERS for one in letters]
    return size * sum(map(WIDTHS.get, letters, others)) / 1000


def shaded_words(
    words: Sequence[str],
    shades: Sequence[float],
    colours: Sequence[str] | str,
    *,
    bar: tuple[vl.Ramp, str] | None = None,
    glued: Sequence[bool] = (),
    chosen: int | None = None,
) -> vl.Chart:
    """Draw words as running text, each shaded by one number, 0 to 1, in its colour or that of all.

    The bar is the ramp of a colour bar below, and its title, where the shades have a common scale. A glued word follows
    the one before without a gap; the chosen word is framed.
    """
    boxes = _flowing(words, glued, WIDTH)
    high, wide = int(boxes["bottom"].max(initial=LINE)) + 2, max(WIDTH, int(boxes["right"].max(initial=0)) + 2)
    each = [colours] * len(words) if isinstance(colours, str) else list(colours)
    boxes["fill"] = [vl.mix_with_white(one, STRONGEST * shade) for one, shade in zip(each, shades, strict=True)]
    layers = _boxes(boxes, vl.corners(wide, high), chosen)
    if bar:
        layers.append(vl.colour_bar_layer(*bar, 200))
    return vl.fixed_size(layers, wide, high)


def shade_ramp(colour: str, high: float, exponent: float = 1.0) -> vl.Ramp:
    """Return the ramp from paper to a colour's strongest shade, for numbers from 0."""
    return vl.Ramp((vl.mix_with_white(colour, 0), vl.mix_with_white(colour, STRONGEST)), 0.0, high, exponent)


def word_arcs(
    source: Sequence[str], target: Sequence[str], weights: np.ndarray, row: int, *, single: str = "", down: bool = False
) -> vl.Chart:
    """Draw source words above target words, with an arc for every weight and one target word's (row) arcs strong.

    Weights are (n_target, n_source), each row sums to 1; (n_target, 1) with one vector for the whole sentence, which
    bears the words `single`. `down` draws two columns, queries on the left, rather than two lines.
    """
    if down:
        queries, keys = _column(target, 1.0), _column(source, 0.0)
        _move(keys, "x", float(queries["right"].max()) + 2.5 * BETWEEN)
        starts, ends = _points(keys["left"], keys["y"]), _points(queries["right"], queries["y"])
    else:
        keys, queries = _flowing(source), _flowing(target)
        spare = float(keys["right"][-1] - queries["right"][-1]) / 2
        _move(queries, "y", LINE + BETWEEN)
        _move(queries if spare > 0 else keys, "x", abs(spare))
        starts, ends = _points(keys["x"], keys["bottom"] + (2 if single else 14)), _points(queries["x"], queries["top"])
    wide, high = (float(max(keys[side].max(), queries[side].max())) + 2 for side in ("right", "bottom"))
    space = vl.corners(wide, high)
    row_weights = np.zeros(len(source)) if single else weights[row]
    keys["fill"] = [vl.mix_with_white(vl.ROLE_COLOURS[Role.WEIGHTS], STRONGEST * share) for share in row_weights]
    queries["fill"] = [vl.mix_with_white(vl.CHOSEN, 0.16 if place == row else 0) for place in range(len(target))]
    layers = _boxes(queries, space, row) + _boxes(keys, space, None)
    if single:
        x, y = wide / 2, float(keys["bottom"][0] + queries["top"][0]) / 2
        arcs = [(start, (x, y - 12), 0.35, 2.2, Role.KEY) for start in starts]
        lit = [(0.95, 5.0) if place == row else (0.15, 1.6) for place in range(len(target))]
        arcs += [((x, y + 12), end, *one, Role.CONTEXT) for end, one in zip(ends, lit, strict=True)]
    else:
        shown = np.argwhere(weights >= FAINTEST).tolist()
        arcs = [(starts[k], ends[q], *_strength(float(weights[q, k]), q == row), Role.WEIGHTS) for q, k in shown]
    layers.insert(0, _arcs(arcs, space, down))
    if single:
        half = text_width(single, 12) / 2 + 8
        box = vl.rectangles(x - half, y - 12, 2 * half, 24, x=x, y=y, text=single, fill="#ffffff")
        layers += [*_boxes(box, space, None, 12), vl.outlined(box, space, 1.5, vl.ROLE_COLOURS[Role.KEY])]
    elif not down:
        shares = [f"{share:.0%}" if share >= 0.005 else "·" for share in row_weights]
        below = {"left": keys["x"], "top": keys["bottom"] + 6, "text": shares}
        layers.append(texts(below, space, fontSize=10, color=vl.LABEL_COLOUR))
    return vl.fixed_size(layers, round(wide), round(high))


def _points(x: np.ndarray, y: np.ndarray) -> list[tuple[float, float]]:
    return list(zip(x.tolist(), y.tolist(), strict=True))


def _strength(weight: float, is_lit: bool) -> tuple[float, float]:
    return (min(1.0, 0.15 + weight), 1 + 4 * weight) if is_lit else (0.3 * weight, 1 + 2 * weight)


def _flowing(words: Sequence[str], glued: Sequence[bool] = (), width: float = np.inf) -> vl.Columns:
    left, top, lefts, tops = 1.0, 1.0, [], []
    lengths = [text_width(text) + 2 * PAD for text in words]
    for place, (text, length) in enumerate(zip(words, lengths, strict=True)):
        left += 0 if left == 1 or (glued and glued[place]) else 2
        if left > 1 and left + length > width:
            left, top = 1.0, top + LINE
        lefts.append(left)
        tops.append(top)
        left, top = (1.0, top + LINE) if text.endswith("↵") else (left + length, top)
    return _placed(lefts, tops, lengths, words)


def _column(words: Sequence[str], align: float) -> vl.Columns:
    lengths = np.array([text_width(word) + 2 * PAD for word in words])
    return _placed(align * (lengths.max() - lengths) + 1, np.arange(len(words)) * LINE + 1.0, lengths, words)


def _placed(left: Any, top: Any, lengths: Any, words: Sequence[str]) -> vl.Columns:
    found = vl.rectangles(left, top, lengths, LINE - 4, text=list(words))
    return {**found, "x": (found["left"] + found["right"]) / 2, "y": (found["top"] + found["bottom"]) / 2}


def _move(words: vl.Columns, way: str, by: float) -> None:
    for side in ("left", "right", "x") if way == "x" else ("top", "bottom", "y"):
        words[side] = words[side] + by


def _boxes(words: vl.Columns, space: dict[str, Any], chosen: int | None, size: int = SIZE) -> list[vl.Chart]:
    names = {"left": words["x"], "top": words["y"], "text": words["text"]}
    grounds = mark("rect", words, space, color=vl.FILL, cornerRadius=3)
    layers = [grounds, texts(names, space, fontSize=size, color=vl.DARK_COLOUR, baseline="middle")]
    if chosen is not None and chosen < len(words["text"]):
        frame = {side: words[side][[chosen]] for side in ("left", "right", "top", "bottom")}
        layers.append(vl.outlined(frame, space, 2, cornerRadius=3))
    return layers


def _arcs(arcs: Sequence[tuple[Any, Any, float, float, Role]], space: dict[str, Any], down: bool) -> vl.Chart:
    """Return curves from one point to another, each with its opacity, thickness and colour."""
    frame: dict[str, list[Any]] = {name: [] for name in ("arc", "at", "left", "top", "opacity", "thick", "ink")}
    for number, ((x1, y1), (x2, y2), opacity, thick, role) in enumerate(arcs):
        x, y = ((x2 - x1) / 2, 0) if down else (0, (y2 - y1) / 2)
        ends = np.array([(x1, y1), (x1 + x, y1 + y), (x2 - x, y2 - y), (x2, y2)])
        shares = np.stack([(1 - STEPS) ** 3, 3 * STEPS * (1 - STEPS) ** 2, 3 * STEPS**2 * (1 - STEPS), STEPS**3], 1)
        for name, column in zip(("left", "top"), (shares @ ends).T, strict=True):
            frame[name] += column.round(1).tolist()
        frame["at"] += range(len(STEPS))
        for name, one in (("arc", number), ("opacity", opacity), ("thick", thick), ("ink", vl.ROLE_COLOURS[role])):
            frame[name] += [one] * len(STEPS)
    look = {"opacity": vl.field("opacity:Q", scale=None), "strokeWidth": vl.field("thick:Q", scale=None)}
    way = {"x": space["x"], "y": space["y"], "detail": vl.field("arc:N"), "order": vl.field("at:Q")}
    return mark("line", frame, way, color=vl.INK, strokeCap="round", **look)


BAR_LINE, ACROSS, GAP, BAR_SIZE = 20, 170, 60, 12
"""Screen pixels: of a line, of a column of bars, between two columns, of the letters."""
BAR_WORD: dict = {"baseline": "middle", "fontSize": BAR_SIZE}


class Bars(NamedTuple):
    """A column of bars beside lines of text."""

    title: str
    values: Sequence[float]  # one per line
    limit: float  # what a whole bar stands for
    texts: Sequence[str]  # of the numbers
    colours: tuple[str, ...]  # of bars upwards from 0, and downwards; without the second one all begin at the left
    mark: float | None = None  # a number to mark, such as the uniform weight


def bar_table(names: Sequence[str], columns: Sequence[Bars], groups: Sequence[tuple[int, str]] = ()) -> vl.Chart:
    """Draw one line per name, with a bar in every column; groups are headings, each with the line that it is above."""
    heads = dict(groups)
    tops, top = [], 2 * BAR_LINE
    for place in range(len(names)):
        top += BAR_LINE * (place in heads)
        tops.append(top)
        top += BAR_LINE
    left = max(text_width(name, BAR_SIZE) for name in names) + 14
    left = max(left, 40 if heads else 0)
    wide = max(left + len(columns) * (ACROSS + GAP), *(text_width(head, BAR_SIZE) + 8 for head in heads.values()), 0)
    space = vl.corners(wide, top + 4)
    middle = BAR_LINE / 2
    said = {"left": [left - 8.0] * len(names), "top": [top + middle for top in tops], "text": list(names)}
    layers = [texts(said, space, align="right", color=vl.DARK_COLOUR, **BAR_WORD)]
    if heads:
        above = {"left": [0.0] * len(heads), "top": [tops[at] - middle for at in heads], "text": list(heads.values())}
        layers.append(texts(above, space, align="left", color=vl.DARK_COLOUR, **BAR_WORD, fontWeight="bold"))
    for column, start in zip(columns, (left + number * (ACROSS + GAP) for number in range(len(columns))), strict=True):
        layers += _bar_column(column, start, tops, space)
    return vl.fixed_size(layers, round(wide), top + 4)


def _bar_column(column: Bars, left: float, tops: Sequence[int], space: dict) -> list[vl.Chart]:
    signed = len(column.colours) > 1
    align = "center" if signed else "left"
    zero, unit = left + ACROSS / 2 * signed, ACROSS / (1 + signed) / (column.limit or 1.0)
    lengths = [unit * value for value in column.values]
    colours = [column.colours[-1 if value < 0 else 0] for value in column.values]
    begins = [zero + min(length, 0) for length in lengths]
    bars = vl.rectangles(begins, [top + 4 for top in tops], [abs(one) for one in lengths], BAR_LINE - 8, fill=colours)
    ends = {"left": [zero + max(one, 0) + 5 for one in lengths], "top": [top + BAR_LINE / 2 for top in tops]}
    marks = [zero, zero + unit * column.mark] if column.mark else [zero]
    lines = vl.rectangles(marks, 1.5 * BAR_LINE, 0, tops[-1] - 0.5 * BAR_LINE)
    return [
        mark("rule", lines, space, color=vl.FAINT),
        mark("rect", bars, space, color=vl.FILL),
        texts(ends | {"text": column.texts}, space, align="left", color=vl.DARK_COLOUR, **BAR_WORD),
        vl.text_at(column.title, zero, BAR_LINE / 2 + 4, space, align=align, color=vl.LABEL_COLOUR, **BAR_WORD),
    ]
