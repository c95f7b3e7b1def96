"""Edits: small values, each one way to change attention, that every way of computing it applies alike.

A new one is a class in one of the files here, named below; links, pages, models and shown code then know it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from attention_core.attention.edits.edit import EDITS, Edit, EditError, RunHead, edit_from_plain
from attention_core.attention.edits.left_out import BlockEdge, BlockKeys, DropHead, NoScale, dropped
from attention_core.attention.edits.replaced import OutputFrom, PatternFrom, SetWeights
from attention_core.attention.edits.rescored import CAUSAL, Permuted, SetScore, Temperature, Uniform
from attention_core.bounds import EDITS as MOST

__all__ = [
    "EDITS",
    "UNIFORM",
    "BlockEdge",
    "BlockKeys",
    "DropHead",
    "Edit",
    "EditError",
    "Edits",
    "NoScale",
    "OutputFrom",
    "PatternFrom",
    "Permuted",
    "RunHead",
    "SetScore",
    "SetWeights",
    "Temperature",
    "Uniform",
    "blocked_keys",
    "described",
    "dropped",
    "edits_from_plain",
    "for_queries",
    "nothing_to_edit",
    "with_runs",
]
Edits = Sequence[Edit]
UNIFORM: Edits = (Uniform(),)
"""Every query attends to all keys alike: what is left when attention may not choose."""


def blocked_keys(edits: Edits) -> set[int]:
    """Return the keys that edits hide from every query of some head."""
    return {key for edit in edits for key in edit.blocked()}


def for_queries(edits: Edits, first: int, n: int, n_times: int = 1, *, is_causal: bool = False) -> Edits:
    """Return edits for those n queries alone that come from the first on, n_times over.

    An EditError refuses what a causal attention cannot have.
    """
    if is_causal and any(isinstance(edit, Permuted) for edit in edits):
        raise EditError(CAUSAL)
    return tuple(part for edit in edits for part in edit.for_queries(first, n, n_times))


def described(edits: Edits, queries: Sequence[str] = (), keys: Sequence[str] = ()) -> list[str]:
    return [edit.describe(queries, keys) for edit in edits]


def edits_from_plain(plain: Any) -> Edits:
    """Return the edits whose to_plain() values a link holds; an EditError says what else it holds, or too much of."""
    if not isinstance(plain, list | tuple) or len(plain) > MOST.most:
        raise EditError(f"a link holds a list of {MOST} edits at most")
    return tuple(edit_from_plain(one) for one in plain)


def nothing_to_edit(edits: Edits) -> None:
    """Refuse edits of a network without attention, with an EditError."""
    if edits:
        raise EditError("this network has no attention that could be changed")


def with_runs(edits: Edits, find: Callable[[RunHead], Any]) -> Edits:
    """Return edits with what they take from other runs: find gives the trace of a RunHead's attention."""
    return tuple(_with_run(edit, find) for edit in edits)


def _with_run(edit: Edit, find: Callable[[RunHead], Any]) -> Edit:
    if isinstance(edit, PatternFrom):
        return replace(edit, pattern=find(edit.run).weights(edit.run.head))
    return replace(edit, output=find(edit.run).context(edit.run.head)) if isinstance(edit, OutputFrom) else edit
