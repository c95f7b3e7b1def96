"""What a word's state knows of the words after it: nothing where it is read forwards only, something both ways."""

from typing import NamedTuple

import torch
from torch import Tensor

from attention_core.models.translator import Translator
from attention_core.topics.memory.influence import read_both_ways
from attention_core.topics.translate.translation import SourceSentence


class StateDifferences(NamedTuple):
    """How far the states of the words with which two sentences begin lie apart, as a share of their length."""

    words: list[str]
    forwards: Tensor  # (n_words,), of the states that were read forwards
    both_ways: Tensor  # (n_words,), of those and the ones that were read backwards, end to end


def state_differences(model: Translator, first: SourceSentence, second: SourceSentence) -> StateDifferences:
    """Read two sentences with a translator's encoder, and compare the states of the words that they begin with."""
    pairs = zip(first.words, second.words, strict=False)
    n = next((place for place, (one, other) in enumerate(pairs) if one.lower() != other.lower()), None)
    words = first.words[: min(len(first.words), len(second.words)) if n is None else n]
    of_first, of_second = (_states(model, source, len(words)) for source in (first, second))
    apart = [(other - one).norm(dim=1) / one.norm(dim=1) for one, other in zip(of_first, of_second, strict=True)]
    return StateDifferences(words, *(each.cpu() for each in apart))


def _states(model: Translator, source: SourceSentence, n_words: int) -> tuple[Tensor, Tensor]:
    """Return the states after the words' last pieces read forwards, and with those at their first, read backwards."""
    readings = read_both_ways(model, source.ids)
    last = {word: piece for piece, word in enumerate(source.word_of)}
    forward = readings["forward"].states[[last[word] for word in range(n_words)]]
    backward = readings["backward"].states[[source.word_of.index(word) for word in range(n_words)]]
    return forward, torch.cat((forward, backward), 1)
