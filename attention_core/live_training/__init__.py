"""Trained in front of a class: a small model and its controls, in the same batches, with a film of what is learned."""
