"""What of a sentence is left in its translation, told in the sentence's own language."""

from difflib import SequenceMatcher


def kept_words(said: str, meant: str) -> list[tuple[str, bool]]:
    """Return the words of what was said, and whether each stands, in this order, in what was meant."""
    words = said.split()
    ours, theirs = ([word.strip(".,!?").lower() for word in text] for text in (words, meant.split()))
    blocks = SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks()
    kept = {place for block in blocks for place in range(block.a, block.a + block.size)}
    return [(word, place in kept) for place, word in enumerate(words)]
