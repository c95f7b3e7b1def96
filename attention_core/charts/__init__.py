"""Altair charts of traces and matrices; the only part of the core that imports Altair. Works in any notebook.

from attention_core.charts import matrix_chart, step_chart
step_chart(step_of(trace, "weights"), query=406)
"""

from attention_core.charts.bars import bars, probability_bars
from attention_core.charts.figure import COLUMN, figure
from attention_core.charts.heatmap import MAX_RECT_SIDE, STEP_SIZE, contact_sheet, matrix_chart, picture, step_chart
from attention_core.charts.overlay import overlay, overlay_strip
from attention_core.charts.ramps import INK_RAMP, ROLE_COLOURS, VIRIDIS, Ramp, ramp_for, signed_ramp, weights_ramp

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
