"""Sentences of film reviews with their judgement: read, checked line by line, split by sentence.

Source: Movie Review polarity data, Pang and Lee 2005, "Seeing stars", made public for research by its authors.
"""

import hashlib
from pathlib import Path
from typing import NamedTuple

from attention_core.data.mnist import DataError, read_text

PLACE = Path("polarity") / "sentences.tsv.gz"
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
        PLACE,
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
