"""What many people guessed, over the numbers that were to be guessed."""

import numpy as np

from attention_core.attention.types import Axis, Role
from attention_core.charts import vega as vl
from attention_core.charts.heatmap import CELL, matrix_chart

NO_NUMBERS = 99  # a size of letters for which no cell has room


def guesses_chart(
    values: np.ndarray,
    counts: np.ndarray,
    row_axis: Axis,
    col_axis: Axis,
    role: Role,
    *,
    size: int = 480,
    picture: str = "",
) -> vl.Chart:
    """Draw a matrix (rows, columns), and a circle with a number on each cell that somebody guessed.

    A circle's area is how often its cell was guessed, counts (rows, columns). The picture, its
    address, of which the cells are parts shines through.
    """
    matrix = matrix_chart(values, row_axis, col_axis, role, title="true number", size=size, font_size=NO_NUMBERS)
    rows, columns = np.nonzero(counts)
    data = {"row": rows, "col": columns, "guesses": counts[rows, columns]}
    most = int(counts.max(initial=1))
    cell = min(matrix.spec["width"] / values.shape[1], matrix.spec["height"] / values.shape[0])
    area = vl.field("guesses:Q", scale={"domain": [0, most], "range": [60, 0.7 * cell**2]}, legend=None)
    look = dict(color="white", opacity=0.92, stroke=vl.DARK_COLOUR, strokeWidth=1.5)
    circles = vl.mark("circle", data, {**CELL, "size": area}, ("guesses:Q", "guesses"), **look)
    numbers = vl.mark("text", data, {**CELL, "text": vl.field("guesses:Q")}, color=vl.DARK_COLOUR, fontSize=12)
    ends = {"x": vl.value(0), "y": vl.value(0), "x2": vl.value("width"), "y2": vl.value("height")}
    below = [vl.images({"url": [picture]}, ends, blend="multiply", opacity=0.5).spec] if picture else []
    return matrix.properties(layer=[*matrix.spec["layer"], *below, circles.spec, numbers.spec])
