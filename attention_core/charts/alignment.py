"""Alignments: which source word each target word looks at, as a heatmap whose rows answer the mouse."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attention_core.attention.types import Axis, Role
from attention_core.charts.design import Design
from attention_core.charts.heatmap import matrix_chart
from attention_core.charts.palette import VIRIDIS, Ramp, weights_ramp

QUERY_TITLE = "French word being written (query)"
KEY_TITLE = "keys: the encoder's state at"


def alignment_chart(
    weights: np.ndarray,
    target: Sequence[str],
    keys: Sequence[str],
    *,
    size: int = 420,
    marked: int | None = None,
    key_title: str = KEY_TITLE,
) -> Design:
    """Draw an alignment; every alignment has the same colours from 0 to 1, so that any two can be compared.

    Weights are (n_target, n_keys): what is said are the rows, of which one can be marked, what may be looked at are
    the columns. The uniform weight is marked on the colour bar.

    Source: Bahdanau et al. 2015, figure 3.
    """
    n_keys = len(keys)
    return matrix_chart(
        weights,
        Axis(QUERY_TITLE, list(target)),
        Axis(key_title, list(keys)),
        Role.WEIGHTS,
        title="weight",
        size=size,
        marked_row=marked,
        ramp=weights_ramp(n_keys) if n_keys > 1 else Ramp(VIRIDIS, 0.0, 1.0),
        hover_rows=True,
    )
