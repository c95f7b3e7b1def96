"""French words in English: a table of translation probabilities, and glosses by it.

The table was made once from sentence pairs, see weights/README.md, by IBM model 1. In it each English word of a pair
comes from one of the French words or from none; expectation maximisation tells how often it comes from which. The table
has p(English word | French word) times the square root of p(French word | English word), so that words of most
sentences, such as "I", come less often.

Source: Brown et al. 1993, "The Mathematics of Statistical Machine Translation", section 4.1.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from attention_core.data.mnist import DataError, read_text
from attention_core.data.pieces import english_words, strip_space_mark
from attention_core.files import note_missing
from attention_core.weights import WeightsError, recovery_hint, weights_folder

NAME = "french-english-words"
MIN_SOURCE_RATIO = 0.05
"""A word of the source sentence is taken if it is at least this much as likely as the likeliest translation."""

SHORT = 2
"""English words of so many letters or fewer are never called lost: French often has none for them."""

CONTRACTIONS = {"n't": "not", "ca": "can", "wo": "will", "'m": "am", "'re": "are", "'ve": "have", "'ll": "will"}
"""Contracted English words, cut as `english_words` cuts them -> what they stand for."""

Table = Mapping[str, Mapping[str, int]]
"""French word in lower case -> English words, the likeliest first -> their probabilities in per cent."""


def expanded_english_words(sentence: str) -> list[str]:
    """Return the words of an English sentence with contractions in full: "Don't go!" -> ["Do", "not", "go", "!"]."""
    words = map(strip_space_mark, english_words(sentence))
    return [CONTRACTIONS.get(word.lower(), word) for word in words]


def gloss(french_words: Sequence[str], english_source: str | None = None, table: Table | None = None) -> list[str]:
    """Return an English word for each French one, the committed table's if none is given.

    A word of the English source sentence is taken before a likelier one, see MIN_SOURCE_RATIO. What the table does not
    have, such as a name, a number or a full stop, stays as it is. WeightsError where the table is missing or damaged.
    """
    table = load_table() if table is None else table
    source_words = {word.lower(): word for word in reversed(expanded_english_words(english_source or ""))}
    return [_gloss_word(word, table.get(strip_space_mark(word).lower(), {}), source_words) for word in french_words]


def _gloss_word(french_word: str, translations: Mapping[str, float], source_words: Mapping[str, str]) -> str:
    if not translations:
        return strip_space_mark(french_word)
    best = next(iter(translations))
    threshold = MIN_SOURCE_RATIO * translations[best]
    return next((word for word, p in translations.items() if word.lower() in source_words and p >= threshold), best)


def lost_words(french_words: Sequence[str], english_source: str, table: Table | None = None) -> list[int]:
    """Return which of `expanded_english_words(english_source)`, from 0, no French word stands for.

    WeightsError where the table is missing or damaged.
    """
    table = load_table() if table is None else table
    lowered = [strip_space_mark(word).lower() for word in french_words]
    translated = {english.lower() for french in lowered for english in table.get(french, (french,))}
    return [
        position
        for position, word in enumerate(expanded_english_words(english_source))
        if _is_word(word) and len(word) > SHORT and word.lower() not in translated
    ]


@lru_cache(maxsize=1)
@note_missing(NAME)
def load_table() -> Table:
    """Return the committed table, read once; WeightsError where it is missing or damaged."""
    path, table = weights_folder() / f"{NAME}.tsv.gz", {}
    try:
        _, text = read_text(path, Path(path.name), "No table of words {}.")
    except DataError as error:
        raise WeightsError(f"{error} {recovery_hint()}") from None
    for number, line in enumerate(text.splitlines(), 1):
        french, *cells = line.split("\t")
        try:
            table[french] = {word: int(percent) for word, percent in (cell.rsplit(" ", 1) for cell in cells)}
        except ValueError:
            raise WeightsError(f"{path} is damaged in line {number}: {line[:60]!r}") from None
    return table


def _is_word(text: str) -> bool:
    return text.rstrip("'")[-1:].isalpha()
