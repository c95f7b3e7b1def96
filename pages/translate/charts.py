"""Alignments; many states in, one vector out; and the whole network unrolled."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from attention_core.attention.types import Axis, Role
from attention_core.charts import vega as vl
from attention_core.charts.heatmap import matrix_chart, matrix_png

QUERY_TITLE = "French word being written (query)"
KEY_TITLE = "English word (key)"
ROW = 16  # screen pixels of one vector


def alignment_chart(
    weights: np.ndarray, target: Sequence[str], keys: Sequence[str], *, size: int = 420, **more: Any
) -> vl.Chart:
    """Draw an alignment, (n_target, n_keys); all have the same colours from 0 to 1, so that any two can be compared.

    More: see matrix_chart.

    Source: Bahdanau et al. 2015, figure 3.
    """
    ramp = vl.weights_ramp(len(keys))
    axes = Axis(QUERY_TITLE, list(target)), Axis(KEY_TITLE, list(keys))
    return matrix_chart(weights, *axes, Role.WEIGHTS, title="weight", size=size, ramp=ramp, hover_rows=True, **more)


def collapse_chart(
    words: Sequence[str], vectors: np.ndarray, weights: np.ndarray, context: np.ndarray, *, width: int
) -> vl.Chart:
    """Draw n vectors (n, d) as rows, the weight of each beside it, and below them the one vector that became of them.

    The weights (n,) sum to 1, the context is (d,), and there is a word per vector; vectors are so wide on the screen.
    They are states, or states that are multiplied by their weights already.
    """
    n, ramp = len(words), vl.signed_ramp(vectors)
    below = n + 2
    urls = [matrix_png(rows, ramp) for rows in (vectors, context[None])]
    bar_room = 0.22 * width
    tops, long = np.arange(n) + 0.15, np.maximum(1.0, bar_room * weights)
    bars = vl.rectangles(width + 8.0, tops, long, 0.7, word=list(words), weight=weights)
    x = vl.field("left:Q", axis=None, scale=vl.exact_scale(-86, width + 16 + bar_room))
    space = vl.corners(width, below + 1, x=x)
    result, colours = vl.ROLE_COLOURS[Role.CONTEXT], [vl.ROLE_COLOURS[Role.KEY]] * n
    names = vl.rectangles(-6.0, [*np.arange(n) + 0.5, below + 0.5], text=[*words, "context"], fill=[*colours, result])
    tooltip = ("word:N", "state at"), ("weight:Q", "", ".1%")
    style: dict = {"fontSize": 13, "baseline": "middle"}
    layers = [
        vl.images(vl.rectangles(0.0, [0.0, below], width, [n, 1], url=urls), space),
        vl.mark("rect", bars, space, *tooltip, color=vl.ROLE_COLOURS[Role.WEIGHTS]),
        vl.texts(names, space, color=vl.FILL, align="right", limit=78, **style),
        vl.text_at(f"weighted sum of {n}  ↓", width / 2, n + 1.0, space, color=result, **style),
    ]
    return vl.fixed_size(layers, round(width + 102 + bar_room), ROW * (below + 1))


LINE, HEAD, SIZE, WIDE = 20, 40, 12, 376
"""Screen pixels: of a line at least, of what stands above, of the letters, of the whole, as wide as a telephone."""
WORD, STATE, SCORE, WEIGHT, ASKS, MIXED, LAYER, SAID = 74, 80, 106, 160, 220, 256, 291, 314
"""Where columns begin: English words end at the first, French ones begin at the last."""
ACROSS, BOX = 42, 14  # screen pixels of the longest bar, and of a state's box
HEADS = (
    ("English", "input", WORD - 30, Role.INPUT),
    ("states", "key", STATE + 7, Role.KEY),
    ("scores", "scores", SCORE + 22, Role.SCORES),
    ("softmax", "weights", WEIGHT + 20, Role.WEIGHTS),
    ("state", "query", ASKS + 7, Role.QUERY),
    ("context", "context", MIXED + 7, Role.CONTEXT),
    ("layer", "layer", LAYER + 8, Role.OUTPUT),
    ("French", "word", SAID + 26, Role.OUTPUT),
)
"""What stands above each column, the step that lights it, where, and its role."""
STEPS = tuple(step for _, step, _, _ in HEADS)
LIT, NEAR, FAR = "ff", "77", "3c"
"""How strong a colour is: of the present step, of the rest of the present word, of other words."""
Shape = tuple[float, float, float, float, Role, str]
"""A rectangle: left, top, width, height, whose colour, how strong."""
Line = tuple[float, float, float, float, Role, str, float]
"""From x and y to x and y, whose colour, how strong, how thick."""


def unrolled_chart(
    source: Sequence[str],
    target: Sequence[str],
    present: int,
    lit: str,
    scores: np.ndarray | None,
    weights: np.ndarray | None,
) -> vl.Chart:
    """Draw the network from the English words on the left to the French ones on the right, one of STEPS lit.

    Source and target are pieces, downwards. Scores and weights (n_source,) are those of the present piece, scores
    drawn from the lowest one upwards; None where the last states alone are handed over.
    """
    high = LINE * max(len(source), len(target))
    reads, says = (HEAD + high * (np.arange(n) + 0.5) / n for n in (len(source), len(target)))
    now = float(says[present])
    strength = {step: LIT if step == lit else NEAR for step in STEPS}
    encoder = [(STATE + at, reads[0], STATE + at, reads[-1], Role.KEY, strength["key"], 1.0) for at in (4, 10)]
    lines = [*encoder, *_decoder(says, present, lit, strength)]
    shapes = [_box(STATE, y, Role.KEY, strength["key"]) for y in reads.tolist()]
    for row, y in enumerate(says.tolist()):
        near = [strength[step] if row == present else FAR for step in ("query", "context", "layer")]
        places = zip((ASKS, MIXED, LAYER), (Role.QUERY, Role.CONTEXT, Role.OUTPUT), near, strict=True)
        shapes += [_box(left, y, role, shade) for left, role, shade in places]
    if scores is None or weights is None:
        ends = {0, len(source) - 1}
        lines += [(STATE + BOX, reads[end], MIXED, now, Role.CONTEXT, strength["context"], 2.0) for end in ends]
    else:
        above = scores - scores.min()  # what the softmax sees of them
        lengths = (ACROSS * above / max(1e-9, float(above.max()))).tolist()
        for y, length, weight in zip(reads.tolist(), lengths, weights.tolist(), strict=True):
            shapes.append((SCORE, y - 5, max(1.0, length), 10, Role.SCORES, strength["scores"]))
            shapes.append((WEIGHT, y - 5, ACROSS * weight, 10, Role.WEIGHTS, strength["weights"]))
            if weight >= 0.01:
                start = WEIGHT + ACROSS * weight + 2
                lines.append((start, y, MIXED, now, Role.CONTEXT, strength["context"], 0.6 + 4 * weight))
        score, asked, top = SCORE - 4.0, ASKS + BOX + 4.0, HEAD - 8.0
        bus = [(score, top, score, float(reads[-1])), (score, top, asked, top), (asked, top, asked, now)]
        bus.append((ASKS + BOX, now, asked, now))
        lines += [(*place, Role.QUERY, strength["query"], 1.2) for place in bus]
    space = vl.corners(WIDE, HEAD + high)
    layers = [*_marks(shapes, lines, space), *_heads(lit, space)]
    strong = [lit == "input"] * len(source), [row == present for row in range(len(target))]
    layers += _words(source, strong[0], reads, space, WORD, "right")
    layers += _words(target, strong[1], says, space, SAID, "left")
    return vl.fixed_size(layers, WIDE, HEAD + high)


def _box(left: float, middle: float, role: Role, shade: str) -> Shape:
    return left, middle - BOX / 2, BOX, BOX, role, shade


def _decoder(says: np.ndarray, present: int, lit: str, strength: dict[str, str]) -> Iterator[Line]:
    """Yield how the decoder's states follow one another, what goes into the next layer, and the words fed back."""
    yield ASKS + 7, says[0], ASKS + 7, says[-1], Role.QUERY, FAR, 1.0
    for row, y in enumerate(says):
        here = strength if row == present else dict.fromkeys(STEPS, FAR)
        yield ASKS + BOX, y - 6, LAYER, y - 6, Role.QUERY, here["layer"], 1.2
        yield MIXED + BOX, y, LAYER, y, Role.CONTEXT, here["layer"], 1.2
        yield LAYER + BOX, y, SAID - 2, y, Role.OUTPUT, here["word"], 1.2
        if row + 1 < len(says):
            fed_in = row + 1 == present and lit == "query"
            fed = LIT if fed_in else here["word"]
            yield SAID - 3, y + 5, ASKS + BOX, says[row + 1] - 3, Role.OUTPUT, fed, 1.2


