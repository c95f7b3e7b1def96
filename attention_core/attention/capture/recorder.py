"""The recorder of a capture: it names traces after the running modules, and notes what cannot be kept; never raises."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention.bias import CausalBias, CausalVariant
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

from attention_core.attention.capture.layout import Order, Piece, all_items, joined, sizes_of, usual_order, with_note
from attention_core.attention.capture.operations import is_plain
from attention_core.attention.capture.sources import Sides
from attention_core.attention.capture.trace_builder import NO_HEADS, Items, Part, TraceBuilder, precision_note
from attention_core.attention.inside_torch import PRETENDED, computes_gradients, is_transformed, storage_of, unseen
from attention_core.attention.recording import Recording
from attention_core.attention.trace import AttentionTrace

N_HEADS = ("num_heads", "n_heads", "num_attention_heads", "num_attn_heads", "n_head", "heads", "nhead", "h")
"""What modules call their number of heads."""
HELPERS = ("output", "projection", "norm", "dropout", "mask", "embeddings", "intermediate")
"""Ends of the names of modules that belong to an attention and are none."""
MAX_LISTED = 12


def is_attention(module: nn.Module) -> bool:
    """Return whether a module calls itself attention, and not a part of one."""
    name = type(module).__name__.lower()
    return ("attention" in name or "attn" in name) and not name.endswith(HELPERS)


def name_of(model: nn.Module) -> str:
    """Return the hub id or folder that a transformers model was loaded from; empty for any other."""
    name = getattr(getattr(model, "config", None), "name_or_path", "")
    return name if isinstance(name, str) else ""


@dataclass(eq=False)
class _ModuleCall:
    module: nn.Module  # the module
    n_items: int  # the first dimension of the tensor that it, or a module inside, was given, if that has more; else 0
    n_before: int  # how many attentions had been met when it was entered
    by_itself: bool = False  # whether one was met that belongs to no attention module inside it


class ModuleStack:
    """The modules whose forward the thread is in, outermost first, and where the innermost is."""

    def __init__(self) -> None:
        self.unseen: dict[str, str] = {}  # place -> class of attention modules inside which none was recorded
        self._n_attentions = 0
        self._stack: list[_ModuleCall] = []
        self._root: nn.Module | None = None
        self._learner: nn.Module | None = None
        self._learned: frozenset[int] = frozenset()
        self._places: dict[nn.Module, str] = {}

    @property
    def modules(self) -> tuple[nn.Module, ...]:
        return tuple(call.module for call in self._stack)

    @property
    def place(self) -> str:
        """The dotted name of the innermost module that the outermost has; empty where there is none."""
        return self._place(len(self._stack))

    def _place(self, depth: int) -> str:
        if self._stack and self._stack[0].module is not self._root:
            self._root = self._stack[0].module
            self._places = {module: _uncompiled(name) for name, module in self._root.named_modules()}
        modules = (call.module for call in reversed(self._stack[:depth]))
        return next((self._places[module] for module in modules if module in self._places), "")

    def name_among(self, modules: Sequence[nn.Module]) -> str:
        """Return place and class of the innermost running module that is one of these; empty where none is."""
        depth = max((place for place, call in enumerate(self._stack, 1) if call.module in modules), default=0)
        if not depth:
            return ""
        place, name = self._place(depth), type(self._stack[depth - 1].module).__name__
        return f"{place} ({name})" if place else name

    @property
    def n_items(self) -> int:
        """How many items the outermost module with a tensor was given; 0 where none was."""
        return next((entered.n_items for entered in self._stack if entered.n_items), 0)

    @property
    def learned(self) -> frozenset[int]:
        """The storages of the parameters of the outermost module."""
        if self._stack and self._stack[0].module is not self._learner:
            self._learner = self._stack[0].module
            self._learned = frozenset(map(storage_of, self._learner.parameters()))
        return self._learned

    @property
    def run(self) -> object:
        """What tells this run of the innermost module from its other ones."""
        return self._stack[-1] if self._stack else None

    def note_attention(self) -> None:
        self._n_attentions += 1
        for call in reversed(self._stack):
            if is_attention(call.module):
                call.by_itself = True
                return

    def enter(self, module: nn.Module, given: Iterable[Any] = ()) -> None:
        n_items = next((len(one) for one in given if is_plain(one) and one.ndim > 1), 0)
        self._stack.append(_ModuleCall(module, n_items, self._n_attentions))
        for call in self._stack:  # torch's hooks tell no keyword arguments
            call.n_items = call.n_items or n_items

    def leave(self, module: nn.Module) -> None:
        if any(call.module is module for call in self._stack):
            while self._stack[-1].module is not module:
                self._stack.pop()
            if is_attention(module):
                self._note_if_unseen(self._stack[-1])
            self._stack.pop()

    def _note_if_unseen(self, call: _ModuleCall) -> None:
        """Note an attention module in which none was recorded, unless that is so of a module inside it."""
        place, name = self._place(len(self._stack)), type(call.module).__name__
        inner = [other for other in self.unseen if other.startswith(f"{place}.")]
        if call.by_itself:  # modules inside it are its parts
            for other in (place, *inner):
                self.unseen.pop(other, None)
        elif call.n_before == self._n_attentions and not inner:
            self.unseen[place] = name


@contextmanager
def track_modules() -> Iterator[ModuleStack]:
    """Keep track of the modules that this thread runs inside the block, by torch's own hooks on all modules."""
    stack, thread = ModuleStack(), threading.get_ident()

    def is_tracked() -> bool:
        here = not torch.compiler.is_dynamo_compiling() and threading.get_ident() == thread
        return here and not computes_gradients()

    def enter(module: nn.Module, given: tuple[Any, ...]) -> None:
        if is_tracked():
            stack.enter(module, given)

    def leave(module: nn.Module, *_: Any) -> None:
        if is_tracked():
            stack.leave(module)

    with register_module_forward_pre_hook(enter), register_module_forward_hook(leave, always_call=True):
        yield stack


