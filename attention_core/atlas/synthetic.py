"""A long made-up text, and queries and keys for it by a formula: a head that looks for what followed last time.

No model is asked. The text has chapters with words of their own, and one passage that returns later, so that there is
something to find.
"""

import math
from functools import lru_cache

import numpy as np
import torch

from attention_core.attention.scores import ScaledDot
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Story

CHAPTERS = 8
COMMON, PER_CHAPTER = 1200, 400  # words that all chapters share, words that each has for itself
N_WORDS = COMMON + CHAPTERS * PER_CHAPTER
WIDTH = 64
LAGS = (1.0, 0.8, 0.6)  # how much the present word, the one before and the one before that count


def passage(n: int) -> tuple[int, int, int]:
    """Return where the passage that returns stands first, where it returns, and its length, for a text of n words."""
    return n // 8, 5 * n // 8, max(n // 24, 1)


@lru_cache(maxsize=2)
def _word_ids(n: int) -> np.ndarray:
    chance = np.random.default_rng(17)
    common = np.minimum(chance.zipf(1.35, n) - 1, COMMON - 1)
    of_chapter = np.minimum(chance.zipf(1.2, n) - 1, PER_CHAPTER - 1)
    of_chapter += COMMON + np.arange(n) * CHAPTERS // n * PER_CHAPTER
    text = np.where(chance.random(n) < 0.55, common, of_chapter)
    first, again, length = passage(n)
    text[again : again + length] = text[first : first + length]
    return text


@lru_cache(maxsize=2)
def labels(n: int) -> tuple[str, ...]:
    """Return the made-up text of n words: each word two or three syllables."""
    syllables = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
    order = np.random.default_rng(5).permutation(len(syllables) ** 2)[:N_WORDS]
    names = [syllables[pair // len(syllables)] + syllables[pair % len(syllables)] for pair in order]
    return tuple(names[word_id] for word_id in _word_ids(n))


def synthetic_trace(n: int) -> AttentionTrace:
    """Return the trace of the head over a text of n words, which is causal.

    A key tells the three words before it, a query the last three up to it; the first key is where to rest.
    """
    text, chance = torch.from_numpy(_word_ids(n)), torch.Generator().manual_seed(3)
    query, key = torch.zeros(2, n, WIDTH)
    for lag, share in enumerate(LAGS):
        directions = torch.nn.functional.normalize(torch.randn(N_WORDS, WIDTH - 1, generator=chance), dim=1)
        codes = directions * share * math.sqrt(8.5)
        query[lag:, 1:] += codes[text[: n - lag]]
        key[lag + 1 :, 1:] += codes[text[: n - lag - 1]]
    query[:, 0], key[0, 0] = 1, 11
    axis = Axis("words of a made-up text", labels(n))
    story = Story(mechanism="made up: what followed last time", query_axis=axis, key_axis=axis, name="echo")
    return AttentionTrace(
        query=query[None], key=key[None], value=key[None], score=ScaledDot(1.0), is_causal=True, story=story
    )
