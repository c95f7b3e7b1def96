"""Measurements, each with its goal: python -m benchmarks.NAME prints a table and writes results/NAME.json."""
