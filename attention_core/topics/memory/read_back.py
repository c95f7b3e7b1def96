"""What of a sentence is left in its translation, told in the sentence's own language."""

from difflib import SequenceMatcher

KEPT, WRONG, LOST = "kept", "wrong", "lost"


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
