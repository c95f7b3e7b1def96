"""A recurrent translator with attention, unrolled: encoder, scores, softmax, context, decoder, next layer, words."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from attention_core.attention.types import Role
from attention_core.charts.design import (
    FILL,
    LABELS,
    ROLE_COLOURS,
    Chart,
    alt,
    corners,
    fixed,
    mark,
    rectangles,
    texts,
    word,
)

LINE, HEAD, SIZE, WIDE = 20, 34, 12, 376
"""Screen pixels: of a line at least, of what stands above, of the letters, of the whole, as wide as a telephone."""
WORD, STATE, SCORE, WEIGHT, ASKS, MIXED, LAYER, SAID = 74, 80, 106, 160, 220, 256, 291, 314
"""Where columns begin: English words end at the first, French ones begin at the last."""
ACROSS, BOX = 42, 14  # screen pixels of the longest bar, and of a state's box
HEADS = (
    ("English", "input", WORD - 20, Role.INPUT),
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
) -> Chart:
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
    space = corners(WIDE, HEAD + high)
    layers = [*_marks(shapes, lines, space), *_heads(lit, space)]
    strong = [lit == "input"] * len(source), [row == present for row in range(len(target))]
    layers += _words(source, strong[0], reads, space, WORD, "right")
    layers += _words(target, strong[1], says, space, SAID, "left")
    return fixed(layers, WIDE, HEAD + high)


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


def _marks(shapes: Sequence[Shape], lines: Sequence[Line], space: dict[str, Any]) -> Iterator[Chart]:
    *ends, roles, shades, widths = map(list, zip(*lines, strict=True))
    wires = dict(zip(("left", "top", "right", "bottom"), ends, strict=True))
    wires |= {"width": widths, "fill": _colours(roles, shades)}
    yield mark("rule", wires, space, color=FILL, size=alt.Size("width:Q", scale=None, legend=None))
    left, top, wide, high, roles, shades = map(list, zip(*shapes, strict=True))
    boxes = rectangles(left, top, wide, high, fill=_colours(roles, shades))
    yield mark("rect", boxes, space, color=FILL, cornerRadius=2)


def _words(
    words: Sequence[str], strong: Sequence[bool], at: np.ndarray, space: dict[str, Any], left: float, align: str
) -> Iterator[Chart]:
    for weight, chosen in (("bold", np.array(strong)), ("normal", ~np.array(strong))):
        said = {"left": [left] * int(chosen.sum()), "top": at[chosen], "text": np.array(words, object)[chosen]}
        look: dict = {"fontWeight": weight, "fontSize": SIZE, "color": LABELS, "limit": 72 if align == "right" else 62}
        yield texts(said, space, align=align, baseline="middle", **look)


def _heads(lit: str, space: dict[str, Any]) -> Iterator[Chart]:
    for head, step, left, role in HEADS:
        look: dict = {"fontSize": 11, "fontWeight": "bold" if step == lit else "normal", "color": ROLE_COLOURS[role]}
        yield word(head, left, 9, space, baseline="middle", **look)


def _colours(roles: Sequence[Role], shades: Sequence[str]) -> list[str]:
    return [ROLE_COLOURS[role] + shade for role, shade in zip(roles, shades, strict=True)]
