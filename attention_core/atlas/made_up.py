"""A long made-up text, and queries and keys for it by a formula: what three kinds of heads look like, at any length.

No model is asked. The text has chapters with words of their own, and one passage that returns later, so that there is
something to find.
"""

import math
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from attention_core.attention.scores import ScaledDot
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Story

CHAPTERS, COMMON, OWN = 8, 1200, 400
"""Parts of the text, words that all of them share, words that each has for itself."""
WIDTH = 64
ECHO, NEAR, TOPIC = "echo", "near", "topic"
HEADS = {
    ECHO: "What followed last time",
    NEAR: "What stands nearby",
    TOPIC: "What is in the same chapter",
}
LAGS = (1.0, 0.8, 0.6)
"""How much the present word, the one before and the one before that count for the head of echoes."""


def passage(n: int) -> tuple[int, int, int]:
    """Return where the passage that returns stands first, where it returns, and its length, for a text of n words."""
    return n // 8, 5 * n // 8, max(n // 24, 1)


@lru_cache(maxsize=2)
def words(n: int) -> tuple[np.ndarray, np.ndarray]:
    chance = np.random.default_rng(17)
    chapters = np.arange(n) * CHAPTERS // n
    common = np.minimum(chance.zipf(1.35, n) - 1, COMMON - 1)
    own = COMMON + chapters * OWN + np.minimum(chance.zipf(1.2, n) - 1, OWN - 1)
    text = np.where(chance.random(n) < 0.55, common, own)
    first, again, length = passage(n)
    text[again : again + length] = text[first : first + length]
    return text, chapters


@lru_cache(maxsize=2)
def labels(n: int) -> tuple[str, ...]:
    """Return the made-up text of n words: each word two or three syllables."""
    consonants, vowels = "bdfgklmnprstvz", "aeiou"
    syllables = [consonant + vowel for consonant in consonants for vowel in vowels]
    order = np.random.default_rng(5).permutation(len(syllables) ** 2)[: COMMON + CHAPTERS * OWN]
    names = [syllables[pair // len(syllables)] + syllables[pair % len(syllables)] for pair in order]
    return tuple(names[word] for word in words(n)[0])


def made_up(head: str, n: int) -> AttentionTrace:
    """Return the trace of a head, a key of HEADS, over a text of n words, in which nobody looks ahead."""
    text, chapters = words(n)
    chance = torch.Generator().manual_seed(3)
    if head == NEAR:
        query, key = _near(n)
    elif head == TOPIC:
        query, key = _topic(torch.from_numpy(text), torch.from_numpy(chapters), chance)
    else:
        query, key = _echo(torch.from_numpy(text), chance)
    axis = Axis("words of a made-up text", labels(n))
    return AttentionTrace(
        query=query[None],
        key=key[None],
        value=key[None],
        score=ScaledDot(1.0),
        is_causal=True,
        story=Story(
            mechanism=f"made up: {HEADS[head][0].lower()}{HEADS[head][1:]}", query_axis=axis, key_axis=axis, name=head
        ),
    )


def _near(n: int) -> tuple[Tensor, Tensor]:
    """Waves of many lengths, which agree where the distance is small; the sum of the cosines of Su et al. 2021."""
    lengths = 10_000.0 ** (-torch.arange(WIDTH // 2) / (WIDTH // 2))
    angle = torch.arange(n, dtype=torch.float64)[:, None] * lengths
    waves = torch.cat((angle.cos(), angle.sin()), 1).float() * math.sqrt(14 / (WIDTH // 2))
    return waves, waves.clone()


def _echo(text: Tensor, chance: torch.Generator) -> tuple[Tensor, Tensor]:
    """A key tells the three words before it, a query the last three up to it; the first key is where to rest."""
    query = torch.zeros(len(text), WIDTH)
    key = torch.zeros(len(text), WIDTH)
    for lag, share in enumerate(LAGS):
        codes = _directions(COMMON + CHAPTERS * OWN, WIDTH - 1, chance) * share * math.sqrt(8.5)
        query[lag:, 1:] += codes[text[: len(text) - lag]]
        key[lag + 1 :, 1:] += codes[text[: len(text) - lag - 1]]
    query[:, 0], key[0, 0] = 1, 11
    return query, key


def _topic(text: Tensor, chapters: Tensor, chance: torch.Generator) -> tuple[Tensor, Tensor]:
    """The chapter's direction and a little of the word's own; between two chapters the topics drift into each other."""
    topics = _directions(CHAPTERS, WIDTH, chance) * math.sqrt(4.5)
    own = _directions(COMMON + CHAPTERS * OWN, WIDTH, chance) * math.sqrt(2.0)
    both = topics[chapters] + own[text]
    return both, both.clone()


def _directions(n: int, width: int, chance: torch.Generator) -> Tensor:
    return torch.nn.functional.normalize(torch.randn(n, width, generator=chance), dim=1)
