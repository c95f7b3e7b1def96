"""The parts of the page “Find the digit”."""
