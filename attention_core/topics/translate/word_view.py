"""A translation as people read it: which word looks where, and how likely the model found each word."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
from attention_core.data.pieces import START
from attention_core.device import device_of
from attention_core.explain.alignment import merge_to_words
from attention_core.models.translator import CanTranslate
from attention_core.topics.translate.translation import SourceSentence, Translation, read_source

NEXT_LABEL = "?"
"""Stands for the word that an unfinished sentence would go on with."""


@dataclass(frozen=True, eq=False)
class WordView:
    """Weights and probabilities of one translation, by word or by piece."""

    target: list[str]  # labels of the rows: what is said, "end" or "?" last
    source: list[str]  # labels of the source, "end" last, in the same unit
    keys: list[str]  # labels of the columns: `source`, or the single vector of a translator without attention
    weights: Tensor  # (n_rows, n_columns), each row sums to 1
    probabilities: list[float]  # of each row's word, given all before it; NaN for "?"
    first_piece: list[int]  # piece at which each row begins, from 0
    pieces_of: list[list[str]]  # texts of each row's pieces

    @property
    def is_single(self) -> bool:
        """Whether the decoder has one vector for the whole sentence, and nothing to choose from."""
        return len(self.keys) == 1 and len(self.source) > 1

    def row_of(self, piece: int) -> int:
        """Return the row that a piece belongs to; the last one for a piece beyond the end."""
        return max((row for row, first in enumerate(self.first_piece) if first <= piece), default=0)


def word_view(
    trace: AttentionTrace,
    source: SourceSentence,
    made: Translation,
    probabilities: Sequence[float],
    *,
    by_piece: bool = False,
    head: int | None = None,
) -> WordView:
    """Return what a trace says about words, or about the pieces that they are cut into.

    It is that of a recurrent translator, or of one cross-attention layer, saying `made`; its heads are averaged unless
    one is named. Probabilities are those of each piece, see piece_probabilities.
    """
    weights = mean_over_heads(trace) if head is None else trace.weights(head)
    asked = trace.n_queries - len(made.ids)
    labels = [*made.labels, *[NEXT_LABEL] * asked]
    known = [*probabilities, *[math.nan] * asked]
    alone = trace.n_keys == 1 and len(source.labels) > 1
    if by_piece:
        return WordView(
            target=labels,
            source=source.labels,
            keys=list(trace.story.key_axis.labels) if alone else source.labels,
            weights=weights,
            probabilities=known,
            first_piece=list(range(len(labels))),
            pieces_of=[[label] for label in labels],
        )
    word_of = [*made.word_of, *[len(made.words)] * asked]
    numbers = {word: place for place, word in enumerate(dict.fromkeys(word_of))}  # words without a piece have no row
    rows = [numbers[word] for word in word_of]
    n_rows = rows[-1] + 1
    members: list[list[int]] = [[] for _ in range(n_rows)]
    for piece, row in enumerate(rows):
        members[row].append(piece)
    names = [*made.words, labels[-1]]
    return WordView(
        target=[names[word_of[pieces[0]]] for pieces in members],
        source=source.word_labels,
        keys=list(trace.story.key_axis.labels) if alone else source.word_labels,
        weights=merge_to_words(weights, rows, [0] if alone else source.word_of),
        probabilities=[math.prod(known[piece] for piece in pieces) for pieces in members],
        first_piece=[pieces[0] for pieces in members],
        pieces_of=[[labels[piece] for piece in pieces] for pieces in members],
    )


def mean_over_heads(trace: AttentionTrace) -> Tensor:
    """Return the weights (n_queries, n_keys), averaged over the heads."""
    return torch.stack([trace.weights(head) for head in range(trace.n_heads)]).mean(0)


@torch.inference_mode()
def piece_probabilities(model: CanTranslate, source: SourceSentence, ids: Sequence[int]) -> list[float]:
    """Return how likely a model finds each of some French pieces, forced or not, given the pieces before it."""
    if not ids:
        return []
    device = device_of(model)
    fed, wanted = (torch.tensor(pieces, device=device) for pieces in ([START, *ids[:-1]], ids))
    logits, _ = model.step(model.begin(source.ids[None].to(device)), fed[None])
    return logits[0].softmax(-1).gather(1, wanted[:, None])[:, 0].tolist()


def told_by_source(model: CanTranslate, source: SourceSentence, ids: Sequence[int]) -> float:
    """Return how much likelier a piece of some French is after this English than after none, in nats on average."""
    if not ids:
        return 0.0
    after, without = (
        sentence_probability(piece_probabilities(model, given, ids), len(ids))[1]
        for given in (source, read_source("."))
    )
    return math.log(max(after, 1e-30) / max(without, 1e-30))


def sentence_probability(probabilities: Sequence[float], n_words: int) -> tuple[float, float]:
    """Return the probability of a whole sentence, and per word: its n-th root (the geometric mean); the end counts."""
    if not probabilities:
        return 1.0, 1.0
    if min(probabilities) <= 0:
        return 0.0, 0.0
    total = sum(map(math.log, probabilities))
    return math.exp(total), math.exp(total / max(n_words, 1))
