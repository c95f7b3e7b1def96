"""Translate and align: sentences read, translated and explained, and shown by words."""
