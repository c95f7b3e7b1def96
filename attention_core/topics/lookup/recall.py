"""Recall among noisy keys: how often a dictionary and a soft look-up still find the right record."""

import random
import string
from collections.abc import Sequence
from typing import NamedTuple

import torch

from attention_core.topics.lookup.ngrams import embed

RECALL_LETTERS = 6000
"""Letters of all keys together that `recall_among_noise` is fit for while a person waits: about half a second."""


class Recall(NamedTuple):
    """How often the right record is found among noisy keys."""

    noise: float  # share of letters replaced
    exact: float  # share of queries that a dictionary finds
    soft: float  # share of queries whose largest weight is on the right record
    weight: float  # mean weight on the right record


def garble(text: str, share: float, source: random.Random) -> str:
    """Replace each letter or digit, with probability `share`, by another one."""
    letters = string.ascii_lowercase
    return "".join(
        source.choice([other for other in letters if other != letter.lower()])
        if letter.isalnum() and source.random() < share
        else letter
        for letter in text
    )


def fit_for_recall(keys: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """Return the first different keys that have RECALL_LETTERS together, at least one, and how often to draw noise."""
    kept: list[str] = []
    letters = 0
    for key in dict.fromkeys(keys):
        letters += len(key)
        if kept and letters > RECALL_LETTERS:
            break
        kept.append(key)
    return tuple(kept), 3 if letters < RECALL_LETTERS / 3 else 1


def recall_among_noise(
    keys: Sequence[str], temperature: float, levels: Sequence[float], *, n_repeats: int = 3
) -> list[Recall]:
    """Garble all keys, ask for each with its right spelling, and count how often its record is found.

    For every level, a share of letters to replace, noise is drawn a number of times.

    Raises:
        ValueError: no keys, or two that are equal: there would be no right record.
    """
    if not keys or len(set(keys)) < len(keys):
        raise ValueError(f"keys must be different and at least one, got {len(keys)} with {len(set(keys))} different")
    source = random.Random(0)
    queries, right = embed(keys), torch.arange(len(keys))
    results = []
    for level in levels:
        exact, soft, weight = [], [], []
        for _ in range(n_repeats):
            noisy = [garble(key, level, source) for key in keys]
            weights = (queries @ embed(noisy).T / temperature).softmax(-1)
            exact.append(sum(a == b for a, b in zip(keys, noisy, strict=True)) / len(keys))
            soft.append((weights.argmax(1) == right).double().mean().item())
            weight.append(weights.diagonal().mean().item())
        results.append(Recall(level, *(sum(part) / n_repeats for part in (exact, soft, weight))))
    return results
