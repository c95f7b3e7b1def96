"""The parts of the page “What a score measures”."""
