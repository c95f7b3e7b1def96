"""A hall that guesses: rooms that phones join, the page that they get, and what the lecturer sees of their answers."""
