"""Alignments, and the whole network unrolled."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import altair as alt
import numpy as np

from attention_core.attention.types import Axis, Role
from attention_core.attention.wording import percent
from attention_core.charts.chart import Chart, compiled
from attention_core.charts.columns import Columns, rectangles
from attention_core.charts.layers import FILL, QUIET, corners, fixed_size, named, texts
from attention_core.charts.matrix import matrix_chart
from attention_core.charts.ramps import LABEL_COLOUR, ROLE_COLOURS, weights_ramp

QUERY_TITLE = "French word being written (query)"
KEY_TITLE = "English word (key)"
LEAST_NUMBER = 0.01  # of an alignment: smaller ones would be written <1%


def alignment_chart(
    weights: np.ndarray, target: Sequence[str], keys: Sequence[str], *, size: int = 420, **options: Any
) -> Chart:
    """Draw an alignment, (n_target, n_keys); all have the same colours from 0 to 1, so that any two can be compared.

    Options: see matrix_chart.

    Source: Bahdanau et al. 2015, figure 3.
    """
    ramp = replace(weights_ramp(len(keys)), exponent=1.0)  # small weights have their numbers
    texts_of_weights = [percent(weight) for weight in weights.ravel().tolist()]
    options = {"least_number": LEAST_NUMBER, "number_texts": texts_of_weights, **options}
    axes = Axis(QUERY_TITLE, list(target)), Axis(KEY_TITLE, list(keys))
    return matrix_chart(weights, *axes, Role.WEIGHTS, title="weight", size=size, ramp=ramp, hover_rows=True, **options)


LINE, HEAD, SIZE, WIDE = 20, 40, 12, 376
"""Screen pixels: the least height of a line, the height of the heading, the size of letters, the width of a phone."""
SOURCE, STATE, SCORE, WEIGHT, QUERY, CONTEXT, LAYER, TARGET = 74, 80, 106, 160, 220, 256, 291, 314
"""Screen pixels at which columns begin; English words end at the first, French ones begin at the last."""
ACROSS, BOX = 42, 14  # screen pixels of the longest bar, and of a state's box
HEADS = (
    ("English", "input", SOURCE - 30, Role.INPUT),
    ("states", "key", STATE + 7, Role.KEY),
    ("scores", "scores", SCORE + 22, Role.SCORES),
    ("softmax", "weights", WEIGHT + 20, Role.WEIGHTS),
    ("state", "query", QUERY + 7, Role.QUERY),
    ("context", "context", CONTEXT + 7, Role.CONTEXT),
    ("layer", "layer", LAYER + 8, Role.OUTPUT),
    ("French", "word", TARGET + 26, Role.OUTPUT),
)
"""Each column's heading, the step that lights it, its middle in screen pixels, its role."""
STEPS = tuple(step for _, step, _, _ in HEADS)
LIT, NEAR, FAR = "ff", "77", "3c"
"""Opacity: of the present step, of other steps of the present word, of other words."""
Shape = tuple[float, float, float, float, Role, str]
"""A rectangle: left, top, width, height, the role whose colour it has, opacity."""
Line = tuple[float, float, float, float, Role, str, float]
"""From x and y to x and y, the role whose colour it has, opacity, thickness."""


def unrolled_chart(
    source: Sequence[str],
    target: Sequence[str],
    present: int,
    lit: str,
    scores: np.ndarray | None,
    weights: np.ndarray | None,
    *,
    feeds: bool = False,
) -> Chart:
    """Draw the network from the English words on the left to the French ones on the right, one of STEPS lit.

    Source and target are pieces, downwards. Scores and weights (n_source,) are those of the present piece, scores
    drawn from the lowest one upwards; None where the last states alone are handed over. Where it feeds, what is read
    out of each context enters the next state.
    """
    high = LINE * max(len(source), len(target))
    source_ys, target_ys = (HEAD + high * (np.arange(n) + 0.5) / n for n in (len(source), len(target)))
    present_y = float(target_ys[present])
    strength = {step: LIT if step == lit else NEAR for step in STEPS}
    encoder = [(STATE + at, source_ys[0], STATE + at, source_ys[-1], Role.KEY, strength["key"], 1.0) for at in (4, 10)]
    lines = [*encoder, *_decoder(target_ys, present, lit, strength)]
    shapes = [_box(STATE, y, Role.KEY, strength["key"]) for y in source_ys.tolist()]
    for row, y in enumerate(target_ys.tolist()):
        near = [strength[step] if row == present else FAR for step in ("query", "context", "layer")]
        columns = zip((QUERY, CONTEXT, LAYER), (Role.QUERY, Role.CONTEXT, Role.OUTPUT), near, strict=True)
        shapes += [_box(left, y, role, shade) for left, role, shade in columns]
    if scores is None or weights is None:
        first_and_last = {source_ys[0], source_ys[-1]}
        lines += [(STATE + BOX, y, CONTEXT, present_y, Role.CONTEXT, strength["context"], 2.0) for y in first_and_last]
    else:
        above = scores - scores.min()  # what the softmax sees of them
        lengths = (ACROSS * above / max(1e-9, float(above.max()))).tolist()
        for y, length, weight in zip(source_ys.tolist(), lengths, weights.tolist(), strict=True):
            shapes.append((SCORE, y - 5, max(1.0, length), 10, Role.SCORES, strength["scores"]))
            shapes.append((WEIGHT, y - 5, ACROSS * weight, 10, Role.WEIGHTS, strength["weights"]))
            if weight >= 0.01:
                start = WEIGHT + ACROSS * weight + 2
                lines.append((start, y, CONTEXT, present_y, Role.CONTEXT, strength["context"], 0.6 + 4 * weight))
        score, query_right, top = SCORE - 4.0, QUERY + BOX + 4.0, HEAD - 8.0
        segments = [
            (score, top, score, float(source_ys[-1])),
            (score, top, query_right, top),
            (query_right, top, query_right, present_y),
            (QUERY + BOX, present_y, query_right, present_y),
        ]
        lines += [(*segment, Role.QUERY, strength["query"], 1.2) for segment in segments]
    if feeds:
        pairs = zip(target_ys[:-1].tolist(), target_ys[1:].tolist(), strict=True)
        lines += [(LAYER, y + 4, QUERY + BOX, below, Role.CONTEXT, LIT, 2.5) for y, below in pairs]
    data = _marks(shapes, lines)
    strong = [lit == "input"] * len(source), [row == present for row in range(len(target))]
    data |= _column_labels("source", source, strong[0], source_ys, SOURCE)
    data |= _column_labels("target", target, strong[1], target_ys, TARGET)
    data |= {step: {"left": [left], "top": [(8, 22)[column % 2]]} for column, (_, step, left, _) in enumerate(HEADS)}
    return Chart(_unrolled_chart(lit, HEAD + high), data)


