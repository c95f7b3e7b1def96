"""The parts of the page “Ask about a drawing”."""
