"""What a capture writes into: traces and notes, named after the modules that are running; it never raises."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

from attention_core.attention.keeper import Keeper
from attention_core.attention.recording import Recording
from attention_core.attention.trace import AttentionTrace

N_HEADS = ("num_heads", "n_heads", "num_attention_heads", "num_attn_heads", "n_head", "heads", "nhead", "h")
"""What modules call their number of heads."""
HELPERS = ("output", "projection", "norm", "dropout", "mask", "embeddings", "intermediate")
"""Ends of the names of modules that belong to an attention and are none."""
MOST_LISTED = 12


def is_attention(module: nn.Module) -> bool:
    """Return whether a module calls itself attention, and not a part of one."""
    name = type(module).__name__.lower()
    return ("attention" in name or "attn" in name) and not name.endswith(HELPERS)


def name_of(model: nn.Module) -> str:
    """Return the hub id or folder that a transformers model was loaded from; empty for any other."""
    name = getattr(getattr(model, "config", None), "name_or_path", "")
    return name if isinstance(name, str) else ""


@dataclass
class _Entered:
    """A module that the thread is in.

    Attributes:
        module: the module.
        n_before: how many attentions had been met when it was entered.
        by_itself: whether one was met that belongs to no attention module inside it.
    """

    module: nn.Module
    n_before: int
    by_itself: bool = False


class Inside:
    """The modules whose forward the thread is in, outermost first, and where the innermost is.

    Attributes:
        unseen: place -> class of attentions that ran without one being met inside.
    """

    def __init__(self) -> None:
        self.unseen: dict[str, str] = {}
        self._n_met = 0
        self._thread = threading.get_ident()
        self._stack: list[_Entered] = []
        self._root: nn.Module | None = None
        self._places: dict[nn.Module, str] = {}

    @property
    def modules(self) -> tuple[nn.Module, ...]:
        """The modules, outermost first."""
        return tuple(entered.module for entered in self._stack)

    @property
    def place(self) -> str:
        """The dotted name of the innermost module that the outermost has; empty where there is none."""
        return self._place(len(self._stack))

    def _place(self, depth: int) -> str:
        if self._stack and self._stack[0].module is not self._root:
            self._root = self._stack[0].module
            self._places = {module: _uncompiled(name) for name, module in self._root.named_modules()}
        modules = (entered.module for entered in reversed(self._stack[:depth]))
        return next((self._places[module] for module in modules if module in self._places), "")

    @property
    def n_heads(self) -> int:
        """How many heads the innermost module that says so has; 0 where none does."""
        for entered in reversed(self._stack):
            for name in N_HEADS:
                if type(n := getattr(entered.module, name, None)) is int:
                    return n
        return 0

    def met(self) -> None:
        """Count an attention."""
        self._n_met += 1
        for entered in reversed(self._stack):
            if is_attention(entered.module):
                entered.by_itself = True
                return

    def enter(self, module: nn.Module, *_: Any) -> None:
        """Go into a module, if this is the thread."""
        if not torch.compiler.is_dynamo_compiling() and threading.get_ident() == self._thread:
            self._stack.append(_Entered(module, self._n_met))

    def leave(self, module: nn.Module, *_: Any) -> None:
        """Come out of a module, also by an exception."""
        if torch.compiler.is_dynamo_compiling() or threading.get_ident() != self._thread:
            return
        if any(entered.module is module for entered in self._stack):
            while self._stack[-1].module is not module:
                self._stack.pop()
            if is_attention(module):
                self._look_back(self._stack[-1])
            self._stack.pop()

    def _look_back(self, entered: _Entered) -> None:
        """Note an attention in which none was met, unless that can be said of one inside it."""
        place, name = self._place(len(self._stack)), type(entered.module).__name__
        inner = [other for other in self.unseen if other.startswith(f"{place}.")]
        if entered.by_itself:  # what is inside helps it
            for other in (place, *inner):
                self.unseen.pop(other, None)
        elif entered.n_before == self._n_met and not inner:
            self.unseen[place] = name


@contextmanager
def modules_entered() -> Iterator[Inside]:
    """Keep track of the modules that this thread goes through inside the block."""
    inside = Inside()
    entering = register_module_forward_pre_hook(inside.enter)
    leaving = register_module_forward_hook(inside.leave, always_call=True)
    try:
        yield inside
    finally:
        entering.remove()
        leaving.remove()


class Recorder:
    """Makes traces under the name of the module that is running, and notes what cannot be kept.

    Attributes:
        recording: what is written into.
        inside: the modules that are running.
        keeper: makes the traces.
    """

    def __init__(self, recording: Recording, inside: Inside, item: int) -> None:
        self.recording, self.inside, self.keeper = recording, inside, Keeper(item)
        self._n_calls: dict[str, int] = {}
        self._faults: dict[str, None] = {}

    def add(self, make: Callable[[], AttentionTrace], *tensors: Any) -> None:
        """Record what make returns, of a call with these tensors; a fault becomes a note."""
        self.inside.met()
        place = self.inside.place
        name = place or f"attention.{len(self.recording)}"
        if missing := next((_lacks(tensor) for tensor in tensors if _lacks(tensor)), ""):
            self.note(f"{name}: not kept, {missing}.")
            return
        try:
            with torch.no_grad(), torch.autocast(tensors[0].device.type, enabled=False):
                trace = make()
        except Exception as error:  # whatever is wrong with a record is no fault of the model
            reason = (str(error).strip().splitlines() or [""])[0][:200]
            self.note(f"{name}: not kept, {type(error).__name__}: {reason}")
            return
        self.recording.model = self.recording.model or next(filter(None, map(name_of, self.inside.modules)), "")
        number = self._n_calls[place] = self._n_calls.get(place, 0) + 1
        self.recording.traces.append(trace.retold(name=name if number == 1 or not place else f"{place} ({number})"))

    def note(self, text: str) -> None:
        """Tell the reader of the recording."""
        self._faults.setdefault(text)
        self.tell()

    def tell(self, *more: str) -> None:
        """Write all notes into the recording, and what was not seen."""
        missed = [f"{place} ({name})" if place else name for place, name in self.inside.unseen.items()]
        unseen = f"Not seen: {_listed(missed)}, which ran without any attention that can be followed." if missed else ""
        self.recording.note = " ".join(filter(None, [*self._faults, unseen, *more]))


def _uncompiled(name: str) -> str:
    return ".".join(part for part in name.split(".") if part != "_orig_mod")


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return ", ".join(names[:MOST_LISTED]) + more


def _lacks(tensor: Any) -> str:
    """Return why nothing can be kept of a tensor; empty if it can."""
    if tensor.device.type == "meta":
        return "its tensors hold no numbers (meta)"
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        return "its tensors are those of a transform such as vmap"
    if is_symbolic(tensor):
        return f"its tensors hold no numbers ({type(tensor).__name__})"
    if tensor.device.type == "cuda" and torch.cuda.is_current_stream_capturing():
        return "a CUDA graph was being captured"
    return ""


def is_symbolic(tensor: Tensor) -> bool:
    """Return whether a tensor stands for others, as while a model is exported."""
    kind = type(tensor)
    return kind.__module__.startswith(("torch._subclasses", "torch.fx"))
