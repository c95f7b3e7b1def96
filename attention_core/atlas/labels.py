"""Where a text stands along an axis of an attention matrix."""

import bisect
import itertools
from collections.abc import Sequence

BLANKS = {ord(mark): " " for mark in "▁ĠĊ"}
"""Byte-level and SentencePiece tokenizers write a blank or the end of a line as one of these."""


def search(labels: Sequence[str], text: str) -> list[int]:
    """Return the positions at which a text begins, in order; a text may run over several labels.

    Upper and lower case are alike. Blanks do not count, nor do the marks that tokenizers write for them or for the
    going on of a word. Where the labels are the numbers of the positions, only the position of a number is found.

    Args:
        labels: one per position, such as the tokens of a text.
        text: what to find; nothing is found by an empty one.
    """
    wanted = _plain(text)
    if not wanted:
        return []
    if labels and (labels[0], labels[-1]) == ("0", str(len(labels) - 1)):
        return [labels.index(wanted)] if wanted in labels else []
    pieces = [_plain(label) for label in labels]
    starts = list(itertools.accumulate(map(len, pieces), initial=0))
    whole = "".join(pieces)
    found: dict[int, None] = {}  # in order, each once
    at = whole.find(wanted)
    while at >= 0:
        found[bisect.bisect_right(starts, at) - 1] = None
        at = whole.find(wanted, at + 1)
    return list(found)


def _plain(text: str) -> str:
    return "".join(text.removeprefix("##").translate(BLANKS).split()).casefold()
