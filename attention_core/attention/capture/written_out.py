"""Sees attention that is written out: a softmax over (..., n, m) whose result meets a product with (..., m, d).

Every operation that a thread runs passes by, as the few that all of torch's functions are made of: matmul, @, einsum
and bmm are all bmm. Products, and what is done with them element by element, are remembered until a softmax takes them.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.multiprocessing.reductions import StorageWeakRef

from attention_core.attention.capture.operations import (
    OF_FUSED,
    PRODUCTS,
    STEPS,
    is_composite,
    is_plain,
    is_view,
    with_numbers_as_tensors,
)
from attention_core.attention.capture.provenance import (
    ElementwiseStep,
    Layout,
    MixedWeights,
    Origin,
    Product,
    Softmax,
    steps_to,
)
from attention_core.attention.capture.recorder import Recorder
from attention_core.attention.capture.weighing import FLEX, Weighing, flex_trace
from attention_core.attention.inside_torch import (
    FUSED,
    SOFTMAXES,
    TorchDispatchMode,
    computes_gradients,
    unseen_operations,
    watches_alone,
)


class WrittenOut(TorchDispatchMode):
    """Records written-out attention; nothing is changed by it."""

    supports_higher_order_operators = True

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder
        self._made: dict[int, tuple[StorageWeakRef, Origin]] = {}
        self._n_quiet = 0
        self._dropout: float | None = None

    @contextmanager
    def quiet(self, *given: Any) -> Iterator[None]:
        """See no products inside the block, since they are known to be something else.

        Where no other mode watches and what is given to the call needs none, the call runs as without a capture.
        """
        alone = watches_alone(self)
        plain = all(is_plain(one) for one in given if isinstance(one, Tensor))
        self._n_quiet += 1
        try:
            with unseen_operations() if alone and plain else nullcontext():
                yield
        finally:
            self._n_quiet -= 1

    @contextmanager
    def dropping(self, input: Any = None, p: float = 0.5, training: bool = True, *_: Any, **__: Any) -> Iterator[None]:
        """Take what is done to weights inside the block for a dropout; the arguments are those of F.dropout."""
        before, self._dropout = self._dropout, p if training else None
        try:
            yield
        finally:
            self._dropout = before

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if torch.is_inference_mode_enabled() and is_composite(func):
            with self:
                result = func.decompose(*args, **kwargs)
            if result is not NotImplemented:
                return result
        try:
            result = func(*args, **kwargs)
        except RuntimeError:
            given = with_numbers_as_tensors(func, args)
            if given is None:
                raise
            result = func(*given, **kwargs)
        if not is_view(func) and not computes_gradients():
            with self._recorder.unwatched():
                self._follow(func, args, kwargs, result)
        return result

    def mix(self, weights: Any, result: Tensor) -> None:
        made = self._made_of(weights)
        if made is None or not is_plain(result) or weights.untyped_storage()._cdata == result.untyped_storage()._cdata:
            return
        if mixed := made if isinstance(made, MixedWeights) else MixedWeights.of(weights, made):
            self._remember(result, mixed)

    def _made_of(self, tensor: Any) -> Origin | None:
        if not self._made or not is_plain(tensor):
            return None
        found = self._made.get(tensor.untyped_storage()._cdata)
        return None if found is None else found[1]

    def _remember(self, tensor: Tensor, made: Origin) -> None:
        storage = tensor.untyped_storage()
        self._made[storage._cdata] = (StorageWeakRef(storage), made)  # holding it keeps the number from another storage

    def _forget(self, tensor: Tensor) -> None:
        self._made.pop(tensor.untyped_storage()._cdata, None)

    def _follow(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        if func in PRODUCTS:
            if not self._n_quiet and is_plain(result):
                self._product(args, kwargs, result, PRODUCTS[func])
        elif func in SOFTMAXES:
            if not self._n_quiet and is_plain(result) and result.ndim:
                scores, before = self._made_of(args[0]), Layout.of(args[0])
                self._remember(result, Softmax(Layout.of(result), args[1] % result.ndim, scores, before))
        elif func in STEPS:
            self._step(func, args, kwargs, result)
        elif func in FUSED:
            if not self._n_quiet:
                given = dict(zip((one.name for one in func._schema.arguments), args, strict=False)) | kwargs
                given["attn_mask"] = given.get("attn_mask", given.get("attn_bias"))
                self._recorder.fused(**{name: one for name, one in given.items() if name in OF_FUSED})
        elif getattr(func, "_name", "") == FLEX:
            self._recorder.add(lambda: flex_trace(self._recorder.keeper, result[0], *args, **kwargs), args[0])
        elif self._made:
            self._unknown(func, args, result)

    def _step(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        """Remember what was done to the first argument that is remembered."""
        result = result[0] if isinstance(result, tuple) else result
        place, source = next(((n, made) for n, arg in enumerate(args) if (made := self._made_of(arg))), (0, None))
        if source is None:
            return
        if isinstance(source, MixedWeights):
            self._remember(result, source)
            return
        kind, operand, more = STEPS[func](place, args, kwargs)
        if kind == "bounded":
            kind = "same" if torch.equal(result, args[place]) else "changed"
        is_weights = isinstance(steps_to(source)[1], Softmax)
        if is_weights and kind not in ("same", "dropout"):
            kind, more = ("changed", None) if self._dropout is None else ("dropout", self._dropout)
        partly = result.untyped_storage().nbytes() != result.numel() * result.element_size()
        if partly or (kind == "changed" and not is_weights):
            self._forget(result)
            return
        if isinstance(operand, Tensor):
            operand = operand.detach().expand(result.shape)
        before = Layout.of(args[place].detach().expand(result.shape))
        self._remember(result, ElementwiseStep(kind, Layout.of(result), source, before, operand, more))

    def _unknown(self, func: Any, args: Any, result: Any) -> None:
        """Forget what is overwritten; of what was made of weights remember that they are in it."""
        result = result[0] if isinstance(result, tuple) and result else result
        if not hasattr(func, "_schema") or not is_plain(result):
            return
        if func._schema.is_mutable:
            self._forget(result)
        elif result.is_floating_point():
            for tensor in args:
                if isinstance(tensor, Tensor) and tensor.numel() == result.numel():
                    self.mix(tensor, result)

    def _product(self, args: Any, kwargs: Any, result: Tensor, start: int) -> None:
        left, right, out = (t if t.ndim == 3 else t[None] for t in (*args[start : start + 2], result))
        left, right = left.detach(), right.detach()
        learned = [isinstance(factor, nn.Parameter) for factor in args[start : start + 2]]
        sides = ((left, right, out, learned[1]), (right.mT, left.mT, out.mT, learned[0]))
        if not start and any(self._met(*side) for side in sides):
            return
        for number in [number for number, (storage, _) in self._made.items() if storage.expired()]:
            del self._made[number]
        made: Origin = Product(Layout.of(out), left, right, float(kwargs.get("alpha", 1)))
        beta = float(kwargs.get("beta", 1))
        if start and beta:
            made = ElementwiseStep(
                "plus", Layout.of(out), made, Layout.of(out), args[0].detach().expand(out.shape), beta
            )
        self._remember(result, made)
        self.mix(args[start], result)
        self.mix(args[start + 1], result)

    def _met(self, left: Tensor, right: Tensor, out: Tensor, learned: bool) -> bool:
        """Record weights that meet values; False if they do not."""
        steps, first = steps_to(self._made_of(left))
        mixed = isinstance(first, MixedWeights)
        if isinstance(first, MixedWeights):
            own = first.weights.flatten(0, -3) if first.weights.ndim > 2 else first.weights[None]
            steps, first = steps_to(first.source)
            if own.shape != left.shape:
                return False
            left = own
        if not isinstance(first, Softmax):
            return False
        weighing, inside = Weighing(steps, first, left, right, out, mixed, learned), self._recorder.inside
        found = weighing.found(self._recorder.keeper.item, inside.n_heads, inside.n_items)
        if found is None:
            return False
        self._recorder.add(lambda: weighing.trace(found, self._recorder.keeper), left)
        return True
