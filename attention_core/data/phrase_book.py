"""A phrase book: some two thousand English sentences from A to Z, so that many begin as the one before them did.

To make it again: python -m attention_core.data.phrase_book [--data FOLDER_OR_FILE]

Source: sentences of tatoeba.org, selected by manythings.org/anki, CC-BY 2.0.
"""

import argparse
import sys
from functools import lru_cache

from attention_core.data.mnist import DataError
from attention_core.files import needed
from attention_core.weights import WeightsError, recovery_hint, weights_folder

NAME = "phrase-book.txt"
CHAPTERS, PER_CHAPTER = 42, 51
"""Runs of neighbours in the alphabet, at equal distances, and the sentences of each."""
SHORTEST, LONGEST = 3, 14  # words of a sentence
UNKIND = ("dead", "die", "drunk", "fat", "hate", "idiot", "murder", "naked", "stupid", "ugly")


@lru_cache(maxsize=1)
@needed(NAME)
def phrase_book() -> tuple[str, ...]:
    """Return the sentences, in order; WeightsError where their file is missing."""
    path = weights_folder() / NAME
    try:
        return tuple(path.read_text(encoding="utf-8").splitlines())
    except OSError:
        raise WeightsError(f"No sentences {path}. {recovery_hint('attention_core.data.phrase_book')}") from None


def choose_phrases(sentences: list[str]) -> list[str]:
    """Return CHAPTERS runs of neighbours in the alphabet, of sentences that begin with a letter and are not UNKIND."""
    fitting = {one for one in sentences if one[0].isalpha() and SHORTEST <= len(one.split()) <= LONGEST}
    ordered = sorted((one for one in fitting if not _is_unkind(one)), key=str.casefold)
    starts = range(0, len(ordered) - PER_CHAPTER, len(ordered) // CHAPTERS)
    return [sentence for start in starts for sentence in ordered[start : start + PER_CHAPTER]]


def _is_unkind(sentence: str) -> bool:
    return any(word in sentence.casefold() for word in UNKIND)


def main(arguments: list[str] | None = None) -> int:
    from attention_core.data.pieces import english_sentences

    parser = argparse.ArgumentParser(prog="python -m attention_core.data.phrase_book")
    parser.add_argument("--data", help="folder of the data sets, or a tab-separated file")
    try:
        chosen = choose_phrases(english_sentences(parser.parse_args(arguments).data).train)
    except DataError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    path = weights_folder() / NAME
    path.write_text("\n".join(chosen) + "\n", encoding="utf-8")
    print(f"wrote {path}: {len(chosen):,} sentences")
    return 0


if __name__ == "__main__":
    sys.exit(main())
