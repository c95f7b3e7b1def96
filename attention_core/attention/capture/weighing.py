"""The trace of weights that met values in a product, with queries and keys where the scores tell them."""

from dataclasses import dataclass

import torch
from torch import Tensor

from attention_core.attention.capture.checking import agrees
from attention_core.attention.capture.keeper import (
    NO_HEADS,
    Keeper,
    from_weights,
    item_note,
    split_barred,
    split_hidden,
    split_mask,
)
from attention_core.attention.capture.provenance import ElementwiseStep, ItemLayout, ScoreInputs, Softmax, met, scored
from attention_core.attention.trace import AttentionTrace

MECHANISM = "written-out attention"
SCORES_UNKNOWN = (
    "Its scores come from no plain product of queries and keys: these are its weights, with their logarithms."
)
CHANGED = "The model changed its weights after the softmax: these are the weights that met the values."
MIXED = (
    "The model mixed its weights after the softmax, such as those of talking heads: these are the weights before, and "
    "the model's own context is not their sum of the values."
)
BLIND = "Some queries may attend to no key: the model's softmax gave NaN there; their weights are shown as 0."
APART = "Items and heads were one dimension of the call, taken apart by the module's number of heads."


@dataclass(frozen=True, eq=False)
class Weighing:
    """A product of weights and values."""

    steps: list[ElementwiseStep]  # from the weights to the left factor, the last one first
    softmax: Softmax  # how the weights were made
    left: Tensor  # the factor of the weights, (n, rows, m), or the weights before they were mixed
    right: Tensor  # the factor of the values, (n, m, d)
    out: Tensor  # the product, (n, rows, d)
    is_mixed: bool = False  # whether the weights were mixed before they met the values
    is_parameter: bool = False  # whether the values are a parameter

    def found(self, item: int, n_heads: int, n_items: int) -> ItemLayout | None:
        """Return what is where in an item of the batch; None where this is no attention.

        The module says n_heads, 0 where it does not, and was given n_items, 0 where that is not known.
        """
        if self.softmax.scores is None and self.is_parameter:  # soft choices between rows that were learned
            return None
        leading = self.softmax.layout.shape[0] if len(self.softmax.layout.shape) in (2, 3) else 0
        if not n_heads and leading == n_items > 0:
            n_heads = 1
        return met(self.steps, self.softmax, self.left, self.right, self.out, item, n_heads)

    def trace(self, found: ItemLayout, keeper: Keeper) -> AttentionTrace:
        """Return the trace, checked against weights and product; a ValueError where no softmax gives the weights."""
        weights, value, context = found.weights.of(self.left), found.value.of(self.right), found.context.of(self.out)
        dropout = next((float(step.more) for step in self.steps if step.kind == "dropout"), 0.0)
        notes = self._notes(found, len(weights), dropout, keeper.item)
        plain = scored(self.softmax.scores, found.scores) if found.scores and not self.is_mixed else None
        if plain is not None:
            trace = _plain(plain, value, dropout, notes, keeper)
            if agrees(trace, weights, None if dropout else context, dropout):
                blind = bool(weights[..., :1].isnan().any())
                return trace.retold(note=f"{trace.story.note} {BLIND}".strip()) if blind else trace
        changed = any(step.kind == "changed" for step in self.steps)
        notes.append(MIXED if self.is_mixed else CHANGED if changed else SCORES_UNKNOWN)
        if dropout:
            notes.append("Those that were dropped are 0.")
            weights = weights * (1 - dropout)
        if not bool((weights >= 0).all()):
            raise ValueError("its weights are negative or not a number")
        return from_weights(weights, name="", note=" ".join(filter(None, notes)), mechanism=MECHANISM, value=value)

    def _notes(self, found: ItemLayout, n_heads: int, dropout: float, item: int) -> list[str]:
        notes = [item_note(item, found.n_items)]
        if found.apart:
            notes.append(APART)
        elif len(self.softmax.layout.shape) <= 3 and n_heads > 1:
            notes.append(NO_HEADS)
        if dropout:
            notes.append(f"Dropout of {dropout:g} was on; these are the weights before it.")
        if self.left.dtype in (torch.float16, torch.bfloat16):
            notes.append(f"The model computed in {str(self.left.dtype).removeprefix('torch.')}.")
        return notes


def _plain(plain: ScoreInputs, value: Tensor, dropout: float, notes: list[str], keeper: Keeper) -> AttentionTrace:
    masks = []
    if plain.bias is not None:
        masks.append(keeper.shared(plain.bias, split_mask))
    if plain.hidden is not None:
        masks.append(keeper.shared(plain.hidden, split_barred if plain.barred else split_hidden))
    return keeper.keep(
        plain.query,
        plain.key,
        value,
        masks=masks,
        scale=plain.scale,
        softcap=plain.softcap,
        dropout=dropout,
        mechanism=MECHANISM,
        notes=notes,
    )
