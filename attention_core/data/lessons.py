"""What small models learn while somebody watches: python -m attention_core.data.lessons [FOLDER] makes it again.

Digits of 14 x 14 pixels, sentences of a small grammar, and short pairs of sentences. Licences: lessons/README.md.
"""

import gzip
import sys
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from attention_core.data.mnist import DataError, Digits, load_mnist, read_text
from attention_core.data.pieces import SPECIAL, Pair, english_words, french_words, read_pairs, split_pairs
from attention_core.files import find_file, note_missing

FOLDER, DIGITS, PAIRS = "lessons", "digits.npz", "pairs.tsv.gz"
SIDE = 14
N_DIGITS, N_GRAMMAR, N_HELD_OUT = 4000, 3000, 500
N_PAIRS, N_WORDS, LONGEST = 6000, 1000, 7
"""Pairs that are learned from; the commonest words of each language; words of the longest sentence."""
DETERMINERS = (("the", "le", "la"), ("a", "un", "une"))
NOUNS = (
    "cat chat, dog chien, boy garçon, king roi, horse cheval, book livre, bird moineau",  # masculine
    "car voiture, house maison, girl fille, queen reine, mouse souris, flower fleur, apple pomme",
)
ADJECTIVES = (
    "small petit petite, big grand grande, old vieux vieille, young jeune jeune",  # before the noun in French, too
    "red rouge rouge, green vert verte, white blanc blanche, black noir noire",
)
VERBS = "sees see voit, eats eat mange, wants want veut, hides hide cache, draws draw dessine, washes wash lave"


class Corpus(NamedTuple):
    """Pairs of sentences as words, as pieces.py cuts them: those to learn from, others, and all words."""

    train: list[tuple[list[str], list[str]]]
    held_out: list[tuple[list[str], list[str]]]
    words: tuple[str, ...]  # by number; the first are SPECIAL


def _phrase(generator: np.random.Generator) -> tuple[list[str], list[str]]:
    """Return a noun with its determiner and perhaps an adjective, in English and in French."""

    def one(words: str) -> list[str]:
        choices = words.split(", ")
        return choices[generator.integers(len(choices))].split()

    gender, kind = generator.integers(2), generator.integers(3)
    determiner, noun = DETERMINERS[generator.integers(2)], one(NOUNS[gender])
    phrase = [determiner[0], noun[0]], [determiner[1 + gender], noun[1]]
    if kind:
        adjective = one(ADJECTIVES[kind - 1])
        phrase[0].insert(1, adjective[0])
        phrase[1].insert(kind, adjective[1 + gender])
    return phrase


def _sentence(generator: np.random.Generator) -> Pair:
    (subject, sujet), (thing, objet) = _phrase(generator), _phrase(generator)
    sees, see, voit = VERBS.split(", ")[generator.integers(6)].split()
    is_denied = generator.integers(4) == 0
    verbs = (("does", "not", see), ("ne", voit, "pas")) if is_denied else ((sees,), (voit,))
    return " ".join((*subject, *verbs[0], *thing)), " ".join((*sujet, *verbs[1], *objet))


@lru_cache(1)
def grammar() -> Corpus:
    """Return sentences of 38 English and 40 French words: adjectives stand before or after their noun, “not” is two."""
    generator, found = np.random.default_rng(2014), dict[Pair, None]()
    while len(found) < N_GRAMMAR + N_HELD_OUT:
        found[_sentence(generator)] = None
    return _corpus([*found])


@lru_cache(1)
def short_pairs() -> Corpus:
    """Return short sentences of tatoeba.org that come along; DataError where their file is missing."""
    with note_missing(PAIRS):
        text = read_text(find_file(FOLDER), Path(PAIRS), "{} is not there: fetch it, or Attention Explorer, again.")[1]
    return _corpus([tuple(line.split("\t")) for line in text.splitlines()])  # type: ignore[misc]


@lru_cache(1)
def small_digits() -> tuple[Digits, Digits]:
    """Return digits of 14 x 14 pixels to learn from, and others; DataError where their file is missing."""
    path = find_file(FOLDER) / DIGITS
    try:
        with note_missing(DIGITS), np.load(path) as arrays:
            images, labels = arrays["images"], arrays["labels"]
    except OSError:
        raise DataError(f"{path} is not there: fetch it, or Attention Explorer, again.") from None
    return Digits(images[N_HELD_OUT:], labels[N_HELD_OUT:]), Digits(images[:N_HELD_OUT], labels[:N_HELD_OUT])


def _corpus(pairs: Sequence[Pair]) -> Corpus:
    cut = [(english_words(english), french_words(french)) for english, french in pairs]
    words = dict.fromkeys(word for pair in cut for side in pair for word in side)
    return Corpus(cut[N_HELD_OUT:], cut[:N_HELD_OUT], (*SPECIAL, *words))


def _make(data: str | None) -> None:
    """Write the digits, and pairs of common words, one for each English sentence, none of them kept out elsewhere."""
    parts = [(load_mnist("t10k", data), N_HELD_OUT), (load_mnist("train", data), N_DIGITS)]
    images = [part.images[:n].reshape(n, SIDE, 2, SIDE, 2).mean((2, 4)).round().astype(np.uint8) for part, n in parts]
    labels = [part.labels[:n] for part, n in parts]
    np.savez_compressed(find_file(FOLDER) / DIGITS, images=np.concatenate(images), labels=np.concatenate(labels))
    short: dict[str, tuple[str, set[str], set[str]]] = {}
    for english, french in ((one.lower(), other.lower()) for one, other in split_pairs(read_pairs(data)).train):
        words = english_words(english), french_words(french)
        if 3 < len(words[0]) <= LONGEST and len(words[1]) <= LONGEST + 2:
            short[english] = french, set(words[0]), set(words[1])
    counts = [Counter(word for pair in short.values() for word in pair[side]) for side in (1, 2)]
    common = [{word for word, _ in one.most_common(N_WORDS)} for one in counts]
    good = [f"{english}\t{one[0]}\n" for english, one in short.items() if one[1] <= common[0] and one[2] <= common[1]]
    chosen = np.random.default_rng(2017).permutation(len(good))[: N_PAIRS + N_HELD_OUT]
    lines = "".join(good[place] for place in chosen).encode()
    (find_file(FOLDER) / PAIRS).write_bytes(gzip.compress(lines, 9, mtime=0))


if __name__ == "__main__":
    try:
        _make(*sys.argv[1:2] or (None,))
    except DataError as error:
        sys.exit(str(error))
