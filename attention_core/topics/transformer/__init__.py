"""Inside a transformer: inputs shuffled, positions, cost."""
