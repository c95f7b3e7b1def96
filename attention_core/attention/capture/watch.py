"""Watches every call of torch's functions while a block runs; the package explains how."""

from __future__ import annotations

import inspect
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode
from torch.utils.hooks import RemovableHandle

from attention_core.attention.capture.recorder import (
    OPEN_STACKS,
    UNMET,
    ModuleStack,
    Reader,
    Recorder,
    reason_to_skip,
    track_modules,
)
from attention_core.attention.capture.trace_builder import Items
from attention_core.attention.capture.written_out import WrittenOut
from attention_core.attention.inside_torch import COMPILER, FusedInputs, is_jit_tracing, is_transformed, pop_modes
from attention_core.attention.recording import Recording
from attention_core.concurrency import Lock

_SDPA = F.scaled_dot_product_attention
_MULTI_HEAD = F.multi_head_attention_forward
_MULTI_HEAD_SIGNATURE = inspect.signature(_MULTI_HEAD)
NO_ATTENTION = (
    "No call of scaled_dot_product_attention or of nn.MultiheadAttention was made, and no softmax met values in a "
    "product of matrices; attention that is written out in another way cannot be seen."
)
NO_JIT_TRACING = "While torch.jit.trace writes down what a model does, nothing is recorded."
_SWITCH_LOCK = Lock("switches of torch")
"""Held while switches of torch are set, or set back."""


@contextmanager
def capture(
    *,
    item: Items = 0,
    tokens: Sequence[str] = (),
    target_tokens: Sequence[str] = (),
    also: Mapping[str, Reader] = {},
) -> Iterator[Recording]:
    """Record every attention inside the block; outputs and random numbers are the same as without.

    Other threads are left alone, and so are other tasks of asyncio, but those that the block starts.

    One item of each batch is recorded, or all. Each trace is in the recording as soon as its call returns, and stays if
    the block ends with an exception. Inside the block torch's fast path for nn.MultiheadAttention and
    nn.TransformerEncoder is off, since it hides its attention, and compiled modules run as they are written. The note
    of the recording lists calls that could not be recorded, and modules of attention in which none was seen.

    To know which module makes a call, the block sets torch's hooks of all modules. A call of a module takes a few
    microseconds longer with them; in other threads they do nothing. With such hooks torch warns when a compiled module
    is called, and refuses torch.export.export(strict=True). A CausalBias, torch's own causal mask, has to be made
    before the block: torch cannot make one while a TorchDispatchMode is on.

    Args:
        item: the item of the batch to record, from 0, of its windows the first; "all" records every item and every
            window as a trace of its own, such as "layers.0 (item 1, window 3)".
        tokens: labels of the input's positions; when the block ends, all axes of their length get them.
        target_tokens: those of a decoder beside an encoder.
        also: weights that cannot be seen, by the path of the module that puts them out:
            {"pool": lambda module, output: output[1]}. They are (batch, n_heads, n_queries, n_keys), of one head
            (batch, n_queries, n_keys), of one query too (batch, n_keys).

    Yields:
        the recording. Inside the forward of an nn.Module a trace is named after the path of the module that made the
        call, such as "layers.3.self_attn", seen from the module that was called first; elsewhere it is "attention.0",
        "attention.1" and so on.
    """
    recording = Recording()
    try:
        with capture_into(recording, item, also=also):
            yield recording
    finally:
        if not recording.traces and (not recording.note or UNMET in recording.note):
            recording.note = f"{NO_ATTENTION} {recording.note}".strip()
        if tokens:
            recording.label(tokens, target_tokens)


@contextmanager
def capture_into(
    recording: Recording, item: Items = 0, *, written_out: bool = True, also: Mapping[str, Reader] = {}
) -> Iterator[None]:
    """Record the attention inside the block, as capture does; attention that is written out is optional."""
    watch = _Watch(Recorder(recording, ModuleStack(), item, also))
    try:
        watch.open(written_out)
        yield
    finally:
        try:
            watch.close()
        finally:
            watch.close()  # once more, should Ctrl-C have come before it


