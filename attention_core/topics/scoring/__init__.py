"""What a score measures: all scoring functions on the same vectors, and why scores are scaled."""