Make = Callable[[Order], list[AttentionTrace]]


@dataclass(eq=False)
class Recorded:
    """An attention that was recorded, of which more may become known."""

    name: str
    run: object  # of the module that made the call
    order: Order  # of the axes before its queries, as far as it is known
    make: Make | None  # None = no more will become known
    traces: list[AttentionTrace]  # as it is made: one, or one of each part of the batch
    shown: list[AttentionTrace]  # the same as they are in the recording
    is_folded: bool  # whether the call had no dimension for heads, or one for heads and items together


class Recorder:
    """Makes traces under the name of the module that is running, and notes what cannot be kept."""

    def __init__(self, recording: Recording, stack: ModuleStack, item: Items) -> None:
        self.recording, self.stack, self.builder = recording, stack, TraceBuilder(item)
        self._n_calls: dict[str, int] = {}
        self._faults: dict[str, None] = {}

    @contextmanager
    def unwatched(self, what: str = "") -> Iterator[None]:
        """Run a block for the record alone: no mode and no gradient sees it, and an error becomes a note."""
        try:
            with unseen(), torch.no_grad():
                yield
        except Exception as error:  # whatever is wrong with a record is no fault of the model
            reason = (str(error).strip().splitlines() or [""])[0][:200]
            self.note(f"{what or self.stack.place or 'attention'}: not kept, {type(error).__name__}: {reason}")

    def add(
        self, make: Make, tensor: Any, order: Order, is_folded: bool = False, sides: Sides = Sides()
    ) -> Recorded | None:
        """Record what make returns, of a call with this tensor; a fault becomes a note."""
        self.stack.note_attention()
        place = self.stack.place
        name = place or f"attention.{len(self.recording)}"
        if missing := _why_not_kept(tensor):
            self.note(f"{name}: not kept, {missing}.")
            return None
        with self.unwatched(name), torch.autocast(tensor.device.type, enabled=False):
            make = partial(_changed, sides.told, make)
            traces = make(order)
            self.recording.model = self.recording.model or next(filter(None, map(name_of, self.stack.modules)), "")
            number = self._n_calls[place] = self._n_calls.get(place, 0) + 1
            name = name if number == 1 or not place else f"{place} ({number})"
            shown = [_named(trace, name) for trace in traces]
            self.recording.traces.extend(shown)
            return Recorded(name, self.stack.run, order, make, traces, shown, is_folded)
        return None

    def settle(self, recorded: Recorded, order: Order, *, is_last: bool = False) -> None:
        """Make traces anew where the order of the axes before the queries turns out to be another one."""
        is_known = _sorted(order) == _sorted(recorded.order) and order.is_batch_first and not recorded.is_folded
        if recorded.make is not None and not is_known:
            with self.unwatched(recorded.name), torch.autocast(recorded.traces[0].query.device.type, enabled=False):
                self._exchange(recorded, recorded.make(order))
                recorded.order, recorded.is_folded = order, False
        if is_last:
            recorded.make = None

    def join(self, several: Sequence[Recorded], how: str) -> list[Recorded]:
        """Make one of several that together are the "queries", "heads" or "items" of one call; return what is left.

        Nothing is done where they cannot be that.
        """
        first, *others = several
        with self.unwatched(first.name):
            if how == "items":
                kept = {part.number: part for part in self.builder.parts(usual_order((len(several), 1)))}
                for number, one in enumerate(several):
                    change = partial(_of_part, kept.get(number))
                    one.name, one.make = first.name, one.make and partial(_changed, change, one.make)
                    self._exchange(one, change(one.traces))
                return [several[number] for number in kept]
            for one in several:
                if how == "heads" and one.is_folded:
                    self.settle(one, all_items(one.order))
            if traces := joined([one.traces for one in several], how):
                makes = [one.make for one in several if one.make is not None]
                is_open = len(makes) == len(several)
                first.make = (lambda order: joined([make(order) for make in makes], how)) if is_open else None
                for other in others:
                    self._exchange(other, [])
                self._exchange(first, traces)
                return [first]
        return list(several)

    def _exchange(self, recorded: Recorded, traces: list[AttentionTrace]) -> None:
        every, place = self.recording.traces, self.recording.traces.index(recorded.shown[0])
        shown = [_named(trace, recorded.name) for trace in traces]
        every[place : place + len(recorded.shown)] = shown
        recorded.traces, recorded.shown = traces, shown

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
        if _why_not_kept(query):  # its sizes, too, may stand for any number
            return self.add(lambda _: [], query, Order(()))
        short, n_items = _autocast_type(query), self.stack.n_items
        usual = usual_order(sizes_of(query, key, value), n_items if query.ndim < 4 else 0)

        def make(order: Order) -> list[AttentionTrace]:
            notes = [f"Dropout of {dropout_p:g} was on; these are the weights before it."] if dropout_p else []
            given, mask, causal = [query, key, value], attn_mask, is_causal
            if short is None:
                notes.append(precision_note(query.dtype))
            else:
                given = [part.to(short) for part in given]
                notes.append(f"Under autocast the model computed in {str(short).removeprefix('torch.')}.")
            if isinstance(mask, CausalBias):
                causal = mask.variant == CausalVariant.UPPER_LEFT
                n_queries, n_keys = query.shape[-2], key.shape[-2]
                allowed = query.new_ones(n_queries, n_keys, dtype=torch.bool).tril(n_keys - n_queries)
                mask = None if causal else allowed
            if order is usual and query.ndim == 3 and not order.items and len(query) > 1:
                notes.append(NO_HEADS)
            how: dict[str, Any] = {"scale": scale, "is_causal": causal, "dropout": dropout_p, "mechanism": mechanism}
            how |= {"order": order, "mask": mask, "note": " ".join(filter(None, notes))}
            return [self.builder.trace(*given, part=part, **how) for part in self.builder.parts(order, n_items)]

        return self.add(make, query, usual, query.ndim < 4, sides)

    def note_choice(self) -> None:
        self.stack.note_attention()
        what = "a softmax over options that were learned, such as experts or classes, and not over positions"
        self.note(f"{self.stack.place or 'A product'}: left out, {what}.")

    def note_edges(self, modules: Sequence[nn.Module]) -> None:
        """Note attention over edges, of the innermost module that runs now and was among these."""
        self.stack.note_attention()
        what = "a softmax over the edges of a graph, added up by index, cannot be followed"
        self.note(f"Not seen: {self.stack.name_among(modules) or 'attention'}, {what}.")

    def note(self, text: str) -> None:
        self._faults.setdefault(text)
        self.update_note()

    def update_note(self, *more: str) -> None:
        missed = [f"{place} ({name})" if place else name for place, name in self.stack.unseen.items()]
        more_missed = f" and {len(missed) - MAX_LISTED} more" if len(missed) > MAX_LISTED else ""
        listed = ", ".join(missed[:MAX_LISTED]) + more_missed
        unseen = f"Not seen: {listed}, which ran without any attention that can be followed." if missed else ""
        self.recording.note = " ".join(filter(None, [*self._faults, unseen, *more]))


