"""Tokens as text: shaded by one number each, or joined by many, with arcs between two columns.

Components rather than charts: tokens keep their spaces and wrap as text does, and hovering needs no server.
"""

import base64
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from attention_core.attention.types import Role
from attention_core.attention.view.pieces import pieces
from attention_core.charts.design import Chart
from attention_core.charts.palette import ROLE_COLOURS
from attention_core.charts.words import shade_ramp, shaded_words, word_arcs
from ui.chart import address, note_picture
from ui.component import component, script_of
from ui.model.state import choose
from ui.state import component_message, set_widget, widget_value

_chips = component("token_chips")
_view = component("token_view", script_of("token_view", "token_start"))
MOST_INLINE = 4096
"""Cells of a matrix that are sent with the tokens; of a larger one the chosen query's, the rest when it is hovered."""


class Chip(NamedTuple):
    """One token, its text with the space before it, if it brings one.

    Attributes:
        share: how strongly it is shaded, 0 to 1.
        note: its number in words, for hovering.
        written: whether the model or the visitor put it behind the input.
    """

    text: str
    share: float
    note: str
    colour: str
    written: bool = False


def shaded(
    tokens: Sequence[str],
    amounts: Sequence[float],
    notes: Sequence[str],
    role: Role,
    *,
    most: float = 1.0,
    n_given: int | None = None,
) -> list[Chip]:
    """Return tokens shaded by their amounts, of which `most` has the full shade; those behind n_given are written."""
    return [
        Chip(text, amount / most, note, ROLE_COLOURS[role], n_given is not None and place >= n_given)
        for place, (text, amount, note) in enumerate(zip(tokens, amounts, notes, strict=True))
    ]


def chips(
    key: str,
    shown: Sequence[Chip],
    *,
    label: str,
    hint: str,
    chosen: int | None = None,
    on_choose: Callable[[int], None] = lambda place: None,
) -> None:
    """Draw the tokens, the chosen one framed, a hint below while none is hovered; a click is taken with its place."""

    def take() -> None:
        clicked = component_message(key, "chosen") or {}
        if isinstance(clicked.get("place"), int):
            on_choose(clicked["place"])

    shades, colours = [min(max(chip.share, 0.0), 1.0) for chip in shown], [chip.colour for chip in shown]
    words = [chip.text for chip in shown]
    note_picture(lambda: shaded_words(words, shades, colours, chosen=chosen), f"{label}. {hint}")
    tokens = [{**chip._asdict(), "share": round(shade, 4)} for chip, shade in zip(shown, shades, strict=True)]
    data = {"tokens": tokens, "chosen": chosen, "label": label, "hint": hint}
    _chips(key=key, data=data, default={"chosen": None}, on_chosen_change=take)


class Tokens(NamedTuple):
    """What the component draws.

    Attributes:
        matrix: float (n_queries, n_keys), as it is shown; finite.
        queries, keys: labels of its rows and columns; no keys if they are the same tokens.
        names: what the queries and the keys are.
        muted: rows and columns that are no words.
        start: position of the first row and column in the whole input.
        outside: of each row, what goes to keys beyond the columns; None if there are none.
        percent: whether the numbers are shares.
        verbs, legend: what a query does with its keys, what happens to a key; what the two shades mean.
        n_keys: of the whole input, for the weight of looking everywhere alike; as many as columns if None.
        empty: queries, as positions in the whole input, that have nothing left since keys are hidden.
    """

    matrix: np.ndarray
    queries: Sequence[str]
    keys: Sequence[str] | None
    names: tuple[str, str]
    muted: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())
    start: tuple[int, int] = (0, 0)
    outside: np.ndarray | None = None
    percent: bool = True
    verbs: tuple[str, str] = ("looks at", "is looked at by")
    legend: tuple[str, str] = ("where it looks", "who looks at it")
    n_keys: int | None = None
    empty: tuple[int, ...] = ()


