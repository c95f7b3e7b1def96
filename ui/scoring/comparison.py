"""All functions side by side: scores and weights as bars on common axes, and each function as a coloured field.

Components rather than Altair charts because they are redrawn many times a second while an arrow is dragged: building
and checking an Altair chart takes Python longer than all of the page's other work together.
"""

import base64
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st
from torch import Tensor

from attention_core.attention.score import Score
from attention_core.attention.scores import SCORES
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.charts.bar_table import Bars, bar_table
from attention_core.charts.design import Chart
from attention_core.charts.palette import BLUE_ORANGE, ROLE_COLOURS, Ramp
from attention_core.device import to_array
from attention_core.topics.scoring.charts import score_fields
from attention_core.topics.scoring.compare import favourites, nearest_key, score_field
from attention_core.topics.scoring.presets import EXTENT
from ui.chart import note_picture
from ui.component import component
from ui.labels import number
from ui.scoring.vector_plane import NAME, key_name
from ui.skeleton import say
from ui.state import Field, one_of

SHARED = Field(NAME, "shared", False, address="shared")
TAKEN = Field(NAME, "taken", "scaled dot", address="taken", parse=one_of(SCORES))
"""The function whose numbers are taken along."""
POINTS = 41
BANDS = 17
"""Colour bands: their borders are level lines, which show a field's shape better than a smooth ramp."""

_bars = component("score_bars")
_fields = component("score_fields")


def side_by_side(traces: Mapping[str, AttentionTrace], active: int) -> None:
    """Draw one block per function with one line per key, the active one at full strength."""
    rows = [
        {
            "name": name,
            "formula": trace.score.short,
            "scores": trace.scores(0)[0].tolist(),
            "weights": trace.weights(0)[0].tolist(),
        }
        for name, trace in traces.items()
    ]
    limit = _nice_limit(max(abs(score) for row in rows for score in row["scores"]))
    keys = [key_name(place) for place in range(len(rows[0]["scores"]))]
    note_picture(lambda: _bar_picture(rows, limit), "Scores and weights under every function")
    _bars(key="scoring_bars", data={"functions": rows, "keys": keys, "limit": limit, "active": active})


def _bar_picture(rows: Sequence[Mapping], limit: float) -> Chart:
    n_keys = len(rows[0]["scores"])
    scores, weights = ([one for row in rows for one in row[what]] for what in ("scores", "weights"))
    columns = [
        Bars("score", scores, limit, [number(score, ".3g") for score in scores], (ROLE_COLOURS[Role.SCORES],) * 2),
        Bars("weight", weights, 1.0, [f"{weight:.0%}" for weight in weights], (ROLE_COLOURS[Role.WEIGHTS],)),
    ]
    heads = [(number * n_keys, row["name"]) for number, row in enumerate(rows)]
    return bar_table([f"k{place + 1}" for _ in rows for place in range(n_keys)], columns, heads)


def verdict(traces: Mapping[str, AttentionTrace], query: Tensor, key: Tensor) -> None:
    """Say which function likes which key best, and which key is nearest."""
    by_key, undecided = defaultdict(list), []
    for name, (place, weight) in favourites(traces).items():
        if place is None:
            undecided.append(name)
        else:
            by_key[place].append(f"{name} ({weight:.0%})")
    parts = [f"**{key_name(place)}**: {', '.join(names)}" for place, names in sorted(by_key.items())]
    if undecided:
        parts.append(f"nobody in particular: {', '.join(undecided)}")
    say(f"Largest weight to {'; '.join(parts)}. Nearest to q is **{key_name(nearest_key(query, key))}**.")


def _nice_limit(largest: float) -> float:
    """Return the next of 1, 2, 5, 10, 20, ... that is not below: an axis that seldom jumps while scores move."""
    if not math.isfinite(largest) or largest <= 1:
        return 1
    power = 10 ** math.floor(math.log10(largest))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= largest)


def fields_tab(functions: Mapping[str, Score], query: Tensor, key: Tensor, changed: Sequence[str]) -> None:
    """Draw every function as a field over all key positions: blue = low, orange = high, pale = its middle.

    The softmax ignores a constant, so that the middle need not be 0. Query (d,), key (n_keys, d); changed are the
    functions whose parameters the visitor put in.
    """
    if len(query) != 2:
        st.info("A field needs a plane: choose 2 numbers per vector.")
        return
    words, drawn = st.columns([0.3, 1], gap="medium")
    with words:
        st.markdown("**What would a key score there?**")
        shared = SHARED.widget(st.toggle, "One colour scale for all")
        st.caption(
            "Blue arrow: query. Orange dots: keys. A key on an orange spot scores high, on a blue spot low; the "
            "borders of the bands are level lines. The learned ones were trained on the upper half of the plane; below "
            "it they guess."
        )
    fields = {
        name: to_array(score_field(function, query, extent=EXTENT, n=POINTS)) for name, function in functions.items()
    }
    largest = max(float(np.ptp(field)) for field in fields.values())
    panels, ramps = [], []
    for name, field in fields.items():
        middle = (field.max() + field.min()) / 2
        reach = max((largest if shared else float(np.ptp(field))) / 2, 1e-9)
        ramps.append(ramp := Ramp(BLUE_ORANGE, middle - reach, middle + reach))
        index = np.rint(ramp.position(field) * 255).astype(np.uint8)
        panels.append(
            {
                "name": name,
                "field": base64.b64encode(index.tobytes()).decode(),
                "low": number(ramp.low, ".3g"),
                "high": number(ramp.high, ".3g"),
                "shape": "With the parameters that you put in." if name in changed else functions[name].picture,
            }
        )
    note_picture(
        lambda: score_fields(fields, ramps, query.tolist(), key.tolist(), EXTENT, bands=BANDS),
        "What each function would score at every place of the plane",
    )
    band = np.minimum(np.arange(256) * BANDS // 256, BANDS - 1)
    colours = base64.b64encode(Ramp(BLUE_ORANGE, 0, 1).lookup(BANDS)[band].tobytes()).decode()
    with drawn:
        vectors = {"query": query.tolist(), "keys": key.tolist()}
        data = {"panels": panels, "n": POINTS, "colours": colours, "extent": EXTENT, **vectors}
        _fields(key="scoring_fields", data=data)
