"""Where would a key score high? Every score as a field over all places of the plane."""

import math

import numpy as np
import streamlit as st

from attention_core.device import to_array
from attention_core.live_training.score_comparison import EXTENT, score_field
from pages.scoring import inputs
from pages.scoring.charts import score_fields
from pages.scoring.controls import score_title
from pages.scoring.inputs import Comparison
from ui.chart import draw_chart
from ui.labels import number

draw_input = inputs.draw_input


def _fields(compared: Comparison) -> dict[str, np.ndarray]:
    """Return each function's scores over the plane, (n, n), top row first."""
    scores = compared.functions.items()
    return {score_title(name): to_array(score_field(score, compared.query, extent=EXTENT)) for name, score in scores}


def answer(compared: Comparison) -> str:
    """Say where the best place is for two of the scores."""
    if compared.vectors.d != 2:
        return "A field needs vectors of two numbers."
    fields = _fields(compared)
    clauses = (f"at {_best(fields[name])} by {name}" for name in ("dot", "squared distance"))
    return f"Highest {', but '.join(clauses)}: at q itself."


def _best(field: np.ndarray) -> str:
    """Return the place of the highest score."""
    row, column = divmod(int(field.argmax()), len(field))
    x, y = (EXTENT * (2 * index / (len(field) - 1) - 1) for index in (column, len(field) - 1 - row))
    return f"({number(x, '.1f')}, {number(y, '.1f')})"


def draw(compared: Comparison) -> None:
    """Draw a field for each function."""
    if compared.vectors.d == 2:
        fields, query, keys = _fields(compared), compared.query.tolist(), compared.key.tolist()
        names, middle = list(fields), math.ceil(len(fields) / 2)
        halves = zip(st.columns(2, gap="medium"), (names[:middle], names[middle:]), strict=True)
        for index, (column, half) in enumerate(halves):
            chart = score_fields({name: fields[name] for name in half}, query, keys, EXTENT)
            alt = f"{half[0]} to {half[-1]}"
            draw_chart(chart, key=f"scoring_fields_{index}", width="content", alt=alt, container=column)
        st.caption("Bluer: higher. Learned scores saw keys in the upper half.")
    compared.draw_plane()