def token_component(key: str, tokens: Tokens, query: int) -> None:
    """Draw tokens and numbers between them; a click makes a token the query, a position in the whole input."""

    def take() -> None:
        row = (component_message(key, "chosen") or {}).get("row")
        if isinstance(row, int) and row >= 0:
            choose(query=row)

    drawn = (tokens.matrix.tobytes(), tuple(tokens.queries), tuple(tokens.keys or ()), tokens.start, tokens.muted)
    active, stamp = _seed(key, hash(drawn), query)
    active = min(max(active - tokens.start[0], 0), len(tokens.queries) - 1)
    _note_pictures(tokens, active)
    matrix, high = tokens.matrix, float(tokens.matrix.max(initial=0.0))
    file = address(_roots(matrix, high).tobytes(), "bin") if matrix.size > MOST_INLINE else None
    sent = matrix
    if file:
        sent = matrix[active] if tokens.keys else np.concatenate([matrix[active], matrix[:, active]])
    plain = {name: list(getattr(tokens, name)) for name in ("names", "verbs", "legend", "start")}
    data = {
        "queries": _pieces(tokens.queries, tokens.muted[0]),
        "keys": None if tokens.keys is None else _pieces(tokens.keys, tokens.muted[1]),
        "packed": packed(sent, high),
        "file": file,
        "high": high,
        "active": active,
        "outside": None if tokens.outside is None else [round(float(share), 5) for share in tokens.outside],
        "uniform": 1 / (tokens.n_keys or matrix.shape[1]),
        "percent": tokens.percent,
        "stamp": stamp,
    }
    _view(key=key, data=data | plain, default={"chosen": None}, on_chosen_change=take)


def _note_pictures(tokens: Tokens, row: int) -> None:
    """Note both views: the text, shaded by what one query gives to its keys, and the two columns."""
    asks, colour = pieces(tokens.queries)[row][0], ROLE_COLOURS[Role.WEIGHTS]
    keys = tokens.queries if tokens.keys is None else tokens.keys
    weights, uniform = tokens.matrix[row], 1 / (tokens.n_keys or len(keys))

    def text() -> Chart:
        words, glued = zip(*pieces(keys), strict=True)
        # as the browser shades: small weights show too, but no pattern where there is none
        ramp = shade_ramp(colour, max(float(weights.max()), min(1, 6 * uniform) if tokens.percent else 1e-9), 0.6)
        chosen = row if tokens.keys is None else None
        shares = ramp.position(weights).tolist()
        return shaded_words(words, shares, colour, bar=(ramp, "weight"), glued=glued, chosen=chosen)

    def columns() -> Chart:
        shown = tokens.matrix if tokens.percent else tokens.matrix / (tokens.matrix.max() or 1.0)
        right, left = ([text for text, _ in pieces(labels)] for labels in (keys, tokens.queries))
        return word_arcs(right, left, shown, row, down=True)

    note_picture(text, f"“{asks}”, {tokens.legend[0]}, as text")
    note_picture(columns, f"“{asks}”, {tokens.legend[0]}, in two columns")


def packed(matrix: np.ndarray, high: float) -> str:
    """Return a matrix as text: 16 bits a cell, the square root of its share of the largest, base64.

    A weight of a thousandth of the largest is exact to 1 in 1,000, one of a hundred-thousandth to 1 in 100.
    """
    return base64.b64encode(_roots(matrix, high).tobytes()).decode()


def _roots(matrix: np.ndarray, high: float) -> np.ndarray:
    return np.rint(65535 * np.sqrt(np.clip(matrix / (high or 1.0), 0, 1))).astype("<u2")


def _pieces(labels: Sequence[str], muted: frozenset[int]) -> list[list]:
    return [[text, glued, place in muted] for place, (text, glued) in enumerate(pieces(labels))]


def _seed(key: str, known: int, query: int) -> tuple[int, str]:
    """Return the query to send and a stamp: after a click in the component both stay, so that nothing is sent again."""
    clicked = component_message(key, "chosen") or {}
    click = (clicked.get("row"), clicked.get("at")) if clicked else None
    last = next_sent(widget_value(f"{key}_sent"), known, query, click)
    set_widget(f"{key}_sent", last)
    return last["query"], f"{known}:{last['count']}"


def next_sent(sent: dict[str, Any] | None, known: int, query: int, click: tuple | None) -> dict[str, Any]:
    """Return what is sent now: the same as was sent last where the browser shows this query already.

    `known` is the content, as a number; `click` is row and time of the last click in the component, None before any and
    when it is drawn anew.
    """
    if sent is not None and sent["content"] == known:
        is_anew = click is None and sent["click"] is not None
        is_marked = click != sent["click"] and click is not None and click[0] == query
        if is_marked or query == (sent["query"] if is_anew else sent["shown"]):
            return {**sent, "shown": query, "click": click}
    count = 1 if sent is None else sent["count"] + 1
    return {"content": known, "query": query, "shown": query, "click": click, "count": count}
