"""The parts of the page “Draw a digit”."""
