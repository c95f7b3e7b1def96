"""Attention on numbers that a person types: a Problem of tables and settings becomes an AttentionTrace.

from attention_core.topics.vectors import PRESETS, trace_of
trace_of(PRESETS["pairs"].problem()).weights()
"""

from attention_core.topics.vectors.problem import PRESETS, Problem, Settings, trace_of

__all__ = ["PRESETS", "Problem", "Settings", "trace_of"]
