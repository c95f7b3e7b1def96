"""Altair charts of traces and matrices; the only part of the core that imports Altair. Works in any notebook.

from attention_core.charts import matrix_chart, step_chart
step_chart(step_of(trace, "weights"), query=406)
"""

from attention_core.charts import bars as _bars
from attention_core.charts import matrix as _matrix
from attention_core.charts import overlay as _overlay
from attention_core.charts import pictures as _pictures
from attention_core.charts import step as _step
from attention_core.charts.chart import in_altair
from attention_core.charts.figure import COLUMN, figure
from attention_core.charts.matrix import MAX_RECT_SIDE
from attention_core.charts.ramps import INK_RAMP, ROLE_COLOURS, VIRIDIS, Ramp, ramp_for, signed_ramp, weights_ramp
from attention_core.charts.step import STEP_SIZE

bars, probability_bars = in_altair(_bars.bars), in_altair(_bars.probability_bars)
matrix_chart, step_chart = in_altair(_matrix.matrix_chart), in_altair(_step.step_chart)
overlay, overlay_strip = in_altair(_overlay.overlay), in_altair(_overlay.overlay_strip)
contact_sheet, picture = in_altair(_pictures.contact_sheet), in_altair(_pictures.picture)

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
