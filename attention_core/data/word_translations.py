"""French words in English: a table of translation probabilities made from sentence pairs, and glosses by it.

The command `python -m attention_core.data.word_translations [--data FILE --weights FOLDER]` makes the table and its
card by IBM model 1. Each English word of a pair comes from one of the French words or from none; expectation
maximisation tells how often it comes from which. The table has p(English word | French word) times the square root of
p(French word | English word), so that words of most sentences, such as "I", come less often.

Source: Brown et al. 1993, "The Mathematics of Statistical Machine Translation", section 4.1.
"""

import argparse
import gzip
import hashlib
import json
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from attention_core.data.mnist import DataError, read_text
from attention_core.data.pieces import Pair, english_words, french_words, read_pairs, split_pairs, strip_space_mark
from attention_core.files import note_missing
from attention_core.weights import WeightsError, recovery_hint, weights_folder

NAME = "french-english-words"
COMMAND = "attention_core.data.word_translations"
N_ITERATIONS = 6
MIN_COUNT = 2  # times that a French word of the table was met in training
MAX_TRANSLATIONS = 4  # English words of a French one that are kept
MIN_PERCENT = 3  # probability of those
MIN_PROBABILITY, MIN_TIMES = 0.005, 1
"""Of an English word that a French one may stand for: p(English | French), and how often it did, as expected."""
MIN_SOURCE_RATIO = 0.05
"""A word of the source sentence is taken if it is at least this much as likely as the likeliest translation."""

SHORT = 2
"""English words of so many letters or fewer are never called lost: French often has none for them."""

CONTRACTIONS = {"n't": "not", "ca": "can", "wo": "will", "'m": "am", "'re": "are", "'ve": "have", "'ll": "will"}
"""Contracted English words, cut as `english_words` cuts them -> what they stand for."""

Table = Mapping[str, Mapping[str, int]]
"""French word in lower case -> English words, the likeliest first -> their probabilities in per cent.

Behind its translations come words that it may stand for, with 0 per cent.
"""


def expanded_english_words(sentence: str) -> list[str]:
    """Return the words of an English sentence with contractions in full: "Don't go!" -> ["Do", "not", "go", "!"]."""
    words = map(strip_space_mark, english_words(sentence))
    return [CONTRACTIONS.get(term.lower(), term) for term in words]


def lower_french_words(sentence: str) -> list[str]:
    return [strip_space_mark(term).lower() for term in french_words(sentence)]


def translation_probabilities(
    pairs: Sequence[tuple[Sequence[str], Sequence[str]]], n_iterations: int = N_ITERATIONS
) -> dict[str, dict[str, float]]:
    """Return p(English word | French word) for all words that meet in pairs of (English, French) words.

    The French word "" is the one that a word comes from which no word of the other sentence stands for.
    """
    english, english_lengths, english_names = _numbered([words for words, _ in pairs])
    french, french_lengths, french_names = _numbered([["", *words] for _, words in pairs])
    n_candidates = np.repeat(french_lengths, english_lengths)  # (n_english_words,), French words it may come from
    first_candidate = np.repeat(np.cumsum(french_lengths) - french_lengths, english_lengths)
    first_link = np.cumsum(n_candidates) - n_candidates
    french_token = np.arange(n_candidates.sum()) + np.repeat(first_candidate - first_link, n_candidates)
    keys = french[french_token] * len(english_names) + np.repeat(english, n_candidates)
    keys, link = np.unique(keys, return_inverse=True)  # (n_entries,), (n_links,): the entry of each possible link
    french_of, english_of = np.divmod(keys, len(english_names))
    probabilities = np.ones(len(keys))
    for _ in range(n_iterations):
        shares = probabilities[link]
        shares /= np.repeat(np.add.reduceat(shares, first_link), n_candidates)
        counts = np.bincount(link, shares)
        probabilities = counts / np.bincount(french_of, counts)[french_of]
    table: dict[str, dict[str, float]] = defaultdict(dict)
    for index in np.lexsort((-probabilities, french_of)):
        table[french_names[french_of[index]]][english_names[english_of[index]]] = float(probabilities[index])
    return dict(table)


