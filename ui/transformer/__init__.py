"""The parts of the page “Inside a transformer”."""
