"""The commonest words of English sentences, and sentences as their numbers, for models that foresee a word."""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from attention_core.data.pieces import english_words, strip_space_mark
from attention_core.files import note_missing
from attention_core.weights import WeightsError, read_beside

NAME = "next-words.txt"
N_WORDS = 1098
START, UNKNOWN = N_WORDS, N_WORDS + 1
"""What stands before the first word; any word that the vocabulary lacks, which is read and never foreseen."""
MAX_WORDS = 24
"""Words of the longest sentence, its punctuation marks counted."""
MAX_CHARACTERS = 2_000
CLOSING_MARKS = frozenset(".?!")


class Line(NamedTuple):
    """A sentence as the models read it; ids and labels have one entry for the start and for each word."""

    ids: list[int]
    labels: list[str]
    n_dropped: int = 0  # words beyond MAX_WORDS, which are not read

    @property
    def unknown(self) -> list[str]:
        """The words that the vocabulary lacks."""
        return [label for number, label in zip(self.ids, self.labels, strict=True) if number == UNKNOWN]


@lru_cache(maxsize=1)
def vocabulary() -> tuple[str, ...]:
    """Return the words, the commonest first, "▁" where a space stands before; WeightsError where they are missing."""
    with note_missing(NAME):
        words = tuple(read_beside("vocabulary", NAME).split("\n")[:-1])
        if len({*words}) != N_WORDS:
            raise WeightsError(f"The vocabulary {NAME} is damaged: it has {len(words):,} words, not {N_WORDS:,}.")
        return words


@lru_cache(maxsize=1)
def _numbers() -> dict[str, int]:
    return {word: number for number, word in enumerate(vocabulary())}


def read_line(text: str) -> Line:
    """Return a typed sentence as numbers, in lower case; of nothing, the start alone remains."""
    words = english_words(text[:MAX_CHARACTERS])
    n_words = len(words) + len(text[MAX_CHARACTERS:].split())
    words = words[:MAX_WORDS]
    ids = [_numbers().get(word.lower(), UNKNOWN) for word in words]
    return Line([START, *ids], ["start", *map(strip_space_mark, words)], n_words - len(words))


def fitting_lines(sentences: Iterable[str]) -> list[list[int]]:
    """Return the numbers of those sentences that have 2 to MAX_WORDS words, at most one of them unknown."""
    lines = map(read_line, sentences)
    return [line.ids for line in lines if len(line.ids) > 2 and not line.n_dropped and len(line.unknown) < 2]
