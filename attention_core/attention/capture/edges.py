"""Sees attention over the edges of a graph: a softmax whose sums, and whose weighted values, are added by index.

Exponentials are added up by index, the sums are taken back to the edges, the exponentials divided by them, and the
values that these shares weigh are added up by index again. Values were taken by index, too: so each edge is known, and
the shares become a map of nodes by nodes. Where an index is not seen, the attention is noted as missed, under the name
of its module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attention_core.attention.capture.layout import Order
from attention_core.attention.capture.operations import EXPONENTIALS, PRODUCTS, Operand
from attention_core.attention.capture.recorder import Recorder
from attention_core.attention.capture.trace_builder import from_weights
from attention_core.attention.inside_torch import StorageMap
from attention_core.attention.trace import AttentionTrace

aten = torch.ops.aten
ADDS_BY_INDEX = {
    *(aten.scatter_add, aten.scatter_add_, aten.scatter_reduce, aten.scatter_reduce_, aten.index_add, aten.index_add_),
    *(aten.index_put, aten.index_put_, aten._index_put_impl_, aten.index_reduce, aten.segment_reduce),
}
TAKES_BY_INDEX = {aten.index, aten.index_select, aten.gather}
SUMS = {aten.sum}
DIVIDES = {aten.div, aten.div_}
MULTIPLIES = {aten.mul, aten.mul_}
EXPONENTIAL, PARTIAL_SUM, SUM, SHARE, WEIGHED = range(5)
"""What numbers are: exponentials, sums of some, sums by index, shares of these sums, values times their shares."""
MAX_CELLS = 1 << 25
"""Weights in a map, heads times nodes times nodes; of larger graphs the first queries are kept."""
EDGES = "Its softmax runs over the {:,} edges of a graph: a query sees the keys that have an edge to it."
CUT = "Of {:,} queries the first {:,} are kept."
DOUBLED = "Weights of edges between the same nodes are added up."


class _Weighed(NamedTuple):
    """Weights of edges, (n_edges, n_heads), and the values that they met, taken by index."""

    weights: Tensor
    values: Tensor  # (n_edges, n_heads, d)
    keys: Tensor  # of each edge
    n_keys: int


class _EdgeState(NamedTuple):
    stage: int
    modules: tuple[nn.Module, ...] = ()  # that ran when the shares were made
    weighed: _Weighed | None = None
    queries: Tensor | None = None  # of each edge, by which sums were added up
    n_queries: int = 0


class Edges:
    """What tensors are on the way to attention over edges, by the storages in which they are."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._states = StorageMap[_EdgeState]()
        self._taken = StorageMap[tuple[Tensor, int]]()  # by which index, and of how many, a tensor's rows were taken

    def see(self, func: Any, args: Sequence[Any], operands: Sequence[Operand], result: Tensor) -> None:
        self._see_index(getattr(func, "overloadpacket", None), args, operands, result)
        states = [self._states.find(operand.storage) for operand in operands]
        if not any(states) and func not in EXPONENTIALS:
            return
        if after := self._after(func, args, operands, states, result):
            self._states.drop_expired()
            self._states.put(result, after)

    def _see_index(self, operation: Any, args: Sequence[Any], operands: Sequence[Operand], result: Tensor) -> None:
        """Remember which rows of a tensor were taken, and what was made of these row by row."""
        if operation in TAKES_BY_INDEX and (index := _index_of_rows(args)) is not None and len(index) == len(result):
            self._taken.drop_expired()
            self._taken.put(result, (index, len(args[0])))
        elif self._taken and result.ndim:
            taken = [found for operand in operands if (found := self._taken.find(operand.storage))]
            if taken and len(result) == len(taken[0][0]) and all(index is taken[0][0] for index, _ in taken):
                self._taken.put(result, taken[0])

    def _after(
        self,
        func: Any,
        args: Sequence[Any],
        operands: Sequence[Operand],
        states: Sequence[_EdgeState | None],
        result: Tensor,
    ) -> _EdgeState | None:
        operation, modules = getattr(func, "overloadpacket", None), self._recorder.stack.modules
        latest = max(filter(None, states), default=_EdgeState(EXPONENTIAL), key=lambda state: state.stage)
        stages = [state.stage if state else None for state in states]
        if operation in ADDS_BY_INDEX or operation in SUMS:
            index = _index_of_rows(args) if operation in ADDS_BY_INDEX else None
            if latest.stage == WEIGHED:
                return self._record(latest._replace(queries=index, n_queries=len(result)))
            stage = SUM if operation in ADDS_BY_INDEX else max(PARTIAL_SUM, latest.stage)
            if latest.stage < SHARE:
                return latest._replace(stage=stage, queries=index, n_queries=len(result) if result.ndim else 0)
            return None
        if operation is aten.copy_ and latest.stage == PARTIAL_SUM and _is_partial_view(operands[0].tensor):
            return _EdgeState(SUM)  # one row after another, in a loop
        if operation in DIVIDES and stages[1:] == [SUM]:
            return _EdgeState(SHARE, modules) if stages[0] != SUM else self._record(_divided(states[0], modules))
        if func in EXPONENTIALS:  # of scores less the logarithms of such sums
            return _EdgeState(SHARE, modules) if latest.stage == SUM else _EdgeState(EXPONENTIAL)
        if (operation in MULTIPLIES or func in PRODUCTS) and None in stages:
            weighed = self._weighed(operands, stages.index(None)) if len(operands) == 2 else None
            if latest.stage == SHARE:
                return latest._replace(stage=WEIGHED, weighed=weighed)
            return latest._replace(weighed=weighed) if latest.stage == EXPONENTIAL else latest
        return latest

    def _weighed(self, operands: Sequence[Operand], number: int) -> _Weighed | None:
        """Return weights and values of edges, the latter in operand `number`; None where these do not fit."""
        values, weights = operands[number].tensor.detach(), operands[1 - number].tensor.detach()
        taken = self._taken.find(operands[number].storage)
        if taken is None or not weights.ndim or values.ndim < 2 or not len(weights) == len(values) == len(taken[0]):
            return None
        weights = weights[..., 0] if weights.ndim == values.ndim else weights
        values = values[:, None] if values.ndim == 2 else values
        weights = weights[:, None] if weights.ndim == 1 else weights
        fits = values.ndim == 3 and weights.shape in (values.shape[:2], (len(values), 1))
        return _Weighed(weights, values, *taken) if fits else None

    def _record(self, state: _EdgeState) -> _EdgeState | None:
        """Record the map of the edges, or note it where they are not all known; return None, as no state follows."""
        weighed, queries = state.weighed, state.queries
        if weighed is None or queries is None or len(queries) != len(weighed.keys):
            self._recorder.note_edges(state.modules)
            return None

        def make(order: Order) -> list[AttentionTrace]:
            return [_trace(weighed, queries, state.n_queries)]

        path, _ = self._recorder.stack.path_among(state.modules)
        self._recorder.add(make, weighed.weights, Order(()), path=path)
        return None


