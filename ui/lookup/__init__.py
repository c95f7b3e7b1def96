"""The parts of the page “Look up softly”."""
