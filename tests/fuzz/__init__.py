"""Feeds every parser with what nobody would write. `python -m tests.fuzz --all`; see README.md."""
