"""The guests of a party in a circle, their locks, and whom one of them looks at."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from attention_core.attention.types import Role
from attention_core.charts.chart import Chart, compiled
from attention_core.charts.columns import Columns
from attention_core.charts.layers import FILL, QUIET, clickable, exact_scale, fixed_size, named, texts
from attention_core.charts.ramps import DARK_COLOUR, ROLE_COLOURS, TEXT_COLOUR
from pages.groups.guests import MISSED, WRONG, Guest

WIDTH, HEIGHT, UNIT = 500, 372, 128  # screen pixels of the chart, and of the radius of the circle
RIGHT, SHUT, RING = "#009E73", "#6B7785", "#3D9AD9"
LUCK = "luck"
"""What a lock says that opens although its head looks at single guests alone."""
COLOURS = {MISSED: "#D55E00", WRONG: "#9A6BDB", LUCK: "#4F8A78"}
BODY = "M-.6 -.1 H.6 V.8 H-.6 Z M-.45 -.1 "
SHACKLE = "V{0} A.45 .45 0 0 1 .45 {0} V{1} H.27 V{0} A.27 .27 0 0 0 -.27 {0} V-.1 Z"
SHUT_LOCK, OPEN_LOCK = BODY + SHACKLE.format(-0.4, -0.1), BODY + SHACKLE.format(-0.65, -0.45)
HOLE = "M-.68 0 A.18 .18 0 1 1 -.32 0 A.18 .18 0 1 1 -.68 0 Z"
KEY = "M-.1 -.1 A.42 .42 0 1 0 -.1 .1 H.5 V.38 H.68 V.1 H.8 V.32 H.98 V-.1 Z " + HOLE
KEY_AT = 0.36  # of the way from who has a key to whose lock it is tried in
MIN_WEIGHT = 0.02  # weights below this get no line


def party_chart(guests: Sequence[Guest], query: int, looks: np.ndarray, tried: list[int], is_luck: bool) -> Chart:
    """Draw the guests with their locks, lines from the one who looks to single others, or triangles, and keys.

    Looks are (n, n), see looks_of, without nobody; `tried` are those whose keys are tried; `is_luck` says that a lock
    which opens does so by luck. The point selection `guest` has the field guest.
    """
    turn = 2 * np.pi * np.arange(len(guests)) / len(guests)
    seats = {"x": np.sin(turn), "y": np.cos(turn)}
    data = seats | {
        "guest": range(len(guests)),
        "name": [guest.name for guest in guests],
        "mark": (marks := [guest.fault or LUCK * (is_luck and guest.is_opened) for guest in guests]),
        "lock": [OPEN_LOCK if guest.is_opened else SHUT_LOCK for guest in guests],
        "fill": [
            COLOURS.get(mark, RIGHT if guest.is_opened else SHUT) for guest, mark in zip(guests, marks, strict=True)
        ],
    }
    lengths = np.array([len(guest.name) for guest in guests])
    out = 1.27 + 0.035 * lengths * np.abs(seats["x"])  # as far from the circle however long a name lies
    names = data | {"x": out * seats["x"], "y": out * seats["y"]}
    marks_below = names | {"y": names["y"] + np.where(seats["y"] > 0.1, 0.24, -0.24)}  # not over the lock
    keys = {axis: seat[[*tried]] + KEY_AT * (seat[query] - seat[[*tried]]) for axis, seat in seats.items()}
    chosen = {"x": [seats["x"][query]], "y": [seats["y"][query]]}
    datasets = {"looks": _lines(seats, query, looks), "chosen": chosen, "guests": data, "keys": keys}
    return Chart(_party_chart(), {**datasets, "names": names, "marks": marks_below})


@compiled
def _party_chart() -> alt.LayerChart:
    wide, high = WIDTH / 2 / UNIT, HEIGHT / 2 / UNIT
    x, y = (
        alt.X("x:Q", axis=None, scale=exact_scale(-wide, wide)),
        alt.Y("y:Q", axis=None, scale=exact_scale(-high, high)),
    )
    space: dict[str, Any] = {"x": x, "y": y}
    filled: dict[str, Any] = {**QUIET, "filled": True, "opacity": 1}
    width = alt.StrokeWidth("weight:Q", scale=alt.Scale(domain=[0, 1], range=[0, 8]), legend=None)
    line = {**space, "x2": alt.X2("x2"), "y2": alt.Y2("y2"), "strokeWidth": width}
    ring = {**QUIET, "shape": "circle", "size": 3000, "filled": False, "strokeWidth": 3, "stroke": RING}
    key = {**filled, "shape": KEY, "size": 1500, "color": ROLE_COLOURS[Role.KEY], "stroke": DARK_COLOUR}
    circles = named("guests").mark_point(**filled, shape="circle", size=2000).encode(**space, color=FILL)
    locks = named("guests").mark_point(**filled, size=480, color="white")
    bold = named("marks").mark_text(**QUIET, fontSize=16, fontWeight="bold")
    layers = [
        named("looks").mark_rule(**QUIET, color=ROLE_COLOURS[Role.WEIGHTS]).encode(**line),
        named("chosen").mark_point(**ring).encode(**space),
        clickable(circles, "guest", "guest"),
        locks.encode(**space, shape=alt.Shape("lock:N", scale=None)),
        named("keys").mark_point(**key).encode(**space),
        texts("names", space, "name", fontSize=16, color=TEXT_COLOUR),
        bold.encode(**space, text=alt.Text("mark:N"), color=FILL),
    ]
    return fixed_size(layers, WIDTH, HEIGHT)


def _lines(seats: dict[str, np.ndarray], query: int, looks: np.ndarray) -> Columns:
    weights = looks.copy()
    weights[query] = weights[:, query] = looks.sum(0)
    first, last = np.nonzero(np.triu(weights, 1) > MIN_WEIGHT)
    sides = (("", first), ("2", last))
    data = {f"{axis}{suffix}": seat[guests] for axis, seat in seats.items() for suffix, guests in sides}
    return data | {"weight": weights[first, last]}
