"""The parts of the page “Read a number”."""
