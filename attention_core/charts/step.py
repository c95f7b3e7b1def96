"""A step of a trace as the chart that suits it: pictures, bars, or a matrix."""

import math
from collections.abc import Sequence

import numpy as np

from attention_core.attention.types import Role, Step
from attention_core.charts.bars import probability_bars
from attention_core.charts.chart import Chart
from attention_core.charts.matrix import FONT_SIZE, matrix_chart
from attention_core.charts.pictures import contact_sheet, picture
from attention_core.charts.ramps import INK_RAMP, Ramp, ramp_for
from attention_core.deprecated import renamed_arguments
from attention_core.device import to_array

STEP_SIZE = 500


@renamed_arguments(shown="columns")
def step_chart(
    step: Step,
    head: int = 0,
    *,
    query: int | None = None,
    column: int | None = None,
    size: int = STEP_SIZE,
    ink: Ramp = INK_RAMP,
    columns: Sequence[int] | None = None,
    framed: Sequence[tuple[int, int]] = (),
    n_keys: int = 0,
    reach: float = 0.0,
    ramp: Ramp | None = None,
    hover_rows: bool = False,
    select: str | None = None,
) -> Chart:
    """Draw a step of a trace: positions of a picture become pictures, classes become bars, all else is a matrix.

    Args:
        step: whose numbers are drawn.
        head: of several.
        query: is marked.
        column: is marked instead of the query where rows are pictures.
        size: screen pixels of the longer side, about.
        ink: the ramp from paper to ink.
        columns: the positions whose pictures are drawn, None = all.
        framed: cells (row, column), see matrix_chart.
        n_keys: how many a query has, where rows and columns are not queries and keys.
        reach: a number that has the strongest colour where none is larger.
        ramp: the colours, None = those of the step's role.
        hover_rows: of matrices, see matrix_chart.
        select: of matrices, see matrix_chart.
    """
    values, title = to_array(step.value(head).float()), step.title.lower()
    grid, are_rows_pictures = step.picture
    if step.role == Role.OUTPUT and values.shape[0] == 1:
        return probability_bars({title: values[0]}, list(step.col_axis.labels), height=260).properties(width=size - 60)
    axis, marked = (step.row_axis, column) if are_rows_pictures else (step.col_axis, query)
    positions = [*(range(len(axis)) if columns is None else columns)]
    if grid:
        values = (values if are_rows_pictures else values.T)[positions]
    largest = np.abs(values[np.isfinite(values)]).max(initial=reach)
    ramp = ramp or ramp_for(step.role, np.array([largest]) if reach else values, n_keys or len(step.col_axis))
    if grid:
        n_cells = math.prod(grid)
        pictures, outside = values[:, :n_cells].reshape(-1, *grid), values[:, n_cells:]
        if len(pictures) == 1:
            ramp, title = (ink, "ink") if step.role == Role.INPUT else (ramp, title)
            return picture(pictures[0], ramp, title=title, size=size - 120, marked=marked)
        n_across = 4 if len(pictures) <= 16 else 6 if len(pictures) <= 24 else 8
        side = size // n_across - 10
        suffixes = [f"  ∅ {numbers[0]:.2g}" if len(numbers) else "" for numbers in outside]
        labels = [f"{axis.labels[position]}{suffix}" for position, suffix in zip(positions, suffixes, strict=True)]
        return contact_sheet(pictures, labels, ramp, title=title, columns=n_across, size=side, marked=marked)
    return matrix_chart(
        values,
        step.row_axis,
        step.col_axis,
        step.role,
        title=title,
        size=size,
        ramp=ramp,
        marked_row=query if len(step.row_axis) > 1 else None,
        font_size=int(np.clip(size / max(values.shape) / 8, FONT_SIZE, 16)),
        framed=framed,
        hover_rows=hover_rows,
        select=select,
    )
