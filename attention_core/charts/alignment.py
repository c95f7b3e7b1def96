"""Alignments: which source word each target word looks at, as a heatmap whose rows answer the mouse."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np

from attention_core.charts.heatmap import matrix_chart
from attention_core.charts.palette import weights_ramp
from attention_core.trace import Axis, Role

QUERY_TITLE = "queries: the decoder's state at"
KEY_TITLE = "keys: the encoder's state at"


def alignment_chart(
    weights: np.ndarray,
    target: Sequence[str],
    keys: Sequence[str],
    *,
    n_source: int | None = None,
    size: int = 420,
    marked: int | None = None,
    key_title: str = KEY_TITLE,
) -> alt.LayerChart:
    """Draw an alignment; every alignment has the same colours from 0 to 1, so that any two can be compared.

    Args:
        weights: float (n_target, n_keys).
        target: what is said: rows.
        keys: what may be looked at: columns.
        n_source: source words, whose uniform weight 1/n is marked on the colour bar; n_keys if None.
        size: screen pixels of the longer side.
        marked: a row to frame, or None.
        key_title: of the columns.

    Source: Bahdanau et al. 2015, figure 3.
    """
    return matrix_chart(
        weights,
        Axis(QUERY_TITLE, list(target)),
        Axis(key_title, list(keys)),
        Role.WEIGHTS,
        title="weight",
        size=size,
        marked_row=marked,
        ramp=weights_ramp(n_source or len(keys)),
        hover_rows=True,
    )