def _trace(weighed: _Weighed, queries: Tensor, n_queries: int) -> AttentionTrace:
    """Return the map of all edges, of which those to the first queries are kept where there are too many."""
    weights, values, keys, n_keys = weighed
    n_heads = weights.shape[1]
    n_kept = min(n_queries, max(1, MAX_CELLS // (n_heads * n_keys)))
    is_kept = queries < n_kept
    pairs = (queries * n_keys + keys)[is_kept]
    maps = weights.new_zeros(n_kept * n_keys, n_heads).index_add(0, pairs, weights[is_kept])
    notes = [EDGES.format(len(queries))]
    notes += [CUT.format(n_queries, n_kept)] if n_kept < n_queries else []
    notes += [DOUBLED] if len(pairs.unique()) < len(pairs) else []
    value = values.new_zeros(n_keys, *values.shape[1:]).index_copy(0, keys, values)
    is_of_nodes = torch.equal(value[keys], values)
    return from_weights(
        maps.T.view(n_heads, n_kept, n_keys),
        name="",
        note=" ".join(notes),
        mechanism="attention over edges",
        value=value.transpose(0, 1) if is_of_nodes else None,
    )


def _divided(state: _EdgeState | None, modules: tuple[nn.Module, ...]) -> _EdgeState:
    """Return the state of sums of weighed exponentials that are divided by the sums of these: as with their shares."""
    assert state is not None
    if state.weighed is None or state.queries is None:
        return _EdgeState(SHARE, modules)
    weights = state.weighed.weights
    sums = weights.new_zeros(state.n_queries, weights.shape[1]).index_add(0, state.queries, weights)
    return state._replace(modules=modules, weighed=state.weighed._replace(weights=weights / sums[state.queries]))


def _index_of_rows(args: Sequence[Any]) -> Tensor | None:
    """Return the index of an operation along the first dimension, (n,); None where it is another."""
    if isinstance(args[1], int):
        dimension, index = args[1:3]
        is_of_rows = dimension in (0, -args[0].ndim)
        while is_of_rows and index.ndim > 1 and (index.stride(-1) == 0 or index.shape[-1] == 1):
            index = index[..., 0]
        return index if is_of_rows and index.ndim == 1 else None
    rows = args[1][0] if isinstance(args[1], list | tuple) and len(args[1]) == 1 else None
    return rows if isinstance(rows, Tensor) and rows.ndim == 1 and rows.dtype != torch.bool else None


def _is_partial_view(tensor: Tensor) -> bool:
    """Return whether a tensor is a part of what its storage holds."""
    return tensor.numel() * tensor.element_size() < tensor.untyped_storage().nbytes()
