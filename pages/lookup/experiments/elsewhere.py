"""What if it took other values? Weights are changed, and the context is mixed anew."""

import numpy as np
import streamlit as st

from attention_core.device import to_array
from attention_core.inference.soft_lookup import value_labels
from pages.lookup.inputs import LookUp, draw_lookup
from pages.lookup.table import EDITS, NAME, QUERY
from ui.edits import (
    AS_COMPUTED,
    WeightsRow,
    describe_change,
    draw_outcome,
    matrix_editor,
    show_weights_difference,
)
from ui.fragments import with_rerun

draw_input = draw_lookup


def _outcome(lookup: LookUp) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the values' labels, and how much of each is handed over, as computed and changed."""
    before, after = (to_array(trace.context(0)[lookup.query]) for trace in (lookup.plain, lookup.trace))
    return value_labels(lookup.request.records), before, after


def answer(lookup: LookUp) -> str:
    """Say what the visitor's changes did."""
    if not lookup.trace.edits:
        return "Then the answer is another mixture."
    return describe_change(*_outcome(lookup))


def draw(lookup: LookUp) -> None:
    """Draw the weights to be changed, and the mixture."""
    weights, outcome = st.columns(2, gap="large")
    with weights:
        row = WeightsRow(EDITS, lookup.trace, [lookup.query], input_id=lookup.request.in_words)
        matrix_editor(row, with_rerun(QUERY.set))
    with outcome:
        draw_outcome(*_outcome(lookup), AS_COMPUTED)
        show_weights_difference(NAME, lookup.plain, lookup.trace)
