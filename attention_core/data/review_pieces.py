"""The vocabulary of the models that judge sentences: common words whole, rare ones as pieces, and common pairs.

To make it again: python -m attention_core.data.review_pieces [--data FOLDER_OR_FILE]
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from attention_core.data.mnist import DataError
from attention_core.data.pieces import PAD, UNKNOWN, Pieces
from attention_core.data.polarity import Review, read_reviews, split_reviews
from attention_core.data.words import SPACE, bare, english_words
from attention_core.files import needed
from attention_core.weights import WeightsError, how_to_get, weights_folder

N_PIECES = 8000
N_PAIRS = 9000
"""Pairs of neighbouring words with a vector of their own: the commonest of those that occur three times or more."""
N_VECTORS = N_PIECES + N_PAIRS
MOST_PIECES = 7  # pieces of a word that count; the rest of a longer word is left out
N_COLUMNS = MOST_PIECES + 1  # numbers per word: its pieces, then the pair that it makes with the word before it
PIECES_NAME = "sentence-pieces.json"
WORDS_NAME = "sentence-words.json"
RARE = 3
N_FREQUENT = 2000  # words whose weights over all reviews are kept


class WordRows(NamedTuple):
    """Words as rows of the table of vectors."""

    ids: Tensor  # int64 (n_words, N_COLUMNS), pieces, PAD = none; the last column is the pair with the word before
    texts: list[list[str]]  # the pieces of each word; one alone for a known word
    paired: list[bool]  # whether the word and the one before it are a known pair, such as "not bad"


def review_words(sentence: str) -> list[str]:
    """Return a sentence's words in lower case, as the models read them."""
    return [bare(word).lower() for word in english_words(sentence)]


@lru_cache(maxsize=1)
@needed(PIECES_NAME)
def _vocabulary() -> Pieces:
    if not (weights_folder() / PIECES_NAME).is_file():
        raise WeightsError(f"No vocabulary {weights_folder() / PIECES_NAME}. {_how_to_get()}")
    return Pieces.load(weights_folder() / PIECES_NAME)


def pieces_of(words: Sequence[str]) -> WordRows:
    """Cut the words of a sentence, in lower case, into pieces, and find the known pairs among them."""
    (_, pairs), rows, texts, paired = _lists(), [], [], []
    for before, word in zip(["", *words], words, strict=False):
        ids, own = _cut_word(word)
        pair = pairs.get(f"{before} {word}", PAD)
        rows.append([*ids, *[PAD] * (MOST_PIECES - len(ids)), pair])
        texts.append(list(own))
        paired.append(pair != PAD)
    return WordRows(torch.tensor(rows).view(-1, N_COLUMNS), texts, paired)


@lru_cache(maxsize=50_000)
def _cut_word(word: str) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the rows and texts of a word's pieces, at most MOST_PIECES, at least one."""
    cut = _vocabulary().cut([SPACE + word])
    own = [text.removeprefix(SPACE) for text in cut.texts]
    kept = [(piece, text) for piece, text in zip(cut.ids, own, strict=True) if text][:MOST_PIECES] or [(UNKNOWN, word)]
    return tuple(piece for piece, _ in kept), tuple(text for _, text in kept)


@lru_cache(maxsize=1)
@needed(WORDS_NAME)
def _lists() -> tuple[dict[str, int], dict[str, int]]:
    """Return the frequent words with their counts, and the pairs with their rows in the table of vectors."""
    path = weights_folder() / WORDS_NAME
    try:
        lists = json.loads(path.read_text())
        counts = {str(word): int(count) for word, count in lists["words"].items()}
        return counts, {str(pair): N_PIECES + number for number, pair in enumerate(lists["pairs"][:N_PAIRS])}
    except FileNotFoundError:
        raise WeightsError(f"No word list {path}. {_how_to_get()}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise WeightsError(f"The word list {path} is damaged ({error!r}). {_how_to_get()}") from None


def frequent_words() -> dict[str, int]:
    """Return the most frequent words of the training part with how often each one occurs, commonest first."""
    return _lists()[0]


def learn(reviews: Sequence[Review]) -> tuple[Pieces, dict[str, int], list[str]]:
    sentences = [review_words(review.sentence) for review in reviews]
    words = Counter(word for sentence in sentences for word in sentence)
    pairs = Counter(pair for sentence in sentences for pair in {" ".join(two) for two in pairwise(sentence)})
    marked = [[SPACE + word for word in sentence] for sentence in sentences]
    common = [pair for pair, n in _ranked(pairs)[:N_PAIRS] if n >= RARE]
    return Pieces.learn(marked, N_PIECES), dict(_ranked(words)[:N_FREQUENT]), common


def _ranked(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _how_to_get() -> str:
    return how_to_get("attention_core.data.review_pieces")


def main(arguments: list[str] | None = None) -> int:
    """Learn the vocabulary from the training part of the reviews and write it beside the weights."""
    parser = argparse.ArgumentParser(prog="python -m attention_core.data.review_pieces", description=main.__doc__)
    parser.add_argument("--data", help="folder of the data sets, or a tab-separated file")
    parsed = parser.parse_args(arguments)
    try:
        vocabulary, words, pairs = learn(split_reviews(read_reviews(parsed.data)).train)
    except DataError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    vocabulary.save(weights_folder() / PIECES_NAME)
    lists = json.dumps({"words": words, "pairs": pairs}, ensure_ascii=False, indent=0)
    (weights_folder() / WORDS_NAME).write_text(lists + "\n")
    print(f"wrote {weights_folder() / PIECES_NAME} and {WORDS_NAME}: {len(vocabulary)} pieces, {len(pairs)} pairs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
