"""Feeds every parser with what nobody would write. `python -m fuzz --all`; see README.md."""
