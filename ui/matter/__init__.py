"""The parts of the page “Which words matter”."""