@compiled
def _unrolled_chart(lit: str, height: int) -> alt.LayerChart:
    space = corners(WIDE, height)
    width = alt.Size("width:Q", scale=None, legend=None)
    layers = [
        named("wires").mark_rule(**QUIET).encode(**space, color=FILL, size=width),
        named("boxes").mark_rect(**QUIET, cornerRadius=2).encode(**space, color=FILL),
    ]
    for head, step, _, role in HEADS:
        weight = "bold" if step == lit else "normal"
        style = {**QUIET, "baseline": "middle", "fontSize": 11, "fontWeight": weight, "color": ROLE_COLOURS[role]}
        layers.append(named(step).mark_text(**style).encode(space["x"], space["y"], text=alt.value(head)))
    text_style: dict[str, Any] = {"baseline": "middle", "fontSize": SIZE, "color": LABEL_COLOUR}
    for side, align, limit in (("source", "right", 72), ("target", "left", 62)):
        for weight in ("bold", "normal"):
            layers.append(texts(f"{side}_{weight}", space, align=align, limit=limit, fontWeight=weight, **text_style))
    return fixed_size(layers, WIDE, height)


def _box(left: float, middle: float, role: Role, shade: str) -> Shape:
    return left, middle - BOX / 2, BOX, BOX, role, shade


def _decoder(ys: np.ndarray, present: int, lit: str, strength: dict[str, str]) -> Iterator[Line]:
    """Yield how the decoder's states follow one another, what goes into the next layer, and the words fed back."""
    yield QUERY + 7, ys[0], QUERY + 7, ys[-1], Role.QUERY, FAR, 1.0
    for row, y in enumerate(ys):
        shades = strength if row == present else dict.fromkeys(STEPS, FAR)
        yield QUERY + BOX, y - 6, LAYER, y - 6, Role.QUERY, shades["layer"], 1.2
        yield CONTEXT + BOX, y, LAYER, y, Role.CONTEXT, shades["layer"], 1.2
        yield LAYER + BOX, y, TARGET - 2, y, Role.OUTPUT, shades["word"], 1.2
        if row + 1 < len(ys):
            fed_in = row + 1 == present and lit == "query"
            fed = LIT if fed_in else shades["word"]
            yield TARGET - 3, y + 5, QUERY + BOX, ys[row + 1] - 3, Role.OUTPUT, fed, 1.2


def _marks(shapes: Sequence[Shape], lines: Sequence[Line]) -> dict[str, Columns]:
    *coordinates, roles, shades, widths = map(list, zip(*lines, strict=True))
    wires = dict(zip(("left", "top", "right", "bottom"), coordinates, strict=True))
    wires |= {"width": widths, "fill": _colours(roles, shades)}
    left, top, wide, high, roles, shades = map(list, zip(*shapes, strict=True))
    return {"wires": wires, "boxes": rectangles(left, top, wide, high, fill=_colours(roles, shades))}


def _column_labels(
    side: str, labels: Sequence[str], strong: Sequence[bool], at: np.ndarray, left: float
) -> dict[str, Columns]:
    """Return the labels of the source or target for the chart, the bold ones and the others."""
    bold, label_array = np.array(strong), np.array(labels, object)
    return {
        f"{side}_{weight}": {"left": [left] * int(chosen.sum()), "top": at[chosen], "text": label_array[chosen]}
        for weight, chosen in (("bold", bold), ("normal", ~bold))
    }


def _colours(roles: Sequence[Role], shades: Sequence[str]) -> list[str]:
    return [ROLE_COLOURS[role] + shade for role, shade in zip(roles, shades, strict=True)]
