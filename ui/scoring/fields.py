"""Each scoring function as a coloured field over all key positions, side by side."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st
from torch import Tensor

from attention_core.attention.score import Score
from attention_core.charts.palette import BLUE_ORANGE, Ramp
from attention_core.device import to_array
from attention_core.topics.scoring.compare import score_field
from attention_core.topics.scoring.presets import EXTENT
from ui.component import component
from ui.scoring.vector_plane import NAME
from ui.state import Field

SHARED = Field(NAME, "shared", False)
POINTS = 41

BANDS = 17
"""Colour bands: their borders are level lines, which show a field's shape better than a smooth ramp."""

_component = component("score_fields")


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
        shared = st.toggle("One colour scale for all", key=SHARED.key, persist_state="session")
        st.caption(
            "Blue arrow: query. Orange dots: keys. A key on an orange spot scores high, on a blue spot low; the "
            "borders of the bands are level lines. The learned ones were trained on the upper half of the plane; below "
            "it they guess."
        )
    fields = {
        name: to_array(score_field(function, query, extent=EXTENT, n=POINTS)) for name, function in functions.items()
    }
    reaches = {name: float(np.ptp(field)) / 2 for name, field in fields.items()}
    panels = []
    for name, field in fields.items():
        middle = (field.max() + field.min()) / 2
        reach = max(max(reaches.values()) if shared else reaches[name], 1e-9)
        ramp = Ramp(BLUE_ORANGE, middle - reach, middle + reach)
        index = np.rint(ramp.position(field) * 255).astype(np.uint8)
        own = "With the parameters that you put in."
        panels.append(
            {
                "name": name,
                "field": base64.b64encode(index.tobytes()).decode(),
                "low": _short(ramp.low),
                "high": _short(ramp.high),
                "shape": own if name in changed else functions[name].picture,
            }
        )
    with drawn:
        vectors = {"query": query.tolist(), "keys": key.tolist()}
        data = {"panels": panels, "n": POINTS, "colours": _COLOURS, "extent": EXTENT, **vectors}
        _component(key="scoring_fields", data=data)


def _short(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")


def _banded_colours() -> str:
    colours = Ramp(BLUE_ORANGE, 0, 1).lookup(BANDS)
    band = np.minimum(np.arange(256) * BANDS // 256, BANDS - 1)
    return base64.b64encode(colours[band].tobytes()).decode()


_COLOURS = _banded_colours()
