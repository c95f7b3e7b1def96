"""Look up softly: records, their vectors, exact and soft look-up."""
