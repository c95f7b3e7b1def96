"""The parts of the page “Beyond pairs”."""
