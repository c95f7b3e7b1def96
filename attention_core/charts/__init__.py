"""Altair charts of traces and matrices; the only part of the core that imports Altair. Works in any notebook.

from attention_core.charts import matrix_chart, step_chart
step_chart(step_of(trace, "weights"), query=406)
"""

from attention_core.charts.bars import bars, probability_bars
from attention_core.charts.figure import COLUMN, figure
from attention_core.charts.matrix import MAX_RECT_SIDE, matrix_chart
from attention_core.charts.overlay import overlay, overlay_strip
from attention_core.charts.pictures import contact_sheet, picture
from attention_core.charts.ramps import INK_RAMP, ROLE_COLOURS, VIRIDIS, Ramp, ramp_for, signed_ramp, weights_ramp
from attention_core.charts.step import STEP_SIZE, step_chart

__all__ = [
    "COLUMN",
    "INK_RAMP",
    "MAX_RECT_SIDE",
    "ROLE_COLOURS",
    "STEP_SIZE",
    "VIRIDIS",
    "Ramp",
    "bars",
    "contact_sheet",
    "figure",
    "matrix_chart",
    "overlay",
    "overlay_strip",
    "picture",
    "probability_bars",
    "ramp_for",
    "signed_ramp",
    "step_chart",
    "weights_ramp",
]
