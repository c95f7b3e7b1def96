"""Tokens as a person reads them: without the signs that tokenizers write for spaces, and apart where a text ends."""

import re
from collections.abc import Sequence

SIGN = re.compile(r"[<\[].*[>\]]")
ENDS = ("[SEP]", "</s>", "<sep>")


def pieces(labels: Sequence[str]) -> list[tuple[str, bool]]:
    """Return each token's text, and whether it goes on with the word before.

    A word begins with a space (or the signs Ġ and ▁ that stand for one) where any token of the text has one; else
    "##" goes on with a word; else every token stands alone.
    """
    spaced = any(label[:1] in (" ", "Ġ", "▁") and len(label) > 1 for label in labels)
    found = []
    for place, label in enumerate(labels):
        if spaced:
            begins = label[:1] in (" ", "Ġ", "▁")
            is_named = label.startswith(("<", "[")) and label.endswith((">", "]"))
            after_named = place > 0 and labels[place - 1].endswith((">", "]"))
            found.append((label[1:] if begins and len(label) > 1 else label, not (begins or is_named or after_named)))
        else:
            glued = label.startswith("##") and len(label) > 2
            found.append((label[2:] if glued else label, glued))
    return [(text or "·", glued) for text, glued in found]


def parts_of(labels: Sequence[str]) -> list[int]:
    """Return where each of several texts begins; one text alone begins at 0."""
    last = len(labels) - 1
    ends = [place for place, label in enumerate(labels) if label in ENDS and place < last]
    begins = [end + 1 for end in ends if labels[end + 1] not in ENDS]
    return [0, *begins]
