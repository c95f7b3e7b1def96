"""Sentences that the text pages open with."""

from __future__ import annotations

LEARNED = (
    ("The red car is in front of the house.", "La voiture rouge est devant la maison."),
    ("I don't know where he bought this book.", "Je ne sais pas où il a acheté ce livre."),
    ("She has never seen such a beautiful city.", "Elle n'a jamais vu une aussi belle ville."),
)
"""English with French: the pairs whose alignments are kept while the additive translator learns."""
