"""Data: MNIST, pen strokes, drawings and what is made of them. Nothing here knows a model."""