def _marks(shapes: Sequence[Shape], lines: Sequence[Line], space: dict[str, Any]) -> Iterator[vl.Chart]:
    *ends, roles, shades, widths = map(list, zip(*lines, strict=True))
    wires = dict(zip(("left", "top", "right", "bottom"), ends, strict=True))
    wires |= {"width": widths, "fill": _colours(roles, shades)}
    yield vl.mark("rule", wires, space, color=vl.FILL, size=vl.field("width:Q", scale=None, legend=None))
    left, top, wide, high, roles, shades = map(list, zip(*shapes, strict=True))
    boxes = vl.rectangles(left, top, wide, high, fill=_colours(roles, shades))
    yield vl.mark("rect", boxes, space, color=vl.FILL, cornerRadius=2)


def _words(
    words: Sequence[str], strong: Sequence[bool], at: np.ndarray, space: dict[str, Any], left: float, align: str
) -> Iterator[vl.Chart]:
    for weight, chosen in (("bold", np.array(strong)), ("normal", ~np.array(strong))):
        said = {"left": [left] * int(chosen.sum()), "top": at[chosen], "text": np.array(words, object)[chosen]}
        style: dict = {
            "fontWeight": weight,
            "fontSize": SIZE,
            "color": vl.LABEL_COLOUR,
            "limit": 72 if align == "right" else 62,
        }
        yield vl.texts(said, space, align=align, baseline="middle", **style)


def _heads(lit: str, space: dict[str, Any]) -> Iterator[vl.Chart]:
    for place, (head, step, left, role) in enumerate(HEADS):
        style: dict = {
            "fontSize": 11,
            "fontWeight": "bold" if step == lit else "normal",
            "color": vl.ROLE_COLOURS[role],
        }
        yield vl.text_at(head, left, (8, 22)[place % 2], space, baseline="middle", **style)


def _colours(roles: Sequence[Role], shades: Sequence[str]) -> list[str]:
    return [vl.ROLE_COLOURS[role] + shade for role, shade in zip(roles, shades, strict=True)]
