"""Inside a transformer: heads switched off, inputs shuffled, positions, cost."""
