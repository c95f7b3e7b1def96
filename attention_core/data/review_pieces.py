"""Sentences of film reviews: read, split, and the vocabulary of the models that judge them.

Common words are whole, rare ones pieces, and common pairs have a vector of their own.

Source: Movie Review polarity data, Pang and Lee 2005, "Seeing stars", made public for research by its authors.
"""

import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from attention_core.data.mnist import DataError, read_text
from attention_core.data.pieces import PAD, SPACE, UNKNOWN, Pieces, read_tokenizer
from attention_core.data.sentence_presets import NEGATIONS
from attention_core.files import note_missing
from attention_core.weights import WeightsError, read_beside

RELATIVE_PATH = Path("polarity") / "sentences.tsv.gz"
DEVELOPMENT_SHARE = 0.1
HOME = "https://www.cs.cornell.edu/people/pabo/movie-review-data/"


class Review(NamedTuple):
    """One sentence of a film review."""

    positive: bool  # whether the reviewer liked the film
    sentence: str  # as it stands in the file


class ReviewSplit(NamedTuple):
    """Reviews in two parts; no sentence is in both."""

    train: list[Review]
    development: list[Review]


def read_reviews(data: str | Path | None = None) -> list[Review]:
    """Return the reviews of a file: label (1 positive, 0 negative), tab, sentence on every line.

    For `data` see read_text; DataError where it cannot be read, is empty, or a line has another form.
    """
    path, text = read_text(
        data,
        RELATIVE_PATH,
        "No review sentences at {}. Give a file whose every line is label (1 positive, 0 negative), tab, sentence; "
        f"the original is the sentence polarity data set of {HOME}.",
    )
    lines = text.replace("\r\n", "\n").split("\n")  # not splitlines: a sentence may hold other separators
    reviews = [_review(line, number, path) for number, line in enumerate(lines, 1) if line.strip()]
    if not reviews:
        raise DataError(f"{path} is empty; every line should be label (1 or 0), tab, sentence.")
    return reviews


def _review(line: str, number: int, path: Path) -> Review:
    label, tab, sentence = line.partition("\t")
    if not tab or label.strip() not in ("0", "1") or not sentence.strip():
        raise DataError(
            f"{path}, line {number}: expected label (1 positive, 0 negative), tab, sentence, got {line[:60]!r}"
        )
    return Review(label.strip() == "1", sentence.strip())


def split_reviews(reviews: list[Review]) -> ReviewSplit:
    """Split reviews by their sentence; which part one belongs to depends on the sentence alone (its SHA-256)."""
    development = [review for review in reviews if _share(review.sentence) < DEVELOPMENT_SHARE]
    return ReviewSplit([review for review in reviews if _share(review.sentence) >= DEVELOPMENT_SHARE], development)


def _share(sentence: str) -> float:
    return int.from_bytes(hashlib.sha256(sentence.encode()).digest()[:4], "big") / 2**32


N_PIECES = 8000
N_PAIRS = 9000
"""Pairs of neighbouring words with a vector of their own: the commonest of those that occur three times or more."""
N_VECTORS = N_PIECES + N_PAIRS
MAX_PIECES = 7  # pieces of a word that count; the rest of a longer word is left out
N_COLUMNS = MAX_PIECES + 2  # numbers per word: pieces, the pair that it makes with the word before it, NEGATED or PAD
NEGATED = N_VECTORS
"""Stands in the last column of a word that a negation reaches; it is no row of the table."""
NEGATORS = NEGATIONS | {"n't"}
REACH = 6  # words after a negation that it reaches, unless a sign or "but" comes before
BARRIERS = frozenset('.,;:!?()"') | {"but", "--"}
PIECES_NAME = "sentence-pieces.json"
WORDS_NAME = "sentence-words.json"


class WordRows(NamedTuple):
    ids: Tensor  # int64 (n_words, N_COLUMNS), pieces, PAD = none; then the pair with the word before; then NEGATED
    texts: list[list[str]]  # the pieces of each word; one alone for a known word
    paired: list[bool]  # whether the word and the one before it are a known pair, such as "not bad"


@lru_cache(maxsize=1)
def _vocabulary() -> Pieces:
    return Pieces(read_tokenizer(PIECES_NAME))


def pieces_of(words: Sequence[str]) -> WordRows:
    """Cut the words of a sentence, in lower case, into pieces, and find the known pairs among them."""
    (_, pairs), rows, texts, paired = word_lists(), [], [], []
    for before, word, negated in zip(["", *words], words, negated_words(words), strict=False):
        ids, piece_texts = _cut_word(word)
        pair = pairs.get(f"{before} {word}", PAD)
        rows.append([*ids, *[PAD] * (MAX_PIECES - len(ids)), pair, NEGATED if negated else PAD])
        texts.append(list(piece_texts))
        paired.append(pair != PAD)
    return WordRows(torch.tensor(rows).view(-1, N_COLUMNS), texts, paired)


def negated_words(words: Sequence[str]) -> list[bool]:
    """Return which words, in lower case, a negation before them reaches.

    Source: Das and Chen 2001, as in Pang et al. 2002, "Thumbs up?", section 5, where it reaches the next sign.
    """
    negated, left = [], 0
    for word in words:
        left = 0 if word in BARRIERS else left
        negated.append(left > 0)
        left = REACH if word in NEGATORS else max(0, left - 1)
    return negated


@lru_cache(maxsize=50_000)
def _cut_word(word: str) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the rows and texts of a word's pieces, at most MAX_PIECES, at least one."""
    cut = _vocabulary().cut([SPACE + word])
    texts = [text.removeprefix(SPACE) for text in cut.texts]
    pairs = [(piece, text) for piece, text in zip(cut.ids, texts, strict=True) if text][:MAX_PIECES] or [
        (UNKNOWN, word)
    ]
    return tuple(piece for piece, _ in pairs), tuple(text for _, text in pairs)


@lru_cache(maxsize=1)
@note_missing(WORDS_NAME)
def word_lists() -> tuple[dict[str, int], dict[str, int]]:
    """Return the most frequent words of the training part with their counts, and the rows of pairs among the vectors.

    The commonest words come first.
    """
    text = read_beside("word list", WORDS_NAME)
    try:
        lists = json.loads(text)
        counts = {str(word): int(count) for word, count in lists["words"].items()}
        return counts, {str(pair): N_PIECES + number for number, pair in enumerate(lists["pairs"][:N_PAIRS])}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise WeightsError(f"The word list {WORDS_NAME} is damaged ({error!r}).") from None