def _named(trace: AttentionTrace, name: str) -> AttentionTrace:
    """Return a trace under a name, with what it calls itself behind that: the part of the batch."""
    return trace.with_story(name=f"{name} {trace.story.name}".strip())


def _of_part(part: Part | None, traces: list[AttentionTrace]) -> list[AttentionTrace]:
    """Return the traces as those of a part of the batch; none where it is not kept."""
    if part is None:
        return []
    return [with_note(trace.with_story(name=part.name or trace.story.name), part.note) for trace in traces]


def _changed(change: Callable[[list[AttentionTrace]], list[AttentionTrace]], make: Make, order: Order) -> Any:
    return change(make(order))


def _sorted(order: Order) -> list[Piece]:
    """Return heads, then items, those that are more than one."""
    pieces = [piece for piece in order.pieces if piece.n > 1]
    return sorted(pieces, key=lambda piece: piece.is_head)


def _uncompiled(name: str) -> str:
    return ".".join(part for part in name.split(".") if part != "_orig_mod")


def _why_not_kept(tensor: Any) -> str:
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


def _autocast_type(query: Tensor) -> torch.dtype | None:
    """Return in what a call computes under autocast, where that is another type than the query's."""
    if not torch.is_autocast_enabled(query.device.type):
        return None
    short = torch.get_autocast_dtype(query.device.type)
    return short if query.is_floating_point() and query.dtype not in (short, torch.float64) else None
