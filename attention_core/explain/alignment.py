"""Alignments: weights between pieces merged to words, links between words, and how wrong they are."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

Link = tuple[int, int]  # (source word, target word), positions from 0


def merge_to_words(weights: Tensor, target_word_of: Sequence[int], source_word_of: Sequence[int]) -> Tensor:
    """Merge weights between pieces into weights between words, (n_target_words, n_source_words).

    Weights on the pieces of one source word are added; those of the pieces of one target word are averaged. Rows that
    summed to 1 still do.
    """
    if weights.shape != (len(target_word_of), len(source_word_of)):
        raise ValueError(
            f"weights {tuple(weights.shape)} need {len(target_word_of)} target and {len(source_word_of)} source pieces"
        )
    rows, cols = (torch.as_tensor(groups, device=weights.device) for groups in (target_word_of, source_word_of))
    by_source_word = weights.new_zeros(len(rows), int(cols.max()) + 1).index_add_(1, cols, weights)
    summed = weights.new_zeros(int(rows.max()) + 1, by_source_word.shape[1]).index_add_(0, rows, by_source_word)
    return summed / torch.bincount(rows, minlength=summed.shape[0])[:, None]


def strongest_links(weights: Tensor) -> set[Link]:
    """Return, for every target word, the link to the source word with the largest weight.

    Weights are (n_target_words, n_source_words), without the end of either sentence.
    """
    return {(source, target) for target, source in enumerate(weights.argmax(1).tolist())}


class AlignedPair(NamedTuple):
    """A sentence pair that people aligned."""

    source: list[str]  # words
    target: list[str]  # words
    sure: set[Link]  # links that people are sure of
    possible: set[Link]  # links that people accept; sure ones included


class AlignmentError(NamedTuple):
    rate: float  # alignment error rate, 0 = all sure links and only possible ones
    precision: float  # share of the links that are possible
    recall: float  # share of the sure links that were found


def alignment_error(links: Iterable[set[Link]], pairs: Sequence[AlignedPair]) -> AlignmentError:
    """Return the alignment error rate over a corpus, 1 - (|A and S| + |A and P|) / (|A| + |S|).

    A are the links, S the sure and P the possible ones; a ValueError where there is no link, or no sure link.
    Source: Och and Ney 2003, eq. 20 to 22.
    """
    n_links = n_sure = in_sure = in_possible = 0
    for predicted, pair in zip(links, pairs, strict=True):
        n_links, n_sure = n_links + len(predicted), n_sure + len(pair.sure)
        in_sure, in_possible = in_sure + len(predicted & pair.sure), in_possible + len(predicted & pair.possible)
    if not n_links or not n_sure:
        raise ValueError(f"links and sure links are needed, got {n_links} and {n_sure}")
    return AlignmentError(1 - (in_sure + in_possible) / (n_links + n_sure), in_possible / n_links, in_sure / n_sure)
