"""A sentence and the same words in another order, as a transformer's encoder reads them."""

from dataclasses import replace

import torch
from torch import Tensor

from attention_core.attention.edits import Edit, QueryEdit
from attention_core.inference.translation import SourceSentence, Translation, WordView, explain_layers, word_view
from attention_core.models.transformer import EditedTranslator, EditsByAttention, last_cross


def word_order(n_words: int, arrangement: str, seed: int = 0) -> list[int]:
    """Return an order, "reversed" or "shuffled" (never as it was, if possible)."""
    if arrangement == "reversed":
        return list(range(n_words))[::-1]
    order = torch.randperm(n_words, generator=torch.Generator().manual_seed(seed)).tolist()
    if n_words > 1 and order == list(range(n_words)):
        order = [*order[1:], order[0]]
    return order


def reordered(source: SourceSentence, order: list[int]) -> tuple[SourceSentence, Tensor]:
    """Return the sentence with its words in another order, and the old position of each piece, int64 (n,).

    The order is one of the words that may move, see movable_words. Pieces of a word stay together.
    """
    full_order = [*order, *range(len(order), len(source.words) + 1)]
    positions = [position for word in full_order for position, owner in enumerate(source.word_of) if owner == word]
    new_number = {word: number for number, word in enumerate(full_order)}
    new = SourceSentence(
        words=[source.word_labels[word] for word in full_order[:-1]],
        ids=source.ids[positions],
        labels=[source.labels[position] for position in positions],
        word_of=[new_number[source.word_of[position]] for position in positions],
        n_dropped=source.n_dropped,
    )
    return new, torch.tensor(positions)


def reordered_edits(edits: EditsByAttention, positions: Tensor) -> EditsByAttention:
    """Return the edits of a sentence for the same words in another order: they follow the words.

    The positions are those that `reordered` returns.
    """
    new_position = positions.argsort().tolist()

    def moved(attention: str, edit: Edit) -> Edit:
        edit = edit if attention == "decoder" else edit.with_keys(new_position.__getitem__)[0]
        if attention != "encoder" or not isinstance(edit, QueryEdit) or edit.query is None:
            return edit
        return replace(edit, query=new_position[edit.query])  # type: ignore[call-arg]

    return {key: tuple(moved(key[0], edit) for edit in its) for key, its in edits.items()}


def movable_words(source: SourceSentence) -> int:
    """Return how many of the first words can be moved: all, but for a mark that ends the sentence."""
    n_words = len(source.words)
    return n_words - 1 if n_words > 1 and source.words[-1] in ".?!…" else n_words


def align(model: EditedTranslator, source: SourceSentence, translation: Translation) -> WordView:
    """Return what a transformer's last attention to the source looks at, by word, the mean of its heads."""
    network = model.network
    return word_view(
        explain_layers(network, source, translation, model.edits)[last_cross(network)], source, translation
    )
