"""Attention itself: scores, edits, attend, the trace and its steps, recordings."""