class _Watch:
    """A capture that is open: its modes on the stacks of its thread, and its hooks.

    Captures may be closed in any order, also in another thread: one that is closed records nothing, and its modes go as
    soon as they lie on top of their thread's. While one is open, torch's fast path for encoders is off, and compiled
    code runs as it is written: compilers refuse a thread that is watched, and the operations inside compiled code
    cannot be seen.
    """

    opened: ClassVar[list[_Watch]] = []  # of all threads
    restore = ExitStack()  # sets torch's switches back when the last one is closed

    def __init__(self, recorder: Recorder) -> None:
        self.recorder, self.stack = recorder, recorder.stack
        self.hooks: list[RemovableHandle] = []

    def open(self, written_out: bool) -> None:
        with _uninterrupted():
            with _SWITCH_LOCK:
                if not self.opened:
                    self._switch_off()
                self.opened.append(self)
            self.hooks += track_modules(self.stack, self.recorder.read)
            mode = WrittenOut(self.recorder)
            for each in (mode, _FunctionMode(self.recorder, mode))[not written_out :]:
                each.__enter__()
            OPEN_STACKS.set(OPEN_STACKS.get() | {self.stack})

    def _switch_off(self) -> None:
        fastpath = torch.backends.mha.get_fastpath_enabled()
        self.restore.callback(torch.backends.mha.set_fastpath_enabled, fastpath)
        torch.backends.mha.set_fastpath_enabled(False)
        if COMPILER in sys.modules:
            self.restore.enter_context(torch.compiler.set_stance("force_eager"))

    def close(self) -> None:
        """Close the capture, unless it is closed."""
        with _uninterrupted():
            self.stack.is_open = False
            OPEN_STACKS.set(OPEN_STACKS.get() - {self.stack})
            pop_modes(lambda mode: isinstance(mode, WrittenOut | _FunctionMode) and not mode.recorder.stack.is_open)
            self.recorder.update_note()
            with _SWITCH_LOCK:
                self._leave()

    def _leave(self) -> None:
        for hook in self.hooks:
            hook.remove()
        if self in self.opened:
            self.opened.remove(self)
            if not self.opened:
                self.restore.close()

    @classmethod
    def after_fork(cls) -> None:
        """Leave what other threads had opened, of which a new process has none."""
        global _SWITCH_LOCK
        _SWITCH_LOCK = Lock("switches of torch")  # another thread may have held it
        for watch in [watch for watch in cls.opened if watch.stack.thread != threading.get_ident()]:
            watch.stack.is_open = False
            watch._leave()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_Watch.after_fork)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait until the end of a block that it would leave half done."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    received: list[Any] = []
    signal.signal(signal.SIGINT, lambda *arguments: received.append(arguments))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if received:
            handler(*received[0])


class _FunctionMode(TorchFunctionMode):
    def __init__(self, recorder: Recorder, written_out: WrittenOut) -> None:
        super().__init__()
        self.recorder = recorder
        self._written_out = written_out

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if torch.compiler.is_dynamo_compiling() or not self.recorder.stack.is_watching:
            return func(*args, **kwargs)
        if is_jit_tracing():
            self.recorder.note(NO_JIT_TRACING)
            with self._written_out.ignore_products(*args, *kwargs.values()):
                return func(*args, **kwargs)
        if func is F.linear and len(args) > 1 and self._written_out.is_learned(args[1]):
            with self._written_out.ignore_products(*args, *kwargs.values()):
                result = func(*args, **kwargs)
            with self.recorder.unwatched():
                self._written_out.remember_linear(args[0], result)
            return result
        if func is F.dropout or func is torch.dropout:
            with self._written_out.mark_dropout(*args, **kwargs):
                return func(*args, **kwargs)
        # under a transform such as vmap, attention is recorded from its single operations
        if (func is not _SDPA and func is not _MULTI_HEAD) or any(map(is_transformed, (*args, *kwargs.values()))):
            return func(*args, **kwargs)
        with self._written_out.ignore_products(*args, *kwargs.values()):
            output = func(*args, **kwargs)
        if func is _MULTI_HEAD:
            self._record_multi_head(*args, **kwargs)
        else:
            self._written_out.on_fused(output, *args, **kwargs)
        return output

    def _record_multi_head(self, *args: Any, **kwargs: Any) -> None:
        """Run the function of nn.MultiheadAttention a second time, only to record it.

        The second run has no dropout and returns no weights, so that its attention is fused, and is in inference mode,
        where a TorchDispatchMode sees fused attention as one operation.
        """
        call = _MULTI_HEAD_SIGNATURE.bind(*args, **kwargs)
        call.apply_defaults()
        arguments = call.arguments
        query, key, value = (arguments[name] for name in ("query", "key", "value"))
        if reason_to_skip(query):  # which the recorder notes
            self.recorder.add_fused(query, key, value)
            return
        with self.recorder.unwatched():
            with torch.inference_mode(), FusedInputs() as fused:
                _MULTI_HEAD(**{**arguments, "need_weights": False, "training": False})
            self.recorder.add_fused(
                **fused.inputs,
                dropout_p=arguments["dropout_p"] if arguments["training"] else 0.0,
                mechanism="multi-head attention",
                sides=self._written_out.sources.sides(query, key),
            )
