"""One query's slice of n x n x n weights or scores: first others down, second across, matching pairs framed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attention_core.attention.types import Axis, Role
from attention_core.charts.design import Design, alt
from attention_core.charts.heatmap import matrix_chart
from attention_core.charts.marks import haloed
from attention_core.charts.palette import ROLE_COLOURS, Ramp


def pair_map(
    values: np.ndarray,
    single: Axis,
    role: Role,
    *,
    framed: Sequence[tuple[int, int]] = (),
    title: str = "",
    size: int = 440,
    ramp: Ramp | None = None,
) -> Design:
    """Draw a square of pairs (n, n); -inf or NaN = a pair that may not be chosen, drawn as a grey cell.

    The axis says what one member of a pair can be. Framed pairs (row, column) are framed in both orders; colours are
    those of the role if there is no ramp, and the title is that of the colour bar.
    """
    rows, cols = Axis(f"first of the {single.name}", single.labels), Axis(f"second of the {single.name}", single.labels)
    chart = matrix_chart(values, rows, cols, role, title=title, size=size, ramp=ramp)
    both = sorted({pair for row, col in framed for pair in ((row, col), (col, row))})
    if not both:
        return chart
    places = dict(zip(("row", "col"), zip(*both, strict=True), strict=True))
    space = {"x": alt.X("col:O"), "y": alt.Y("row:O")}
    halo, line = haloed(places, space, (5, 2.5), ROLE_COLOURS[Role.CONTEXT])
    return chart + halo + line
