"""Sentence pairs that people aligned word by word, in a text file that people can write.

One pair a line, three columns between bars: English words, French words, links, all separated by spaces, as in

    the red car . | la voiture rouge . | the=la red=rouge car=voiture .=.

A sure link has =, a possible one ~; the second "the" of a sentence is "the#2". Lines that begin with # are comments.
"""

import re
from pathlib import Path

from attention_core.data.mnist import DataError
from attention_core.explain.alignment import AlignedPair, Link

_LINK = re.compile(r"(.+?)(?:#(\d+))?([=~])(.+?)(?:#(\d+))?")


def read_alignments(file: str | Path) -> list[AlignedPair]:
    """Return the aligned pairs of a file; DataError where it cannot be read or a line is not of the form above."""
    try:
        lines = Path(file).expanduser().read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{file} cannot be read as text: {error}") from None
    return [
        _pair(line, f"{file}, line {number}")
        for number, line in enumerate(lines, 1)
        if line.strip() and not line.startswith("#")
    ]


def _pair(line: str, where: str) -> AlignedPair:
    columns = [column.split() for column in line.split("|")]
    if len(columns) != 3 or not all(columns):
        raise DataError(f"{where}: expected English | French | links, got {line[:60]!r}")
    source, target, texts = columns
    sure: set[Link] = set()
    possible: set[Link] = set()
    for text in texts:
        match = _LINK.fullmatch(text)
        if not match:
            raise DataError(f"{where}: a link is written word=word or word~word, got {text!r}")
        english, nth_english, kind, french, nth_french = match.groups()
        link = _place(source, english, nth_english, where), _place(target, french, nth_french, where)
        possible.add(link)
        if kind == "=":
            sure.add(link)
    return AlignedPair(source, target, sure, possible)


def _place(words: list[str], word: str, nth: str | None, where: str) -> int:
    places = [place for place, candidate in enumerate(words) if candidate.lower() == word.lower()]
    if len(places) < int(nth or 1):
        raise DataError(f"{where}: {' '.join(words)!r} has no word {word!r} number {nth or 1}")
    return places[int(nth or 1) - 1]
