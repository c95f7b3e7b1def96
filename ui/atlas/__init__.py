"""The parts of the page “The atlas”."""

NAME = "atlas"
