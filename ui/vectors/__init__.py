"""The parts of the page “Three vectors, nine pairs”."""
