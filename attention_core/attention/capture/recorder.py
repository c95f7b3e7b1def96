"""The recorder of a capture: it names traces after the running modules, and notes what cannot be kept; never raises."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any
from weakref import ref

import torch
from torch import Tensor, nn
from torch.nn.attention.bias import CausalBias, CausalVariant
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.utils.hooks import RemovableHandle

from attention_core.attention.capture.layout import Order, SubAxis, all_items, joined, sizes_of, usual_order, with_note
from attention_core.attention.capture.operations import is_plain
from attention_core.attention.capture.sources import Sides
from attention_core.attention.capture.trace_builder import (
    NO_HEADS,
    BatchSlice,
    Items,
    TraceBuilder,
    drop_unwritten,
    precision_note,
)
from attention_core.attention.inside_torch import PRETENDED, computes_gradients, is_transformed, storage_of, unseen
from attention_core.attention.recording import Recording
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.weights import from_weights

N_HEADS_NAMES = ("num_heads", "n_heads", "num_attention_heads", "num_attn_heads", "n_head", "heads", "nhead", "h")
"""What modules call their number of heads."""
HELPER_ENDINGS = ("output", "projection", "norm", "dropout", "mask", "embeddings", "intermediate")
"""Endings of the class names of modules that belong to an attention and are none."""
MAX_LISTED = 12
READ = "As capture(also=...) read them from the module's output: its scores, query, key and value are unknown."
UNMET = "whose softmax met no values in a product of matrices that can be followed"


def is_attention(module: nn.Module) -> bool:
    """Return whether a module is an attention by the name of its class, and not a part of one."""
    name = type(module).__name__.lower()
    return ("attention" in name or "attn" in name) and not name.endswith(HELPER_ENDINGS)


def name_of(model: nn.Module) -> str:
    """Return the hub id or folder that a transformers model was loaded from; empty for any other."""
    name = getattr(getattr(model, "config", None), "name_or_path", "")
    return name if isinstance(name, str) else ""


@dataclass(eq=False)
class _ModuleCall:
    module: nn.Module
    n_items: int  # the length of the first tensor of 2 dimensions or more that it, or a module inside, got; or 0
    n_before: int  # attentions that were counted before this call
    has_attention: bool = False  # whether it ran an attention that belongs to no attention module inside it


OPEN_STACKS: ContextVar[frozenset["ModuleStack"]] = ContextVar("open captures", default=frozenset())
"""Those of the captures that this context, such as a task of asyncio, has opened or was started in."""


class ModuleStack:
    """The modules whose forward the thread is in, outermost first, and where the innermost is."""

    def __init__(self) -> None:
        self.is_open, self.thread = True, threading.get_ident()
        self.unseen: dict[str, str] = {}  # path -> class of attention modules inside which none was recorded
        self._n_attentions = 0
        self._stack: list[_ModuleCall] = []
        self._paths_root: nn.Module | None = None  # of whose modules _paths are
        self._paths: dict[nn.Module, str] = {}
        self._learned_root: nn.Module | None = None  # of whose parameters _learned are
        self._learned: frozenset[int] = frozenset()

    @property
    def is_watching(self) -> bool:
        """Whether what runs here and now is to be recorded: in the thread, and in a task, that opened the capture."""
        return self.is_open and self.thread == threading.get_ident() and self in OPEN_STACKS.get()

    @property
    def modules(self) -> tuple[nn.Module, ...]:
        return tuple(call.module for call in self._stack)

    @property
    def path(self) -> str:
        """The path, in the outermost module, of the innermost module that has one; else empty."""
        return self._path_at(len(self._stack))

    def _path_at(self, depth: int) -> str:
        if self._stack and self._stack[0].module is not self._paths_root:
            self._paths_root = self._stack[0].module
            self._paths = {module: _uncompiled(name) for name, module in self._paths_root.named_modules()}
        modules = (call.module for call in reversed(self._stack[:depth]))
        return next((self._paths[module] for module in modules if module in self._paths), "")

    @property
    def is_in_attention(self) -> bool:
        """Whether one of the modules calls itself an attention."""
        return any(is_attention(call.module) for call in self._stack)

    def path_among(self, modules: Sequence[nn.Module]) -> tuple[str, str]:
        """Return path and class of the innermost running module that is one of these; both empty where none is."""
        depth = max((position for position, call in enumerate(self._stack, 1) if call.module in modules), default=0)
        return (self._path_at(depth), type(self._stack[depth - 1].module).__name__) if depth else ("", "")

    def name_among(self, modules: Sequence[nn.Module]) -> str:
        """Return path_among() as it is listed in notes."""
        path, name = self.path_among(modules)
        return f"{path} ({name})" if path else name

    def packs_heads(self, query: Tensor) -> bool:
        """Return whether a query (batch, n_heads, n_queries, d_k) has heads that share keys where queries stand.

        The transformers library lays out a single query so, whose attention has a mask.
        """
        module = self._stack[-1].module if self._stack else None
        n_groups = getattr(module, "num_key_value_groups", 1)
        n_heads = getattr(getattr(module, "config", None), "num_attention_heads", 0)
        return query.ndim == 4 and query.shape[2] == n_groups > 1 and query.shape[1] * n_groups == n_heads

    @property
    def n_items(self) -> int:
        """The size of the batch that the outermost module with a tensor got; 0 where none got one."""
        return next((call.n_items for call in self._stack if call.n_items), 0)

    @property
    def learned(self) -> frozenset[int]:
        """The storages of the parameters of the outermost module."""
        if self._stack and self._stack[0].module is not self._learned_root:
            self._learned_root = self._stack[0].module
            self._learned = frozenset(map(storage_of, self._learned_root.parameters()))
        return self._learned

    @property
    def run(self) -> object:
        """An object that stands for this call of the innermost module: another call has another one."""
        return self._stack[-1] if self._stack else None

    def count_attention(self) -> None:
        self._n_attentions += 1
        for call in reversed(self._stack):
            if is_attention(call.module):
                call.has_attention = True
                return

    def enter(self, module: nn.Module, arguments: Iterable[Any] = ()) -> None:
        n_items = next((len(argument) for argument in arguments if is_plain(argument) and argument.ndim > 1), 0)
        self._stack.append(_ModuleCall(module, n_items, self._n_attentions))
        for call in self._stack:  # hooks get no keyword arguments: this module's tensor may be the first seen
            call.n_items = call.n_items or n_items

    def leave(self, module: nn.Module) -> None:
        if any(call.module is module for call in self._stack):
            while self._stack[-1].module is not module:
                self._stack.pop()
            if is_attention(module):
                self._note_if_unseen(self._stack[-1])
            self._stack.pop()

    def _note_if_unseen(self, call: _ModuleCall) -> None:
        """Add to `unseen` an attention module in which none was recorded, unless a module inside it is in there."""
        path, name = self._path_at(len(self._stack)), type(call.module).__name__
        inner = [inner_path for inner_path in self.unseen if inner_path.startswith(f"{path}.")]
        if call.has_attention:  # modules inside it belong to it
            for inner_path in (path, *inner):
                self.unseen.pop(inner_path, None)
        elif call.n_before == self._n_attentions and not inner:
            self.unseen[path] = name


def track_modules(stack: ModuleStack, on_output: Callable[[nn.Module, Any], None]) -> list[RemovableHandle]:
    """Let a stack keep track of the modules that run, by torch's own hooks on all modules, which are returned.

    A callback is given each module, and what it put out.
    """

    def is_tracked() -> bool:
        return not torch.compiler.is_dynamo_compiling() and stack.is_watching and not computes_gradients()

    def enter(module: nn.Module, arguments: tuple[Any, ...]) -> None:
        if is_tracked():
            stack.enter(module, arguments)

    def leave(module: nn.Module, _: Any, output: Any = None) -> None:
        if is_tracked():
            on_output(module, output)
            stack.leave(module)

    return [register_module_forward_pre_hook(enter), register_module_forward_hook(leave, always_call=True)]


Make = Callable[[Order], list[AttentionTrace]]


@dataclass(eq=False)
class Recorded:
    """An attention that was recorded, whose heads and items may turn out to be others as its output is followed."""

    name: str
    run: object  # of the module that made the call, see ModuleStack.run
    order: Order  # of the axes before its queries, as far as it is known
    make: Make | None  # makes its traces for another order; None = the order is final
    traces: list[AttentionTrace]  # as made: one, or one for each slice of the batch
    named_traces: list[AttentionTrace]  # the same traces, named, as they are in the recording
    is_folded: bool  # whether the call had no dimension for heads, or one for heads and items together


Reader = Callable[[nn.Module, Any], Tensor]
"""What finds weights in the output of a module."""


class Recorder:
    """Makes traces under the name of the module that is running, and notes what cannot be kept."""

    def __init__(self, recording: Recording, stack: ModuleStack, item: Items, also: Mapping[str, Reader] = {}) -> None:
        self.recording, self.stack, self.builder = recording, stack, TraceBuilder(item)
        self._readers, self._unread = also, {*also}  # by paths of modules, and those of which none ran yet
        self._n_calls: dict[str, int] = {}
        self._notes: dict[str, None] = {}  # in order, each once
        self._unmet: dict[int, tuple[str, Any]] = {}  # by number: who ran a softmax that met no values yet, its scores

    @contextmanager
    def unwatched(self, name: str = "") -> Iterator[None]:
        """Run a block that only records: modes and gradients do not see it, and an error in it becomes a note."""
        try:
            with unseen(), torch.no_grad():
                yield
        except Exception as error:  # whatever is wrong with a record is no fault of the model
            reason = (str(error).strip().splitlines() or [""])[0][:200]
            self.note(f"{name or self.stack.path or 'attention'}: not kept, {type(error).__name__}: {reason}")

    def add(
        self,
        make: Make,
        tensor: Any,
        order: Order,
        is_folded: bool = False,
        sides: Sides = Sides(),
        path: str | None = None,
    ) -> Recorded | None:
        """Record the traces that make returns for a call with this tensor; None if there is a note instead.

        The path is that of the module that made the call; None = the innermost that is running.
        """
        self.stack.count_attention()
        path = self.stack.path if path is None else path
        name = path or f"attention.{len(self.recording)}"
        if reason := reason_to_skip(tensor):
            self.note(f"{name}: not kept, {reason}.")
            return None
        with self.unwatched(name), torch.autocast(tensor.device.type, enabled=False):
            make = partial(_make_and_change, lambda made: [*map(drop_unwritten, sides.annotate(made))], make)
            traces = make(order)
            self.recording.model = self.recording.model or next(filter(None, map(name_of, self.stack.modules)), "")
            number = self._n_calls[path] = self._n_calls.get(path, 0) + 1
            name = name if number == 1 or not path else f"{path} ({number})"
            named_traces = [_named(trace, name) for trace in traces]
            self.recording.traces.extend(named_traces)
            return Recorded(name, self.stack.run, order, make, traces, named_traces, is_folded)
        return None

    def read(self, module: nn.Module, output: Any) -> None:
        """Record the weights that a reader finds in the output of a module."""
        if output is None or not self._readers or (path := self.stack.path) not in self._readers:
            return
        self._unread.discard(path)
        with self.unwatched(path):
            weights = self._readers[path](module, output)
            if not 2 <= weights.ndim <= 4:
                raise ValueError(f"weights must be (batch, n_heads, n_queries, n_keys), got {tuple(weights.shape)}")
            weights = weights[:, *(None,) * (4 - weights.ndim)]

            def make(order: Order) -> list[AttentionTrace]:
                mechanism = type(module).__name__
                return [
                    from_weights(
                        weights[piece.number], name=piece.name, note=f"{piece.note} {READ}".strip(), mechanism=mechanism
                    )
                    for piece in self.builder.slices(order, self.stack.n_items)
                ]

            self.add(make, weights, usual_order(weights.shape[:2]))
            inside = f"{path} ", f"{path}."
            self._unmet = {n: unmet for n, unmet in self._unmet.items() if not unmet[0].startswith(inside)}

    def settle(self, recorded: Recorded, order: Order, *, is_last: bool = False) -> None:
        """Make traces anew where the order of the axes before the queries turns out to be another one."""
        is_same = _sorted_axes(order) == _sorted_axes(recorded.order)
        is_settled = is_same and order.is_batch_first and not recorded.is_folded
        if recorded.make is not None and not is_settled:
            with self.unwatched(recorded.name), torch.autocast(recorded.traces[0].query.device.type, enabled=False):
                self._replace_traces(recorded, recorded.make(order))
                recorded.order, recorded.is_folded = order, False
        if is_last:
            recorded.make = None

    def join(self, calls: Sequence[Recorded], along: str) -> list[Recorded]:
        """Join calls that are chunks of one attention, along "queries", "heads" or "items"; return those that remain.

        Where they do not fit together, all remain as they are.
        """
        first, *later = calls
        with self.unwatched(first.name):
            if along == "items":
                return self._join_items(calls)
            for recorded in calls:
                if along == "heads" and recorded.is_folded:
                    self.settle(recorded, all_items(recorded.order))
            if traces := joined([recorded.traces for recorded in calls], along):
                makes = [recorded.make for recorded in calls if recorded.make is not None]
                has_all_makes = len(makes) == len(calls)
                first.make = (lambda order: joined([make(order) for make in makes], along)) if has_all_makes else None
                for recorded in later:
                    self._replace_traces(recorded, [])
                self._replace_traces(first, traces)
                return [first]
        return list(calls)

    def _join_items(self, calls: Sequence[Recorded]) -> list[Recorded]:
        """Name calls with one item each as the slices of one batch; return those that the recording has to have."""
        slices = {batch_slice.number: batch_slice for batch_slice in self.builder.slices(usual_order((len(calls), 1)))}
        for number, recorded in enumerate(calls):
            change = partial(_as_slice, slices.get(number))
            recorded.name = calls[0].name
            recorded.make = recorded.make and partial(_make_and_change, change, recorded.make)
            self._replace_traces(recorded, change(recorded.traces))
        return [calls[number] for number in slices]

    def _replace_traces(self, recorded: Recorded, traces: list[AttentionTrace]) -> None:
        all_traces, start = self.recording.traces, self.recording.traces.index(recorded.named_traces[0])
        named_traces = [_named(trace, recorded.name) for trace in traces]
        all_traces[start : start + len(recorded.named_traces)] = named_traces
        recorded.traces, recorded.named_traces = traces, named_traces

    def add_fused(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
        *,
        mechanism: str = "scaled dot product attention",
        sides: Sides = Sides(),
    ) -> Recorded | None:
        """Record a call of fused attention; the arguments are those of F.scaled_dot_product_attention."""
        if reason_to_skip(query):  # its sizes, too, may stand for any number
            return self.add(lambda _: [], query, Order(()))
        autocast_dtype, n_items = _autocast_dtype(query), self.stack.n_items
        usual = usual_order(sizes_of(query, key, value), n_items if query.ndim < 4 else 0)

        def make(order: Order) -> list[AttentionTrace]:
            notes = [f"Dropout of {dropout_p:g} was on; these are the weights before it."] if dropout_p else []
            inputs, mask, causal = [query, key, value], attn_mask, is_causal
            if autocast_dtype is None:
                notes.append(precision_note(query.dtype))
            else:
                inputs = [tensor.to(autocast_dtype) for tensor in inputs]
                notes.append(f"Under autocast the model computed in {str(autocast_dtype).removeprefix('torch.')}.")
            if isinstance(mask, CausalBias):
                causal = mask.variant == CausalVariant.UPPER_LEFT
                n_queries, n_keys = query.shape[-2], key.shape[-2]
                allowed = query.new_ones(n_queries, n_keys, dtype=torch.bool).tril(n_keys - n_queries)
                mask = None if causal else allowed
            if order is usual and query.ndim == 3 and not order.items and len(query) > 1:
                notes.append(NO_HEADS)
            options: dict[str, Any] = {"scale": scale, "is_causal": causal, "dropout": dropout_p, "order": order}
            options |= {"mask": mask, "mechanism": mechanism, "note": " ".join(filter(None, notes))}
            slices = self.builder.slices(order, n_items)
            return [self.builder.trace(*inputs, batch_slice=batch_slice, **options) for batch_slice in slices]

        return self.add(make, query, usual, query.ndim < 4, sides)

    def leave_out(self, softmax: Any, reason: str) -> None:
        """Note that a softmax met values and is no attention."""
        self.meet(softmax)
        self.stack.count_attention()
        self.note(f"{self.stack.path or 'A product'}: left out, {reason}.")

    def note_edges(self, modules: Sequence[nn.Module]) -> None:
        """Note attention over the edges of a graph, by the innermost of these modules that is still running."""
        self.stack.count_attention()
        reason = "a softmax over the edges of a graph, added up by index, cannot be followed"
        self.note(f"Not seen: {self.stack.name_among(modules) or 'attention'}, {reason}.")

    def open_softmax(self, softmax: Any) -> None:
        """Note a provenance.Softmax, until `meet` says that its weights were seen to meet values."""
        name = self.stack.name_among(self.stack.modules) or "code outside all modules"
        self._unmet[softmax.number] = name, softmax.scores and ref(softmax.scores)

    def meet(self, softmax: Any) -> None:
        """Note that the weights of a softmax, or of another one of the same scores, have met values."""
        for number, (_, scores) in [*self._unmet.items()]:
            if number == softmax.number or (scores and scores() is softmax.scores):
                del self._unmet[number]

    def note(self, text: str) -> None:
        self._notes.setdefault(text)
        self.update_note()

    def update_note(self, *further_notes: str) -> None:
        missed = [f"{path} ({name})" if path else name for path, name in self.stack.unseen.items()]
        unread = f"Not read: {_listed(sorted(self._unread))}, no module of such a path ran." if self._unread else ""
        unmet = [name for name in dict.fromkeys(name for name, _ in self._unmet.values()) if name not in missed]
        unseen = f"Not seen: {_listed(missed)}, which ran without any attention that can be followed." if missed else ""
        softmax = f"Not seen: {_listed(unmet)}, {UNMET}." if unmet else ""
        self.recording.note = " ".join(filter(None, [*self._notes, unseen, softmax, unread, *further_notes]))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:MAX_LISTED]) + (f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else "")


def _named(trace: AttentionTrace, name: str) -> AttentionTrace:
    """Return a trace with this name before the one it has, which is empty or its slice of the batch."""
    return trace.with_story(name=f"{name} {trace.story.name}".strip())


def _as_slice(batch_slice: BatchSlice | None, traces: list[AttentionTrace]) -> list[AttentionTrace]:
    """Return the traces with name and note of a slice of the batch; none where the slice is not recorded."""
    if batch_slice is None:
        return []
    named = (trace.with_story(name=batch_slice.name or trace.story.name) for trace in traces)
    return [with_note(trace, batch_slice.note) for trace in named]


def _make_and_change(change: Callable[[list[AttentionTrace]], list[AttentionTrace]], make: Make, order: Order) -> Any:
    return change(make(order))


def _sorted_axes(order: Order) -> list[SubAxis]:
    """Return the axes of more than one position, those of items before those of heads."""
    sub_axes = [sub_axis for sub_axis in order.sub_axes if sub_axis.n > 1]
    return sorted(sub_axes, key=lambda sub_axis: sub_axis.is_head)


def _uncompiled(name: str) -> str:
    """Return a path without the segments of modules that torch.compile puts around others."""
    return ".".join(segment for segment in name.split(".") if segment != "_orig_mod")


def reason_to_skip(tensor: Any) -> str:
    """Return why a tensor cannot be kept; empty if it can."""
    if type(tensor).__module__.startswith(PRETENDED):  # as while a model is exported
        return f"its tensors hold no numbers ({type(tensor).__name__})"
    if tensor.device.type == "meta":
        return "its tensors hold no numbers (meta)"
    if is_transformed(tensor):
        return "its tensors are those of a transform such as vmap"
    if tensor.device.type == "cuda" and torch.cuda.is_current_stream_capturing():
        return "a CUDA graph was being captured"
    return ""


def _autocast_dtype(query: Tensor) -> torch.dtype | None:
    """Return the type in which a call computes under autocast; None where that is the query's."""
    if not torch.is_autocast_enabled(query.device.type):
        return None
    dtype = torch.get_autocast_dtype(query.device.type)
    return dtype if query.is_floating_point() and query.dtype not in (dtype, torch.float64) else None
