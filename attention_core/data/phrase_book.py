"""A phrase book: some two thousand English sentences from A to Z, so that many begin as the one before them did.

Source: sentences of tatoeba.org, selected by manythings.org/anki, CC-BY 2.0.
"""

from functools import lru_cache

from attention_core.files import note_missing
from attention_core.weights import read_beside

NAME = "phrase-book.txt"


@lru_cache(maxsize=1)
@note_missing(NAME)
def phrase_book() -> tuple[str, ...]:
    """Return the sentences, in order; WeightsError where their file is missing."""
    return tuple(read_beside("sentences", NAME).splitlines())
