"""Models that other people trained: found, loaded safely, given an input, and run with every attention kept."""
