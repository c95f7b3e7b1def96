"""What small models learn while somebody watches.

Digits of 14 x 14 pixels, sentences of a small grammar, and short pairs of sentences. Licences: lessons/README.md.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from attention_core.arrays import read_npz
from attention_core.data.mnist import DataError, Digits, read_text
from attention_core.data.pieces import SPECIAL, Pair, english_words, french_words
from attention_core.files import find_file, note_missing

FOLDER, DIGITS, PAIRS = "lessons", "digits.npz", "pairs.tsv.gz"
SIDE = 14
N_GRAMMAR, N_HELD_OUT = 3000, 500
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

    def choose(words: str) -> list[str]:
        choices = words.split(", ")
        return choices[generator.integers(len(choices))].split()

    gender, kind = generator.integers(2), generator.integers(3)
    determiner, noun = DETERMINERS[generator.integers(2)], choose(NOUNS[gender])
    phrase = [determiner[0], noun[0]], [determiner[1 + gender], noun[1]]
    if kind:
        adjective = choose(ADJECTIVES[kind - 1])
        phrase[0].insert(1, adjective[0])
        phrase[1].insert(kind, adjective[1 + gender])
    return phrase


def _sentence(generator: np.random.Generator) -> Pair:
    (subject, sujet), (object_, objet) = _phrase(generator), _phrase(generator)
    sees, see, voit = VERBS.split(", ")[generator.integers(6)].split()
    is_denied = generator.integers(4) == 0
    verbs = (("does", "not", see), ("ne", voit, "pas")) if is_denied else ((sees,), (voit,))
    return " ".join((*subject, *verbs[0], *object_)), " ".join((*sujet, *verbs[1], *objet))


@lru_cache(1)
def grammar() -> Corpus:
    """Return sentences of 38 English and 40 French words: adjectives stand before or after their noun, “not” is two."""
    generator, sentences = np.random.default_rng(2014), dict[Pair, None]()
    while len(sentences) < N_GRAMMAR + N_HELD_OUT:
        sentences[_sentence(generator)] = None
    return _corpus([*sentences])


@lru_cache(1)
def short_pairs() -> Corpus:
    """Return short sentences of tatoeba.org that come along; DataError where their file is missing."""
    with note_missing(PAIRS):
        text = read_text(find_file(FOLDER), Path(PAIRS), "{} is not there: fetch it, or Attention Explorer, again.")[1]
    return _corpus([tuple(line.split("\t")) for line in text.splitlines()])  # type: ignore[misc]


@lru_cache(1)
def small_digits() -> tuple[Digits, Digits]:
    """Return digits of 14 x 14 pixels to learn from, and others; DataError where their file is missing or damaged."""
    with note_missing(DIGITS):
        try:
            arrays = read_npz(find_file(FOLDER) / DIGITS, ("images", "labels"), fault=DataError)
        except DataError as error:
            raise DataError(f"{error} Fetch it, or Attention Explorer, again.") from None
    images, labels = arrays["images"], arrays["labels"]
    return Digits(images[N_HELD_OUT:], labels[N_HELD_OUT:]), Digits(images[:N_HELD_OUT], labels[:N_HELD_OUT])


def _corpus(pairs: Sequence[Pair]) -> Corpus:
    cut = [(english_words(english), french_words(french)) for english, french in pairs]
    words = dict.fromkeys(word for pair in cut for side in pair for word in side)
    return Corpus(cut[N_HELD_OUT:], cut[:N_HELD_OUT], (*SPECIAL, *words))
