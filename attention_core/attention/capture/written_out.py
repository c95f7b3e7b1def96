"""Sees attention that is written out: a softmax over (..., n, m) whose result meets a product with (..., m, d).

Every operation that a thread runs passes by, as the few that all of torch's functions are made of: matmul, @, einsum
and bmm are all bmm. Products, and what is done with them element by element, are remembered until a softmax takes them.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_core.attention import inside_torch
from attention_core.attention.capture import operations, provenance
from attention_core.attention.capture.edges import Edges
from attention_core.attention.capture.layout import Block, Layout, Order, usual_order
from attention_core.attention.capture.outputs import Output, Outputs
from attention_core.attention.capture.recorder import Recorder
from attention_core.attention.capture.sources import Sides, Sources
from attention_core.attention.capture.weighted_sum import FLEX, WeightedSum, flex_trace
from attention_core.attention.trace import AttentionTrace

SUM, MEAN, TIMES = operations.aten.sum.dim_IntList, operations.aten.mean.dim, operations.aten.mul.Tensor
OPTIONS = "a softmax over options that were learned, such as experts or classes, and not over positions"
MAX_STEPS = 16
"""Steps that are followed after a product: scores have fewer, and what is remembered of more would take memory."""


class WrittenOut(inside_torch.TorchDispatchMode):
    """Records written-out attention, and changes nothing."""

    supports_higher_order_operators = True

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder = recorder
        self._origins = inside_torch.StorageMap[provenance.Provenance]()
        self.outputs = Outputs(recorder)
        self.sources = Sources(self.is_learned)
        self._edges = Edges(recorder)
        self._n_ignoring = 0
        self._dropout: float | None = None

    @contextmanager
    def ignore_products(self, *arguments: Any) -> Iterator[None]:
        """Ignore products inside the block, which are known to be something else.

        Where no other mode watches and the call is given plain tensors, it runs as without a capture.
        """
        is_only_mode = inside_torch.is_only_mode(self)
        plain = all(operations.is_plain(argument) for argument in arguments if isinstance(argument, Tensor))
        self._n_ignoring += 1
        try:
            with inside_torch.unseen_operations() if is_only_mode and plain else nullcontext():
                yield
        finally:
            self._n_ignoring -= 1

    @contextmanager
    def mark_dropout(
        self, input: Any = None, p: float = 0.5, training: bool = True, *_: Any, **__: Any
    ) -> Iterator[None]:
        """Take changes of weights inside the block for dropout; the arguments are those of F.dropout."""
        before, self._dropout = self._dropout, p if training else None
        try:
            yield
        finally:
            self._dropout = before

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not self.recorder.stack.is_watching:
            return func(*args, **kwargs)
        if torch.is_inference_mode_enabled() and operations.is_composite(func):
            with self:
                result = func.decompose(*args, **kwargs)
            if result is not NotImplemented:
                return result
        try:
            result = func(*args, **kwargs)
        except RuntimeError:
            converted = operations.with_numbers_as_tensors(func, args)
            if converted is None:
                raise
            result = func(*converted, **kwargs)
        if not operations.is_view(func) and not inside_torch.computes_gradients():
            with self.recorder.unwatched():
                self._follow(func, args, kwargs, result)
        return result

    def on_fused(self, context: Any, *args: Any, **kwargs: Any) -> None:
        """Record a call of fused attention that gave this context, and follow that."""
        arguments = dict(zip(operations.OF_FUSED, args, strict=False)) | kwargs
        sides, query = self.sources.sides(arguments["query"], arguments["key"]), arguments["query"]
        if operations.is_plain(query) and self.recorder.stack.packs_heads(query):
            for name in ("query", "attn_mask"):
                if (packed := arguments.get(name)) is not None and packed.ndim == 4 and packed.shape[1] > 1:
                    arguments[name] = packed.flatten(1, 2)[:, :, None]
            context = context.flatten(1, 2)[:, :, None]
        recorded = self.recorder.add_fused(**arguments, sides=sides)
        if recorded is not None and operations.is_plain(context):
            with self.recorder.unwatched():
                self.outputs.follow(context, [Output(recorded, Block.covering(Layout.of(context)))])

    def mix(self, weights: Any, result: Tensor) -> None:
        mixed = self._origin_of(weights)
        if (
            mixed
            and operations.is_plain(result)
            and inside_torch.storage_of(weights) != inside_torch.storage_of(result)
        ):
            if not isinstance(mixed, provenance.WeightMixture):
                mixed = provenance.WeightMixture.of(weights, mixed)
            if mixed:
                self._origins.put(result, mixed)

    def is_learned(self, tensor: Any) -> bool:
        """Return whether a tensor is a parameter, or a view of one of the model's."""
        is_parameter = isinstance(tensor, nn.Parameter)
        return is_parameter or (
            operations.is_plain(tensor) and inside_torch.storage_of(tensor) in self.recorder.stack.learned
        )

    def remember_linear(self, layer_input: Any, result: Any) -> None:
        """Remember that a linear layer put something out; follow attention into it."""
        if operations.is_plain(result):
            self._origins.drop_expired()
            self._origins.put(result, provenance.LayerOutput(result.shape[-1]))
            self.mix(layer_input, result)
            self.sources.layer(layer_input, result)
            self.outputs.see(F.linear, [layer_input], operations.operands_of([layer_input]), result)

    def _origin_of(self, tensor: Any) -> provenance.Provenance | None:
        if not self._origins or not operations.is_plain(tensor):
            return None
        return self._origins.find(inside_torch.storage_of(tensor))

    def _see(self, func: Any, args: Any, result: Any) -> None:
        """Let all who follow numbers see an operation."""
        if operands := operations.operands_of(args):
            result = result[0] if isinstance(result, tuple | list) and result else result
            self.outputs.see(func, args, operands, result)
            if operations.is_plain(result):
                self.sources.see(func, operands, result)
                self._edges.see(func, args, operands, result)

    def _follow(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        self._see(func, args, result)
        if func in operations.PRODUCTS:
            if not self._n_ignoring and operations.is_plain(result):
                self._product(args, kwargs, result, operations.PRODUCTS[func])
        elif func in inside_torch.SOFTMAXES:
            if not self._n_ignoring and operations.is_plain(result) and result.ndim:
                scores, before = self._origin_of(args[0]), Layout.of(args[0])
                softmax = provenance.Softmax(Layout.of(result), args[1] % result.ndim, scores, before)
                self._origins.put(result, softmax)
                self.recorder.open_softmax(softmax)
        elif func in operations.STEPS:
            self._elementwise(func, args, kwargs, result)
        elif func in inside_torch.FUSED:
            if not self._n_ignoring:
                arguments = dict(zip(inside_torch.argument_names(func), args, strict=False)) | kwargs
                arguments["attn_mask"] = arguments.get("attn_mask", arguments.get("attn_bias"))
                self.on_fused(result[0], **{name: arguments[name] for name in operations.OF_FUSED if name in arguments})
        elif getattr(func, "_name", "") == FLEX:
            self._flex(args, kwargs, result[0])
        elif self._origins:
            self._unknown(func, args, result)

    def _flex(self, args: Any, kwargs: Any, context: Tensor) -> None:
        builder, n_items = self.recorder.builder, self.recorder.stack.n_items

        def make(order: Order) -> list[AttentionTrace]:
            slices = builder.slices(order, n_items)
            return [flex_trace(builder, batch_slice, context, *args, **kwargs) for batch_slice in slices]

        self.recorder.add(make, args[0], usual_order(context.shape[:2]), sides=self.sources.sides(*args[:2]))

    def _elementwise(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        """Remember what is done number by number: one more step, or values that are weighed."""
        self._meet_later(args)
        if func is TIMES and (weighed := self._weighed(args, result)):
            self._origins.put(result, weighed)
        else:
            self._step(func, args, kwargs, result)

    def _step(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        """Remember the operation if the origin of an argument is known; the first such argument counts."""
        result = result[0] if isinstance(result, tuple) else result
        index, source = next(((n, origin) for n, arg in enumerate(args) if (origin := self._origin_of(arg))), (0, None))
        if source is None and func not in operations.EXPONENTIALS:
            return
        before = Layout.of(args[index].detach().expand(result.shape))
        if isinstance(source, provenance.WeightMixture | provenance.LayerOutput):
            self._origins.put(result, source.copied_to(before))
            return
        operation, operand, scalar = operations.STEPS[func](index, args, kwargs)
        if operation == "bounded":
            operation = "same" if torch.equal(result, args[index]) else "changed"
        if isinstance(source, provenance.RawContext):
            self._origins.remove(result)
            if operation == "divided" and isinstance(operand, Tensor):
                self._normalised(source, args[index], result)
            return
        steps, first = provenance.steps_to(source)
        is_weights = isinstance(first, provenance.Softmax)
        if is_weights and operation not in ("same", "dropout"):
            operation, scalar = ("changed", None) if self._dropout is None else ("dropout", self._dropout)
        is_partial = result.untyped_storage().nbytes() != result.numel() * result.element_size()
        if is_partial or (operation == "changed" and not is_weights) or len(steps) > MAX_STEPS:
            self._origins.remove(result)
            return
        if isinstance(operand, Tensor):
            operand = operand.detach().expand(result.shape)
        after = Layout.of(result)
        step: provenance.Provenance = provenance.ElementwiseStep(operation, after, source, before, operand, scalar)
        if not is_weights and (operation == "exp" or any(step.operation == "exp" for step in steps)):
            dimension = _dimension_of_sums(result, operand if operation == "divided" else None)
            step = step if dimension is None else provenance.Softmax(after, dimension, step, after)
        self._origins.put(result, step)

    def _meet_later(self, args: Any) -> None:
        """Note that weights of all softmaxes but the first go on in that one's, as in a difference of two."""
        firsts = (provenance.steps_to(self._origin_of(arg))[1] for arg in args)
        for softmax in [first for first in firsts if isinstance(first, provenance.Softmax)][1:]:
            self.recorder.meet(softmax)

    def _weighed(self, args: Any, result: Tensor) -> provenance.WeighedValues | None:
        """Return weights and values among the factors of a product, number by number, where weights are repeated."""
        for weights, value in (args, args[::-1]):
            if not (operations.is_plain(weights) and operations.is_plain(value)):
                continue
            wide_weights, wide_value = (factor.detach().expand(result.shape) for factor in (weights, value))
            sizes = zip(result.shape, wide_weights.stride(), wide_value.stride(), strict=True)
            has_features = any(n > 1 and not of_weights and of_value for n, of_weights, of_value in sizes)
            if has_features and isinstance(provenance.steps_to(self._origin_of(weights))[1], provenance.Softmax):
                return provenance.WeighedValues(wide_weights, wide_value, self.is_learned(value))
        return None

    def _pool(self, weighed: provenance.WeighedValues, args: Any, result: Tensor, *, is_mean: bool) -> None:
        """Record weighed values that are added up over the keys as a product of weights and values."""
        weights, value, shape = weighed.weights, weighed.value, weighed.value.shape
        keys = sorted(dimension % value.ndim for dimension in args[1] or range(value.ndim))
        out = result.detach() * (math.prod(shape[dimension] for dimension in keys) if is_mean else 1)
        for dimension in keys if out.ndim < value.ndim else ():
            out = out.unsqueeze(dimension)
        batch: list[int] = []
        queries: list[int] = []
        features: list[int] = []
        for dimension in (dimension for dimension in range(value.ndim) if dimension not in keys):
            is_repeated = shape[dimension] > 1 and not weights.stride(dimension)
            is_shared = shape[dimension] > 1 and not value.stride(dimension)
            (features if is_repeated else queries if is_shared else batch).append(dimension)
        if self._n_ignoring or not features:
            return

        def arranged(tensor: Tensor, *groups: list[int]) -> Tensor:
            """Return a tensor whose three dimensions are these, of others the first number."""
            dimensions = [dimension for group in groups for dimension in group]
            others = [dimension for dimension in range(tensor.ndim) if dimension not in dimensions]
            ordered = tensor.permute(*others, *dimensions)[(0,) * len(others)]
            merged = ordered.reshape([math.prod(tensor.shape[d] for d in group) for group in groups])
            if tensor is weights and inside_torch.storage_of(merged) != inside_torch.storage_of(weights):
                layouts = Layout.of(merged.view(ordered.shape)), Layout.of(ordered)
                step = provenance.ElementwiseStep("same", layouts[0], self._origin_of(weights), layouts[1])
                self._origins.put(merged, step)
            return merged

        left, right = arranged(weights, batch, queries, keys), arranged(value, batch, keys, features)
        self._record_attention(left, right, arranged(out, batch, queries, features), weighed.is_learned)

    def _normalised(self, source: provenance.RawContext, product: Tensor, result: Tensor) -> None:
        """Record a product of exponentials and values that was divided by the sums of the former."""
        block = Block.covering(source.layout).relocate(Layout.of(product), Layout.of(result))
        sums = source.left.sum(-1, keepdim=True).expand(source.left.shape)
        weights = source.left / sums
        out = None if block is None else block.of(result)
        if out is not None and torch.allclose(weights @ source.right, out, rtol=1e-3, atol=1e-5, equal_nan=True):
            segments = Layout.of(product).split(source.layout.shape[0], source.layout.stride[0]) or []
            layout = Layout.of(weights.unflatten(0, [n for n, *_ in segments] or [-1]))
            step = provenance.ElementwiseStep(
                "divided", Layout.of(weights), source.source, Layout.of(source.left), sums
            )
            self._origins.put(weights, provenance.Softmax(layout, len(layout.shape) - 1, step, layout))
            self._record_attention(weights, source.right, out, False)
            self._origins.remove(weights)

    def _unknown(self, func: Any, args: Any, result: Any) -> None:
        """Forget the origin of what is overwritten; note which results mix weights, and which add up weighed values."""
        if func in (SUM, MEAN) and isinstance(weighed := self._origin_of(args[0]), provenance.WeighedValues):
            self._pool(weighed, args, result, is_mean=func is MEAN)
            return
        result = result[0] if isinstance(result, tuple) and result else result
        overwrites = inside_torch.overwrites_argument(func)
        if overwrites is None or not operations.is_plain(result):
            return
        if overwrites:
            self._origins.remove(result)
        elif result.is_floating_point():
            for tensor in args:
                if isinstance(tensor, Tensor) and tensor.numel() == result.numel():
                    self.mix(tensor, result)

    def _product(self, args: Any, kwargs: Any, result: Tensor, start: int) -> None:
        left, right, out = (t if t.ndim == 3 else t[None] for t in (*args[start : start + 2], result))
        left, right = left.detach(), right.detach()
        is_parameter = [self.is_learned(factor) for factor in args[start : start + 2]]
        sides = ((left, right, out, is_parameter[1]), (right.mT, left.mT, out.mT, is_parameter[0]))
        if not start and any(self._record_attention(*side) for side in sides):
            return
        self._origins.drop_expired()
        if is_parameter[1]:
            self._origins.put(result, provenance.LayerOutput(result.shape[-1]))
            self.mix(args[start], result)
            return
        origin: provenance.Provenance = provenance.Product(Layout.of(out), left, right, float(kwargs.get("alpha", 1)))
        beta = float(kwargs.get("beta", 1))
        if start and beta:
            origin = provenance.ElementwiseStep(
                "plus", Layout.of(out), origin, Layout.of(out), args[0].detach().expand(out.shape), beta
            )
        for weights, values in ((left, right), (right.mT, left.mT)):
            scores = self._origin_of(weights)
            if scores and not start and any(step.operation == "exp" for step in provenance.steps_to(scores)[0]):
                origin = provenance.RawContext(weights, values, scores, Layout.of(out if weights is left else out.mT))
        self._origins.put(result, origin)
        self.mix(args[start], result)
        self.mix(args[start + 1], result)

    def _has_queries(self, weights: Tensor, values: Tensor) -> bool:
        """Return whether numbers of a layer weigh values for several queries, or for one of each item of the batch.

        A convolution has more of them, and experts read what their gate reads.
        """
        stack = self.recorder.stack
        if weights.shape[1] > 1 or len(weights) != stack.n_items:
            return weights.shape[1] > 1
        return stack.is_in_attention or bool(self.sources.sides(weights, values).crosses)

    def _record_attention(self, left: Tensor, right: Tensor, out: Tensor, is_parameter: bool) -> bool:
        """Record a product of weights and values; False if it is another product."""
        steps, first = provenance.steps_to(self._origin_of(left))
        is_mixed = isinstance(first, provenance.WeightMixture)
        if isinstance(first, provenance.WeightMixture):
            base_weights = first.weights.flatten(0, -3) if first.weights.ndim > 2 else first.weights[None]
            steps, first = provenance.steps_to(first.source)
            if base_weights.shape != left.shape:
                return False
            left = base_weights
        if not isinstance(first, provenance.Softmax):
            return False
        if first.is_over_options and (is_parameter or not self._has_queries(left, right)):
            self.recorder.leave_out(first, OPTIONS)
            return False
        weighted_sum, n_items = WeightedSum(steps, first, left, right, out, is_mixed), self.recorder.stack.n_items
        weighted_sum = weighted_sum if weighted_sum.layout else weighted_sum.over_its_axis()
        if (first.scores is None and is_parameter) or (layout := weighted_sum.layout) is None:
            return False
        self.recorder.meet(first)
        usual = layout.usual_order(n_items)

        def make(order: Order) -> list[AttentionTrace]:
            return weighted_sum.traces(order, self.recorder.builder, n_items, order is not usual)

        product = provenance.steps_to(first.scores)[1]
        sides = self.sources.sides(product.left, product.right) if isinstance(product, provenance.Product) else Sides()
        if recorded := self.recorder.add(make, left, usual, weighted_sum.is_folded, sides):
            self.outputs.follow(out, [Output(recorded, layout.context())])
        return True


def _dimension_of_sums(weights: Tensor, divisor: Tensor | None) -> int | None:
    """Return along which dimension exponentials sum to 1, or to less after a division by rows; None where to none."""
    for dimension in reversed(range(weights.ndim)):
        if weights.shape[dimension] == 1 or (divisor is not None and divisor.stride(dimension)):
            continue
        sums = weights.sum(dimension).float().nan_to_num()
        has_full_sum = bool(((sums - 1).abs() < 0.01).any())
        if bool((sums < 1.01).all()) and (has_full_sum if divisor is None else bool((sums > 0).any())):
            return dimension
    return None
