"""The recorder of a capture: it names traces after the running modules, and notes what cannot be kept; never raises."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention.bias import CausalBias, CausalVariant

from attention_core.attention.capture.trace_builder import TraceBuilder
from attention_core.attention.inside_torch import PRETENDED, computes_gradients, is_transformed, unseen
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


@dataclass
class _ModuleCall:
    """A module whose forward is running."""

    module: nn.Module
    n_items: int  # size of the first dimension of its input, if that has three or more; else 0
    n_before: int  # attentions recorded before it was entered
    by_itself: bool = False  # whether one was recorded that belongs to no attention module inside it


class ModuleStack:
    """The modules whose forward the thread is in, outermost first, and where the innermost is."""

    def __init__(self) -> None:
        self.unseen: dict[str, str] = {}  # place -> class of attention modules inside which none was recorded
        self._n_attentions = 0
        self._stack: list[_ModuleCall] = []
        self._root: nn.Module | None = None
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

    @property
    def n_heads(self) -> int:
        """How many heads the innermost module that says so has; 0 where none does."""
        for call in reversed(self._stack):
            for name in N_HEADS:
                if type(n := getattr(call.module, name, None)) is int:
                    return n
        return 0

    @property
    def n_items(self) -> int:
        """How many items the innermost module with a tensor of three dimensions was given; 0 where none was."""
        return next((call.n_items for call in reversed(self._stack) if call.n_items), 0)

    def note_attention(self) -> None:
        self._n_attentions += 1
        for call in reversed(self._stack):
            if is_attention(call.module):
                call.by_itself = True
                return

    def enter(self, module: nn.Module, given: Any = None) -> None:
        n_items = len(given) if isinstance(given, Tensor) and given.ndim > 2 else 0
        self._stack.append(_ModuleCall(module, n_items, self._n_attentions))

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


_CALL = nn.Module.__call__


class _Thread(threading.local):
    stacks: tuple[ModuleStack, ...] = ()


_thread = _Thread()


def tracked_call(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
    """Call a module and keep track of it; stands in for nn.Module.__call__, since compilers refuse global hooks."""
    if torch.compiler.is_dynamo_compiling() or computes_gradients() or not (stacks := _thread.stacks):
        return _CALL(module, *args, **kwargs)
    for stack in stacks:
        stack.enter(module, *args[:1])
    try:
        return _CALL(module, *args, **kwargs)
    finally:
        for stack in stacks:
            stack.leave(module)


@contextmanager
def track_modules() -> Iterator[ModuleStack]:
    """Keep track of the modules that this thread runs inside the block, while tracked_call is in place."""
    stack = ModuleStack()
    _thread.stacks += (stack,)
    try:
        yield stack
    finally:
        _thread.stacks = tuple(other for other in _thread.stacks if other is not stack)


class Recorder:
    """Makes traces under the name of the module that is running, and notes what cannot be kept."""

    def __init__(self, recording: Recording, stack: ModuleStack, item: int) -> None:
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

    def add(self, make: Callable[[], AttentionTrace], tensor: Any) -> None:
        """Record the trace that make returns for a call with this tensor; an error becomes a note."""
        self.stack.note_attention()
        place = self.stack.place
        name = place or f"attention.{len(self.recording)}"
        if missing := _why_not_kept(tensor):
            self.note(f"{name}: not kept, {missing}.")
            return
        with self.unwatched(name), torch.autocast(tensor.device.type, enabled=False):
            trace = make()
            self.recording.model = self.recording.model or next(filter(None, map(name_of, self.stack.modules)), "")
            number = self._n_calls[place] = self._n_calls.get(place, 0) + 1
            self.recording.traces.append(
                trace.with_story(name=name if number == 1 or not place else f"{place} ({number})")
            )

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
    ) -> None:
        short = None if _why_not_kept(query) else _autocast_type(query)

        def make() -> AttentionTrace:
            notes = [f"Dropout of {dropout_p:g} was on; these are the weights before it."] if dropout_p else []
            given, mask, causal = [query, key, value], attn_mask, is_causal
            if short is not None:
                given = [part.to(short) for part in given]
                notes.append(f"Under autocast the model computed in {str(short).removeprefix('torch.')}.")
            if isinstance(mask, CausalBias):
                causal = mask.variant == CausalVariant.UPPER_LEFT
                n_queries, n_keys = query.shape[-2], key.shape[-2]
                allowed = query.new_ones(n_queries, n_keys, dtype=torch.bool).tril(n_keys - n_queries)
                mask = None if causal else allowed
            return self.builder.trace(
                *given,
                mask=mask,
                scale=scale,
                is_causal=causal,
                dropout=dropout_p,
                mechanism=mechanism,
                note=" ".join(notes),
            )

        self.add(make, query)

    def note(self, text: str) -> None:
        self._faults.setdefault(text)
        self.update_note()

    def update_note(self, *more: str) -> None:
        missed = [f"{place} ({name})" if place else name for place, name in self.stack.unseen.items()]
        unseen = f"Not seen: {_join(missed)}, which ran without any attention that can be followed." if missed else ""
        self.recording.note = " ".join(filter(None, [*self._faults, unseen, *more]))


def _uncompiled(name: str) -> str:
    return ".".join(part for part in name.split(".") if part != "_orig_mod")


def _join(names: list[str]) -> str:
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return ", ".join(names[:MAX_LISTED]) + more


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
