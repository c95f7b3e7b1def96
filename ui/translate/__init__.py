"""The parts of the page “Translate and align”."""
