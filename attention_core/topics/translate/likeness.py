"""Are weights likeness of meaning? Cosines of the decoder's state with every key, and of word vectors, by word."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from attention_core.attention.trace import AttentionTrace
from attention_core.models.translator import TiedTranslator
from attention_core.topics.translate.translation import SourceSentence, Translation
from attention_core.topics.translate.word_view import WordView


class Likeness(NamedTuple):
    """How alike the words of a translation, the rows of its view, are to the English words, by two measures.

    A word of several pieces counts with the mean of their vectors; a row asks with the state at its first piece.
    """

    keys: Tensor  # (n_rows, n_words) cosine of the decoder's state with the keys of an English word
    words: Tensor  # (n_rows, n_words) cosine of the two word vectors; NaN in the row of what is not said yet


def likeness(
    model: TiedTranslator, trace: AttentionTrace, source: SourceSentence, made: Translation, view: WordView
) -> Likeness:
    """Return how alike state and key, and the two word vectors, are for every row and English word of a view by words.

    The heads of a layer's cross-attention are laid end to end.
    """
    states, keys = (vectors.transpose(0, 1).flatten(1) for vectors in (trace.query, trace.key))
    table = model.embedding.weight
    english = table[source.ids.to(table.device)]
    ends = [*view.first_piece[1:], len(made.ids)]
    french = torch.stack([
        table[made.ids[first:end]].mean(0) if first < end else table.new_full(table.shape[1:], torch.nan)
        for first, end in zip(view.first_piece, ends, strict=True)
    ])  # fmt: skip
    key_of = _means(keys, source.word_of) if len(keys) == len(source.word_of) else keys
    return Likeness(_cosines(states[view.first_piece], key_of), _cosines(french, _means(english, source.word_of)))


def n_agreeing(weights: Tensor, alike: Tensor) -> int:
    """Return in how many rows the English word with the largest weight is also the most alike one."""
    return int((weights.argmax(1) == alike.to(weights.device).argmax(1)).sum())


def _means(vectors: Tensor, word_of: Sequence[int]) -> Tensor:
    groups = torch.tensor(word_of, device=vectors.device)
    return torch.stack([vectors[groups == word].mean(0) for word in range(word_of[-1] + 1)])


def _cosines(rows: Tensor, columns: Tensor) -> Tensor:
    return cosine_similarity(rows[:, None], columns[None], dim=-1).cpu()
