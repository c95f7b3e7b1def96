"""Which adjectives, "never" and words of time do translations keep? python -m benchmarks.kept_words [NAME ...].

Held-out sentences (development and test) are translated. A word counts where a person's translation has it; it is kept
where the model's translation has one of its French words, which are counted from the training pairs.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from attention_core.data.pieces import (
    english_words,
    french_words,
    pair_words,
    read_pairs,
    split_pairs,
    strip_space_mark,
)
from attention_core.evaluate.translation import group_references, translate_all
from attention_core.models import load
from benchmarks.report import publish

NEVER = frozenset(["never"])
UNITS = ("minute", "hour", "day", "week", "month", "year")
TIME = frozenset(
    ["ago", "always", "evening", "morning", "night", "often", "sometimes", "soon", "today", "tomorrow", "tonight"]
).union(["yesterday"], UNITS, (f"{unit}s" for unit in UNITS))
DETERMINERS = frozenset(["a", "an", "the", "my", "your", "his", "our", "their"])
BE = frozenset(["am", "are", "be", "been", "is", "looks", "was", "were", "'m", "'re", "'s"])
MARKS = frozenset(".!?")
LEAST = 3  # times that a word must be met in either place of an adjective
LIKELY = 0.04  # probability from which on a French word counts as one of an English word's
ROUNDS = 8
MODELS = ("additive", "none")


def adjectives(sentences: Iterable[Sequence[str]]) -> frozenset[str]:
    """Return the words that are met both after a form of "be" ("it is red.") and before a noun ("a red car").

    Sentences are words in lower case without marks of spaces. A word that ends a sentence after "the" more often than
    after "is" is a noun.
    """
    predicates, attributes, nouns = Counter[str](), Counter[str](), Counter[str]()
    for words in sentences:
        for before, word, after in zip(words, words[1:], words[2:], strict=False):
            if word.isalpha():
                predicates[word] += before in BE and after in MARKS
                attributes[word] += before in DETERMINERS and after.isalpha()
                nouns[word] += before in DETERMINERS and after in MARKS
    return frozenset(word for word, n in predicates.items() if min(n, attributes[word]) >= LEAST and n > nouns[word])


def lexicon(pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> dict[str, set[str]]:
    """Return the likely French words of each English word, all in lower case.

    Source: Brown et al. 1993, model 1, by expectation-maximisation.
    """
    english, french = defaultdict[str, int](lambda: len(english)), defaultdict[str, int](lambda: len(french))
    links = []  # (number of the French word in its pair, English word, French word)
    place = 0
    for source, target in pairs:
        sources = np.array([english[word] for word in {"", *source}])
        for word in set(target):
            links.append(np.stack(np.broadcast_arrays(place, sources, french[word])))
            place += 1
    number, first, second = np.concatenate(links, 1)
    keys, which = np.unique(first * len(french) + second, return_inverse=True)
    chance = np.ones(len(keys))
    for _ in range(ROUNDS):
        share = chance[which] / np.bincount(number, chance[which])[number]
        counted = np.bincount(which, share)
        chance = counted / np.bincount(keys // len(french), counted)[keys // len(french)]
    names, words = list(english), list(french)
    likely = defaultdict[str, set[str]](set)
    of_french = counted / np.bincount(keys % len(french), counted)[keys % len(french)]
    for key in keys[(chance >= LIKELY) & (of_french >= LIKELY)].tolist():
        likely[names[key // len(french)]].add(words[key % len(french)])
    return likely


def plain(words: Iterable[str]) -> list[str]:
    return [strip_space_mark(word).lower() for word in words]


def kept(
    watched: Iterable[str], grouped: dict[str, list[str]], translated: Sequence[str], likely: dict[str, set[str]]
) -> tuple[int, int]:
    """Return how many of the watched words in English sentences their translations keep, and of how many."""
    n_kept = n = 0
    for (english, references), translation in zip(grouped.items(), translated, strict=True):
        theirs, ours = (
            {word for text in texts for word in plain(french_words(text))} for texts in (references, [translation])
        )
        for word in set(plain(english_words(english))).intersection(watched):
            if likely[word] & theirs:
                n += 1
                n_kept += bool(likely[word] & ours)
    return n_kept, n


def main() -> None:
    names = sys.argv[1:] or [f"translator-{name}" for name in MODELS]
    split = split_pairs(read_pairs())
    train = [(plain(source), plain(target)) for source, target in pair_words(split.train)]
    likely = lexicon(train)
    groups = {"adjective": adjectives(source for source, _ in train), "never": NEVER, "time": TIME}
    grouped = group_references([*split.development, *split.test])
    figures = {}
    for name in names:
        translated = translate_all(load(name, "cpu"), list(grouped))
        figures[name] = {group: kept(words, grouped, translated, likely) for group, words in groups.items()}
    rows = [["model", *groups]]
    rows += [[name, *(f"{own[0]} of {own[1]}" for own in found.values())] for name, found in figures.items()]
    publish("kept_words", rows, {"sentences": len(grouped), "by_model": figures})


if __name__ == "__main__":
    main()
