"""English sentences with French translations: read, split by English sentence, cut into words.

Source: sentence pairs of tatoeba.org, selected by manythings.org/anki, CC-BY 2.0.
"""

import hashlib
from collections import Counter, defaultdict
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from attention_core.data.mnist import DataError, read_text
from attention_core.data.words import bare, english_words, french_words

PLACE = Path("tatoeba") / "eng-fra.tsv.gz"
SHORTEST, LONGEST = 3, 20  # words of the English sentences in the development and test parts
HELD_OUT_PER_LENGTH = 30
HELD_OUT_SHARE = 0.12
"""Of each length, this many English sentences go to each part, but never more than this share of what there is."""

Pair = tuple[str, str]
Item = TypeVar("Item")


class PairSplit(NamedTuple, Generic[Item]):
    """Pairs, or sentences, in three parts; no English sentence is in two of them."""

    train: list[Item]
    development: list[Item]
    test: list[Item]


def read_pairs(data: str | Path | None = None) -> list[Pair]:
    """Return (English, French) pairs, the first two columns of a tab-separated file; for `data` see read_text.

    DataError where it cannot be read, or a line has no tab.
    """
    path, text = read_text(
        data,
        PLACE,
        "No sentence pairs at {}. Download fra-eng.zip from manythings.org/anki, unpack it, and give the file with "
        "--data; every line is English, tab, French.",
    )
    return [_pair(line, number, path) for number, line in enumerate(text.splitlines(), 1) if line.strip()]


def _pair(line: str, number: int, path: Path) -> Pair:
    columns = line.split("\t")
    if len(columns) < 2 or not columns[0].strip() or not columns[1].strip():
        raise DataError(f"{path}, line {number}: expected English, tab, French, got {line[:60]!r}")
    return columns[0].strip(), columns[1].strip()


def split_pairs(pairs: list[Pair]) -> PairSplit[Pair]:
    """Split pairs by their English sentence, the held-out parts with as many of each length as there are.

    Which part a sentence belongs to depends on the sentence alone (its SHA-256), not on its place in the file.
    """
    by_length: dict[int, list[str]] = defaultdict(list)
    for sentence in sorted(
        {english.lower() for english, _ in pairs}, key=lambda one: hashlib.sha256(one.encode()).digest()
    ):
        by_length[len(sentence.split())].append(sentence)
    development: set[str] = set()
    test: set[str] = set()
    for length in range(SHORTEST, LONGEST + 1):
        n = min(HELD_OUT_PER_LENGTH, int(HELD_OUT_SHARE * len(by_length[length])))
        development.update(by_length[length][:n])
        test.update(by_length[length][n : 2 * n])
    return PairSplit(
        [pair for pair in pairs if pair[0].lower() not in development and pair[0].lower() not in test],
        [pair for pair in pairs if pair[0].lower() in development],
        [pair for pair in pairs if pair[0].lower() in test],
    )


def words_of(pairs: list[Pair]) -> list[tuple[list[str], list[str]]]:
    """Return (English words in lower case, French words with capitals only where a word always has one)."""
    english = [[word.lower() for word in english_words(pair[0])] for pair in pairs]
    french = [french_words(pair[1]) for pair in pairs]
    inside: dict[str, Counter[str]] = defaultdict(Counter)
    for words in french:
        for word in words[1:]:
            inside[bare(word).lower()][word] += 1
    usual = {lower: bare(forms.most_common(1)[0][0]) for lower, forms in inside.items()}
    for words in french:
        if words:
            first = bare(words[0]).lower()
            words[0] = words[0][: len(words[0]) - len(first)] + usual.get(first, first)
    return [(source, target) for source, target in zip(english, french, strict=True) if source and target]


def english_sentences(data: str | Path | None = None) -> PairSplit[str]:
    """Return the English sides of the pairs, as typed, in the order of the file; for `data` see read_text."""
    return PairSplit(*(list(dict.fromkeys(english for english, _ in part)) for part in split_pairs(read_pairs(data))))
