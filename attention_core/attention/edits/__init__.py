"""Edits: small values, each one way to change attention, that every way of computing it applies alike.

A new one is a class in a file here, named below; links, pages, models and shown code then know it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from attention_core.attention.edits.block_edge import BlockEdge
from attention_core.attention.edits.block_keys import BlockKeys
from attention_core.attention.edits.drop_head import DropHead, dropped
from attention_core.attention.edits.edit import EDITS, Edit, EditError, RunHead, edit_from_plain
from attention_core.attention.edits.no_scale import NoScale
from attention_core.attention.edits.output_from import OutputFrom
from attention_core.attention.edits.pattern_from import PatternFrom
from attention_core.attention.edits.permuted import CAUSAL, Permuted
from attention_core.attention.edits.set_score import SetScore
from attention_core.attention.edits.set_weights import SetWeights
from attention_core.attention.edits.temperature import Temperature
from attention_core.attention.edits.uniform import Uniform
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
    """Return edits for those n queries alone that come from the first on, n_times over, of a causal attention or not.

    Raises:
        EditError: an edit that causal attention cannot have.
    """
    if is_causal and any(isinstance(edit, Permuted) for edit in edits):
        raise EditError(CAUSAL)
    return tuple(part for edit in edits for part in edit.for_queries(first, n, n_times))


def described(edits: Edits, queries: Sequence[str] = (), keys: Sequence[str] = ()) -> list[str]:
    """Return what each edit does in words, with what queries and keys are called."""
    return [edit.describe(queries, keys) for edit in edits]


def edits_from_plain(plain: Any) -> Edits:
    """Return the edits whose to_plain() values a link holds.

    Raises:
        EditError: anything else, or more than a link may hold, with the reason.
    """
    if not isinstance(plain, list | tuple) or len(plain) > MOST.most:
        raise EditError(f"a link holds a list of {MOST} edits at most")
    return tuple(edit_from_plain(one) for one in plain)


def nothing_to_edit(edits: Edits) -> None:
    """Refuse edits of a network without attention.

    Raises:
        EditError: there are any.
    """
    if edits:
        raise EditError("this network has no attention that could be changed")


def with_runs(edits: Edits, find: Callable[[RunHead], Any]) -> Edits:
    """Return edits with the numbers that they take from other runs.

    Args:
        edits: of one attention.
        find: the AttentionTrace of a RunHead's attention; called once for each edit that needs one.
    """
    return tuple(_with_run(edit, find) for edit in edits)


def _with_run(edit: Edit, find: Callable[[RunHead], Any]) -> Edit:
    if isinstance(edit, PatternFrom):
        return replace(edit, pattern=find(edit.run).weights(edit.run.head))
    return replace(edit, output=find(edit.run).context(edit.run.head)) if isinstance(edit, OutputFrom) else edit
