"""Attention on numbers that a person types: a Problem of tables and settings becomes an AttentionTrace.

from attention_core.topics.vectors import PRESETS, trace_of
trace_of(PRESETS["pairs"].problem()).weights()
"""

from attention_core.topics.vectors.build import trace_of
from attention_core.topics.vectors.presets import (
    PIXELS,
    PIXELS_LINE,
    PIXELS_TITLE,
    PRESETS,
    SIZES,
    in_mode,
    pixel_problem,
    randomised,
    resize_cells,
    spread_positions,
)
from attention_core.topics.vectors.problem import (
    MASKS,
    MAX_COLUMNS,
    MAX_ROWS,
    SCALES,
    TABLES,
    Fault,
    Mode,
    Problem,
    ProblemError,
    Settings,
    find_faults,
)

__all__ = [
    "MASKS",
    "MAX_COLUMNS",
    "MAX_ROWS",
    "PIXELS",
    "PIXELS_LINE",
    "PIXELS_TITLE",
    "PRESETS",
    "SCALES",
    "SIZES",
    "TABLES",
    "Fault",
    "Mode",
    "Problem",
    "ProblemError",
    "Settings",
    "find_faults",
    "in_mode",
    "pixel_problem",
    "randomised",
    "resize_cells",
    "spread_positions",
    "trace_of",
]
