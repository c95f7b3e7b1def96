"""Measured in training and after it: alignments being learned, BLEU by length, and with something left out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attention_core.data.pieces import load_vocabulary, pair_words, strip_space_mark
from attention_core.data.sentence_presets import LEARNED
from attention_core.explain.alignment import merge_to_words
from attention_core.files import find_file, read_figures
from attention_core.inference.translation import END_LABEL
from attention_core.log import log
from attention_core.weights import WeightsError, read_card


class ByLength(NamedTuple):
    """BLEU by length."""

    groups: list[str]  # lengths of the English sentence in words, such as "6-8", shortest first
    scores: dict[str, list[float | None]]  # name of a model -> one BLEU per group, None where the card has none


def bleu_by_length(names: Sequence[str], folder: Path | None = None) -> ByLength:
    """Return the BLEU by length of model cards, the committed ones without a folder; others are left out.

    A card may keep what its model reached in as many passes as the others: that is compared.
    """
    figures_by_name = {name: figures for name in names if (figures := _figures(name, folder))}
    groups = sorted(
        {group for figures in figures_by_name.values() for group in figures["bleu_by_length"]}, key=_first_number
    )
    return ByLength(
        groups=groups,
        scores={
            name: [figures["bleu_by_length"].get(group) for group in groups]
            for name, figures in figures_by_name.items()
        },
    )


def group_of(groups: Sequence[str], n_words: int) -> str:
    """Return the group of lengths, of groups in order, that a sentence of so many words belongs to."""
    return next((group for group in reversed(groups) if _first_number(group) <= n_words), groups[0])


def _figures(name: str, folder: Path | None) -> dict[str, Any] | None:
    try:
        card = read_card(name, folder)
    except WeightsError:
        log.warning("%s is left out", name, exc_info=True)
        return None
    figures = card.get("after_five_epochs", card).get("test")
    return figures if isinstance(figures, dict) and "bleu_by_length" in figures else None


def _first_number(group: str) -> int:
    digits = "".join(character if character.isdigit() else " " for character in group).split()
    return int(digits[0]) if digits else 0


COMMITTED = find_file("benchmarks/results/redundancy.json")


def committed_costs() -> dict[str, Any]:
    """Return what translators are worth with something left out; {} if the figures' file is missing.

    "rows": each "model", "additive" or "transformer", what it is "without", "" = nothing, its "bleu" over all sentences
    and "bleu_long" over those of twelve words and more; "n": sentences.
    """
    return read_figures(COMMITTED)


@dataclass(frozen=True, eq=False)
class TrainingAlignment:
    """The alignment of a sentence pair at one moment of a training."""

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
    """
    numbers = sorted({int(name.split(".")[0]) for name in snapshots})
    learned = []
    for index, (english, french) in enumerate(pair_words(list(LEARNED))):
        source_of, target_of = ([*load_vocabulary().cut(words).word_of, len(words)] for words in (english, french))
        moments = []
        for number in numbers:
            weights = merge_to_words(snapshots[f"{number}.weights.{index}"].float(), target_of, source_of)
            moments.append(TrainingAlignment(int(snapshots[f"{number}.step"]), weights, sharpness(weights)))
        words = [[*(strip_space_mark(word) for word in side), END_LABEL] for side in (english, french)]
        learned.append(Learning(words[0], words[1], tuple(moments)))
    return learned


def sharpness(weights: Tensor) -> float:
    """Return 1 - mean entropy / log n_keys: 0 where all weights are 1/n, 1 where each row has a single one."""
    if weights.shape[1] < 2:
        return 1.0
    entropy = -torch.xlogy(weights, weights).sum(1)
    return float(1 - entropy.mean() / torch.tensor(float(weights.shape[1])).log())
