"""What of a sentence is left in its translation, in the sentence's own language, and what one of two alone says."""

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

KEPT, WRONG, LOST = "kept", "wrong", "lost"
SHORT = 2
"""Letters of a word of which it is not told whether another translation has it."""


def compare_words(said: str, meant: str) -> list[tuple[str, str]]:
    """Return the words of what was said, kept or wrong, and between them those of what was meant that are lost."""
    ours, theirs = said.split(), meant.split()
    ours_bare, theirs_bare = ([word.strip(".,!?").lower() for word in words] for words in (ours, theirs))
    compared = []
    for change, first, last, start, end in SequenceMatcher(None, ours_bare, theirs_bare, False).get_opcodes():
        compared += [(word, KEPT if change == "equal" else WRONG) for word in ours[first:last]]
        if change == "insert":
            compared += [(word, LOST) for word in theirs[start:end]]
    return compared


def words_only_in(target: Sequence[str], other: Sequence[str]) -> list[int]:
    """Return the places of words that another translation has not, or less often; no short ones, nor the end."""
    left = Counter(word.casefold() for word in other)
    places = []
    for place, word in enumerate(target[:-1]):
        left[word.casefold()] -= 1
        if len(word) > SHORT and left[word.casefold()] < 0:
            places.append(place)
    return places
