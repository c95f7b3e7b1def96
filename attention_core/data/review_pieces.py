"""The vocabulary of the models that judge sentences: common words whole, rare ones as pieces.

To make it again: python -m attention_core.data.review_pieces [--data FOLDER_OR_FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import torch
from torch import Tensor

from attention_core.data.mnist import DataError
from attention_core.data.pieces import PAD, UNKNOWN, Pieces
from attention_core.data.polarity import Review, read_reviews, split_reviews
from attention_core.data.words import SPACE, bare, english_words
from attention_core.weights import WeightsError, weights_folder

VOCABULARY_SIZE = 6000
MOST_PIECES = 8
"""Pieces of a word that count; the rest of a longer word is left out."""
PIECES_NAME = "sentence-pieces.json"
WORDS_NAME = "sentence-words.json"
N_FREQUENT = 2000
"""Words whose weights over all reviews are kept."""

__all__ = ["PAD", "UNKNOWN", "VOCABULARY_SIZE", "frequent_words", "pieces_of", "review_words"]


def review_words(sentence: str) -> list[str]:
    """Return a sentence's words in lower case, as the models read them."""
    return [bare(word).lower() for word in english_words(sentence)]


@lru_cache(maxsize=1)
def _vocabulary() -> Pieces:
    if not (weights_folder() / PIECES_NAME).is_file():
        raise WeightsError(f"No vocabulary {weights_folder() / PIECES_NAME}. {_how_to_get()}")
    return Pieces.load(weights_folder() / PIECES_NAME)


def pieces_of(words: Sequence[str]) -> tuple[Tensor, list[list[str]]]:
    """Return the pieces of words in lower case as int64 (n_words, MOST_PIECES), PAD at the end, and as texts.

    Raises:
        WeightsError: the vocabulary is missing or damaged.
    """
    ids, texts = torch.full((len(words), MOST_PIECES), PAD), []
    for place, word in enumerate(words):
        cut = _vocabulary().cut([SPACE + word])
        own = [text.removeprefix(SPACE) for text in cut.texts]
        kept = [(one, text) for one, text in zip(cut.ids, own, strict=True) if text][:MOST_PIECES] or [(UNKNOWN, word)]
        ids[place, : len(kept)] = torch.tensor([one for one, _ in kept])
        texts.append([text for _, text in kept])
    return ids, texts


@lru_cache(maxsize=1)
def frequent_words() -> dict[str, int]:
    """Return the most frequent words of the training part with how often each one occurs, commonest first.

    Raises:
        WeightsError: the list is missing or damaged.
    """
    path = weights_folder() / WORDS_NAME
    try:
        counts = json.loads(path.read_text())
        return {str(word): int(count) for word, count in counts.items()}
    except FileNotFoundError:
        raise WeightsError(f"No word list {path}. {_how_to_get()}") from None
    except (ValueError, AttributeError) as error:
        raise WeightsError(f"The word list {path} is damaged ({error}). {_how_to_get()}") from None


def learn(reviews: Sequence[Review]) -> tuple[Pieces, dict[str, int]]:
    """Return the vocabulary and the most frequent words of reviews."""
    sentences = [review_words(review.sentence) for review in reviews]
    counts = Counter(word for words in sentences for word in words)
    common = dict(sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:N_FREQUENT])
    marked = [[SPACE + word for word in words] for words in sentences]
    return Pieces.learn(marked, VOCABULARY_SIZE), common


def _how_to_get() -> str:
    return "Fetch it with `git checkout -- weights`, or make it: `python -m attention_core.data.review_pieces`."


def main(arguments: list[str] | None = None) -> int:
    """Learn the vocabulary from the training part of the reviews and write it beside the weights."""
    parser = argparse.ArgumentParser(prog="python -m attention_core.data.review_pieces", description=main.__doc__)
    parser.add_argument("--data", help="folder of the data sets, or a tab-separated file")
    parsed = parser.parse_args(arguments)
    try:
        vocabulary, common = learn(split_reviews(read_reviews(parsed.data)).train)
    except DataError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    vocabulary.save(weights_folder() / PIECES_NAME)
    (weights_folder() / WORDS_NAME).write_text(json.dumps(common, ensure_ascii=False, indent=0) + "\n")
    print(f"wrote {weights_folder() / PIECES_NAME}: {len(vocabulary)} pieces")
    return 0


if __name__ == "__main__":
    sys.exit(main())
