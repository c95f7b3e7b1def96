"""A head that is switched off."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import torch
from torch import Tensor

from attention_core.attention.edits.edit import Edit, register

Place = TypeVar("Place")


@register
@dataclass(frozen=True)
class DropHead(Edit):
    """A head hands over nothing: its context is 0.

    Attributes:
        head: from 0.
        item: of the batch, in which alone it is dropped, and which no trace of a model shows; None = all.
    """

    name = "drop head"
    place = "context"

    head: int
    item: int | None = None

    def context(self, head: int, context: Tensor) -> Tensor:
        return torch.zeros_like(context) if self.item is None and self.concerns(head) else context

    def for_item(self, item: int) -> Edit | None:
        return replace(self, item=None) if self.item in (None, item) else None

    def describe(self, queries: Sequence[str] = (), keys: Sequence[str] = ()) -> str:
        return f"head {self.head + 1} hands over nothing"


def dropped(heads: Iterable[tuple[Place, int]]) -> dict[Place, tuple[Edit, ...]]:
    """Return the edits that switch heads off, by attention, of (attention, head) pairs."""
    edits: dict[Place, tuple[Edit, ...]] = {}
    for place, head in sorted(set(heads)):  # type: ignore[type-var]
        edits[place] = (*edits.get(place, ()), DropHead(head))
    return edits
