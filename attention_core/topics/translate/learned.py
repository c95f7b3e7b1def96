"""Attention while it was learned: the alignments that were kept at moments of a translator's training."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from attention_core.data.pieces import bare, pieces, words_of
from attention_core.data.sentence_presets import LEARNED
from attention_core.explain.alignment import merge_to_words
from attention_core.topics.translate.translation import END_LABEL


@dataclass(frozen=True, eq=False)
class TrainingAlignment:
    step: int  # parameter updates so far
    weights: Tensor  # (n_target_words, n_source_words), the ends included; each row sums to 1
    sharpness: float  # 1 = every word looks at one place, 0 = everywhere alike (1 - mean entropy / log n)


@dataclass(frozen=True, eq=False)
class Learning:
    """A sentence pair and its alignment, from the first moment to the last."""

    source: list[str]  # words and "end"
    target: list[str]  # words and "end"
    moments: tuple[TrainingAlignment, ...]  # in order


def learning_of(snapshots: Mapping[str, Tensor]) -> list[Learning]:
    """Return how the alignments of the sentences of LEARNED came to be.

    The training command keeps tensors "NUMBER.weights.SENTENCE" (n_target_pieces, n_source_pieces) and "NUMBER.step".

    Raises:
        ValueError: the weights of another vocabulary, or none at all.
    """
    numbers = sorted({int(name.split(".")[0]) for name in snapshots})
    if not numbers:
        raise ValueError("snapshots must have at least one tensor, got none")
    learned = []
    for place, (english, french) in enumerate(words_of(list(LEARNED))):
        source_of, target_of = ([*pieces().cut(words).word_of, len(words)] for words in (english, french))
        moments = []
        for number in numbers:
            weights = merge_to_words(snapshots[f"{number}.weights.{place}"].float(), target_of, source_of)
            moments.append(TrainingAlignment(int(snapshots[f"{number}.step"]), weights, sharpness(weights)))
        words = [[*(bare(word) for word in side), END_LABEL] for side in (english, french)]
        learned.append(Learning(words[0], words[1], tuple(moments)))
    return learned


def sharpness(weights: Tensor) -> float:
    """Return 1 - mean entropy / log n_keys: 0 where all weights are 1/n, 1 where each row has a single one."""
    if weights.shape[1] < 2:
        return 1.0
    entropy = -torch.xlogy(weights, weights).sum(1)
    return float(1 - entropy.mean() / torch.tensor(float(weights.shape[1])).log())
