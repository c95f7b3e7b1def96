"""What of a sentence is left in its translation, by an English gloss, and which words only one translation has."""

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

CORRECT, WRONG, LOST = "kept", "wrong", "lost"
SHORT = 2
"""Words of so many letters or fewer are not compared."""


def compare_words(gloss: str, original: str, has_replaced: bool = False) -> list[tuple[str, str]]:
    """Return the words of a gloss, correct or wrong, and between them the lost ones of the original sentence.

    Those in whose place wrong ones stand are among the lost ones if `has_replaced`.
    """
    translated, meant = gloss.split(), original.split()
    changes = SequenceMatcher(None, _bare(translated), _bare(meant), False).get_opcodes()
    compared = []
    for change, start, stop, lost_start, lost_stop in changes:
        compared += [(word, CORRECT if change == "equal" else WRONG) for word in translated[start:stop]]
        if change == "insert" or (change == "replace" and has_replaced):
            compared += [(word, LOST) for word in meant[lost_start:lost_stop]]
    return compared


def _bare(words: Sequence[str]) -> list[str]:
    return [word.strip(".,!?").lower() for word in words]


def gaps_in(target: Sequence[str], second: Sequence[str]) -> list[int]:
    """Return the indices of words before which a second translation has others that this one leaves out."""
    changes = SequenceMatcher(None, target, second, autojunk=False).get_opcodes()
    return [first for change, first, *_ in changes if change == "insert"]


def words_only_in(target: Sequence[str], second: Sequence[str]) -> list[int]:
    """Return the indices of words that a second translation lacks, or has less often; no short ones, nor the end."""
    counts = Counter(word.casefold() for word in second)
    indices = []
    for index, word in enumerate(target[:-1]):
        counts[word.casefold()] -= 1
        if len(word) > SHORT and counts[word.casefold()] < 0:
            indices.append(index)
    return indices
