"""One step of a trace in the form that suits it: a matrix, pictures, or bars; the same in a notebook and on a page."""

from attention_core.attention.types import Role, Step
from attention_core.charts.bars import probability_bars
from attention_core.charts.design import Chart
from attention_core.charts.heatmap import matrix_chart
from attention_core.charts.palette import INK_RAMP, Ramp, ramp_for
from attention_core.charts.picture import contact_sheet, picture
from attention_core.device import to_array

STEP_SIZE = 500


def step_chart(
    step: Step, head: int = 0, *, query: int | None = None, size: int = STEP_SIZE, ramp: Ramp | None = None
) -> Chart:
    """Draw a step of a trace: positions of a picture become pictures, classes become bars, all else is a matrix.

    The query is marked; the longer side has about so many screen pixels; bars and ink have colours of their own.
    """
    values = to_array(step.value(head).float())
    grid, title = step.row_axis.grid, step.title.lower()
    if step.role == Role.OUTPUT and values.shape[0] == 1:
        return probability_bars({title: values[0]}, list(step.col_axis.labels), height=260).properties(width=size - 60)
    ramp = ramp or ramp_for(step.role, values, len(step.col_axis))
    if grid and step.col_axis.grid is None:
        if step.role == Role.INPUT and values.shape[1] == 1:
            return picture(values[:, 0].reshape(grid), INK_RAMP, title="ink", size=size - 120, marked=query)
        pictures = values.T.reshape(-1, *grid)
        columns = 4 if len(pictures) <= 16 else 8
        side = (size - 10 * columns) // columns
        labels = [f"{step.symbol[0]}[:, {number}]" for number in range(len(pictures))]
        return contact_sheet(pictures, labels, ramp, title=title, columns=columns, size=side, marked=query)
    marked = query if len(step.row_axis) > 1 else None
    return matrix_chart(
        values, step.row_axis, step.col_axis, step.role, title=title, size=size, marked_row=marked, ramp=ramp
    )
