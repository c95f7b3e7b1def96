"""Watches every call of torch's functions while a block runs; the package explains how."""

import inspect
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

from attention_core.attention.capture.recorder import UNMET, Recorder, reason_to_skip, track_modules
from attention_core.attention.capture.trace_builder import Items
from attention_core.attention.capture.written_out import WrittenOut
from attention_core.attention.inside_torch import COMPILER, FusedInputs, is_jit_tracing, is_transformed
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
def capture(*, item: Items = 0, tokens: Sequence[str] = (), target_tokens: Sequence[str] = ()) -> Iterator[Recording]:
    """Record every attention inside the block; outputs and random numbers are the same as without.

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

    Yields:
        the recording. Inside the forward of an nn.Module a trace is named after the path of the module that made the
        call, such as "layers.3.self_attn", seen from the module that was called first; elsewhere it is "attention.0",
        "attention.1" and so on.
    """
    recording = Recording()
    try:
        with capture_into(recording, item):
            yield recording
    finally:
        if not recording.traces and (not recording.note or UNMET in recording.note):
            recording.note = f"{NO_ATTENTION} {recording.note}".strip()
        if tokens:
            recording.label(tokens, target_tokens)


@contextmanager
def capture_into(recording: Recording, item: Items = 0, *, written_out: bool = True) -> Iterator[None]:
    """Record the attention inside the block, as capture does; attention that is written out is optional."""
    with _switches_off(), track_modules() as stack:
        recorder = Recorder(recording, stack, item)
        mode = WrittenOut(recorder)
        try:
            with mode if written_out else nullcontext(), _FunctionMode(recorder, mode):
                yield
        finally:
            recorder.update_note()


class _Switches:
    """How many captures are open, in all threads, and what restores torch's switches when the last one is closed.

    While one is open, torch's fast path for encoders is off, and compiled code runs as it is written: compilers refuse
    a thread that is watched, and the operations inside compiled code cannot be seen.
    """

    n_open = 0
    restore = ExitStack()


@contextmanager
def _switches_off() -> Iterator[None]:
    with _SWITCH_LOCK:
        if _Switches.n_open == 0:
            _Switches.restore.callback(
                torch.backends.mha.set_fastpath_enabled, torch.backends.mha.get_fastpath_enabled()
            )
            torch.backends.mha.set_fastpath_enabled(False)
            if COMPILER in sys.modules:
                _Switches.restore.enter_context(torch.compiler.set_stance("force_eager"))
        _Switches.n_open += 1
    try:
        yield
    finally:
        with _SWITCH_LOCK:
            _Switches.n_open -= 1
            if _Switches.n_open == 0:
                _Switches.restore.close()


class _FunctionMode(TorchFunctionMode):
    def __init__(self, recorder: Recorder, written_out: WrittenOut) -> None:
        super().__init__()
        self._recorder = recorder
        self._written_out = written_out

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if torch.compiler.is_dynamo_compiling():
            return func(*args, **kwargs)
        if is_jit_tracing():
            self._recorder.note(NO_JIT_TRACING)
            with self._written_out.ignore_products(*args, *kwargs.values()):
                return func(*args, **kwargs)
        if func is F.linear and len(args) > 1 and self._written_out.is_learned(args[1]):
            with self._written_out.ignore_products(*args, *kwargs.values()):
                result = func(*args, **kwargs)
            with self._recorder.unwatched():
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
            self._recorder.add_fused(query, key, value)
            return
        with self._recorder.unwatched():
            with torch.inference_mode(), FusedInputs() as fused:
                _MULTI_HEAD(**{**arguments, "need_weights": False, "training": False})
            self._recorder.add_fused(
                **fused.inputs,
                dropout_p=arguments["dropout_p"] if arguments["training"] else 0.0,
                mechanism="multi-head attention",
                sides=self._written_out.sources.sides(query, key),
            )
