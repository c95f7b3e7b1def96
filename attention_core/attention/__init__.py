"""Attention itself: scores, interventions, attend, the trace and its steps, recordings."""