def _numbered(sentences: Sequence[Sequence[str]]) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return the words of all sentences end to end, as numbers; words per sentence; the word of each number."""
    number_of: dict[str, int] = {}
    numbers = [number_of.setdefault(term, len(number_of)) for words in sentences for term in words]
    return np.array(numbers), np.array([len(words) for words in sentences]), list(number_of)


def gloss(french_words: Sequence[str], english_source: str | None = None, table: Table | None = None) -> list[str]:
    """Return an English word for each French one, the committed table's if none is given.

    A word of the English source sentence is taken before a likelier one, see MIN_SOURCE_RATIO. What the table does not
    have, such as a name, a number or a full stop, stays as it is. WeightsError where the table is missing or damaged.
    """
    table = load_table() if table is None else table
    source_words = {term.lower(): term for term in reversed(expanded_english_words(english_source or ""))}
    return [_gloss_word(term, table.get(strip_space_mark(term).lower(), {}), source_words) for term in french_words]


def _gloss_word(french_word: str, translations: Mapping[str, float], source_words: Mapping[str, str]) -> str:
    if not translations:
        return strip_space_mark(french_word)
    best = next(iter(translations))
    threshold = MIN_SOURCE_RATIO * translations[best]
    return next((term for term, p in translations.items() if term.lower() in source_words and p >= threshold), best)


def lost_words(french_words: Sequence[str], english_source: str, table: Table | None = None) -> list[int]:
    """Return which of `expanded_english_words(english_source)`, from 0, no French word can stand for.

    That is none where a French word is unknown, since it may stand for any. WeightsError where the table is missing or
    damaged.
    """
    table = load_table() if table is None else table
    french, english = (
        [strip_space_mark(term).lower() for term in words]
        for words in (french_words, expanded_english_words(english_source))
    )
    if any(_is_word(term) and term not in table and term not in english for term in french):
        return []
    translated = {meaning.lower() for term in french for meaning in table.get(term, (term,))}
    return [
        position
        for position, term in enumerate(english)
        if _is_word(term) and len(term) > SHORT and term not in translated
    ]


@lru_cache(maxsize=1)
@note_missing(NAME)
def load_table() -> Table:
    """Return the committed table, read once; WeightsError where it is missing or damaged."""
    path, table = weights_folder() / f"{NAME}.tsv.gz", {}
    try:
        _, text = read_text(path, Path(path.name), "No table of words {}.")
    except DataError as error:
        raise WeightsError(f"{error} {recovery_hint(COMMAND)}") from None
    for number, line in enumerate(text.splitlines(), 1):
        french, *cells = line.split("\t")
        try:
            table[french] = {term: int(percent) for term, percent in (cell.rsplit(" ", 1) for cell in cells)}
        except ValueError:
            raise WeightsError(f"{path} is damaged in line {number}: {line[:60]!r}") from None
    return table


def make_table(pairs: Sequence[Pair]) -> dict[str, dict[str, int]]:
    """Return the table of English-French sentence pairs: words met often enough, their likeliest translations."""
    words = [(expanded_english_words(english), lower_french_words(french)) for english, french in pairs]
    usual_forms = _usual_forms([english for english, _ in words])
    counts = Counter(term for _, french in words for term in french)
    lowered = [([term.lower() for term in english], french) for english, french in words]
    backwards = translation_probabilities([(french, english) for english, french in lowered])
    table = {}
    for term, translations in sorted(translation_probabilities(lowered).items()):
        if counts[term] >= MIN_COUNT and _is_word(term):
            scores = {
                usual_forms[english]: p * math.sqrt(backwards[english].get(term, 0))
                for english, p in translations.items()
                if _is_word(english)
            }
            table[term] = _likely_percents(scores)
            may_be = (
                usual_forms[english] for english, p in translations.items() if _may_stand(english, p, counts[term])
            )
            table[term] |= {english: 0 for english in may_be if table[term] and english not in table[term]}
    return {term: translations for term, translations in table.items() if translations}


def _may_stand(english: str, probability: float, n_french: int) -> bool:
    """Return whether a French word, met so often, may stand for an English one of such probability."""
    is_likely = probability >= MIN_PROBABILITY and probability * n_french >= MIN_TIMES
    return is_likely and _is_word(english) and len(english) > SHORT


def _likely_percents(scores: Mapping[str, float]) -> dict[str, int]:
    """Return the words of the largest scores, each with its per cent of the sum of all."""
    total = sum(scores.values()) or 1.0
    percents = {term: round(100 * score / total) for term, score in scores.items()}
    likely = sorted(percents, key=lambda term: -percents[term])[:MAX_TRANSLATIONS]
    return {term: percents[term] for term in likely if percents[term] >= MIN_PERCENT}


def _is_word(text: str) -> bool:
    return text.rstrip("'")[-1:].isalpha()


def _usual_forms(sentences: Sequence[Sequence[str]]) -> dict[str, str]:
    """Return each word as it is mostly written inside sentences, by its lower case."""
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    for words in sentences:
        for term in words[:1]:
            forms[term.lower()][term.lower()] += 0  # the one it has if it stands nowhere else
        for term in words[1:]:
            forms[term.lower()][term] += 1
    return {lower: counts.most_common(1)[0][0] for lower, counts in forms.items()}


def gloss_figures(table: Table, pairs: Sequence[Pair]) -> dict[str, float]:
    """Return how often the gloss of a French word is among the words of the English sentence, on held-out pairs.

    "right_with_source": where the gloss was given that sentence; "changed_by_unrelated": how often an English sentence
    of another pair changes a gloss; "lost": how many English words are called lost, though people translated them, and
    how many of an unrelated sentence. Digits and marks such as a full stop do not count.
    """
    french_counts, english_counts = Counter[str](), Counter[str]()
    half = len(pairs) // 2
    for (english, french), (unrelated, _) in zip(pairs, [*pairs[half:], *pairs[:half]], strict=True):
        words = list(filter(_is_word, lower_french_words(french)))
        english_set = {term.lower() for term in expanded_english_words(english)}
        plain, with_source, changed = (gloss(words, source, table) for source in (None, english, unrelated))
        french_counts["n"] += len(words)
        french_counts["in_table"] += sum(term in table for term in words)
        french_counts["right"] += sum(term.lower() in english_set for term in plain)
        french_counts["right_with_source"] += sum(term.lower() in english_set for term in with_source)
        french_counts["changed_by_unrelated"] += sum(map(str.__ne__, plain, changed))
        english_counts["n_english"] += len(lost_words([], english, table))
        english_counts["lost"] += len(lost_words(words, english, table))
        english_counts["lost_of_unrelated"] += len(lost_words(words, unrelated, table))
    return _shares(french_counts, "n") | _shares(english_counts, "n_english")


def _shares(counts: Mapping[str, int], of: str) -> dict[str, float]:
    return {name: count if name == of else round(count / counts[of], 4) for name, count in counts.items()}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog=f"python -m {COMMAND}", description=__doc__)
    parser.add_argument("--data", help="file of the pairs (else the variable ATTENTION_DATA)")
    parser.add_argument("--weights", type=Path, help="folder for the result (default: the project's weights/)")
    parsed = parser.parse_args(arguments)
    split = split_pairs(read_pairs(parsed.data))
    table = make_table(split.train)
    lines = (
        "\t".join([french, *(f"{term} {percent}" for term, percent in of.items())]) for french, of in table.items()
    )
    content = gzip.compress("\n".join([*lines, ""]).encode(), mtime=0)
    folder = parsed.weights or weights_folder()
    (folder / f"{NAME}.tsv.gz").write_bytes(content)
    card = {
        "name": NAME,
        "data": "the pairs that translators train on, of tatoeba.org, selected by manythings.org/anki, CC-BY 2.0",
        "method": f"IBM model 1, {N_ITERATIONS} iterations: p(English | French) p(French | English)^0.5, in per cent",
        "french_words": len(table),
        "development": gloss_figures(table, split.development),
        "test": gloss_figures(table, split.test),
        "command": " ".join([parser.prog, *(sys.argv[1:] if arguments is None else arguments)]),
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    (folder / f"{NAME}.json").write_text(json.dumps(card, indent=2) + "\n")
    print(json.dumps(card, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
