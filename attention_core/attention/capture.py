"""Record the attention of any PyTorch code: `with capture() as p: my_model(x)`, then `p.traces`.

Every call of torch.nn.functional.scaled_dot_product_attention and of nn.MultiheadAttention in the block becomes a
trace, also where a module imported the function by its name. Calls of other threads are left alone. Attention that is
written out in matrix products, compiled or scripted cannot be seen, nor can flex_attention, which compiles itself.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.overrides import TorchFunctionMode

from attention_core.attention.keeper import Keeper
from attention_core.attention.recording import Recording

_SDPA = F.scaled_dot_product_attention
_MULTI_HEAD = F.multi_head_attention_forward
_MULTI_HEAD_SIGNATURE = inspect.signature(_MULTI_HEAD)
NOTHING_SEEN = (
    "No call of scaled_dot_product_attention or of nn.MultiheadAttention was made; attention that is written out in "
    "matrix products, compiled or scripted cannot be seen."
)
_ONE_AT_A_TIME = threading.RLock()
"""For the moments in which a function of torch is exchanged, and for the switch of its fast path."""


@contextmanager
def capture() -> Iterator[Recording]:
    """Record every attention inside the block; outputs and random numbers are the same as without.

    The first item of each batch is kept. The traces are there as soon as they are made, also when the block ends with
    an exception. Torch's fast path for nn.MultiheadAttention and nn.TransformerEncoder, which hides its attention, is
    off inside the block and as it was afterwards.

    Yields:
        the recording. Inside the forward of an nn.Module a trace is named after the place of the module that made the
        call, such as "layers.3.self_attn", seen from the module that was called first; elsewhere "attention.0",
        "attention.1" and so on by its number.
    """
    recording = Recording()
    with _fast_path_off(), modules_entered() as inside, _Watch(recording, inside):
        yield recording
    if not recording.traces:
        recording.note = NOTHING_SEEN


class Inside:
    """The modules whose forward the thread is in, outermost first, and where the innermost is."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._stack: list[nn.Module] = []
        self._root: nn.Module | None = None
        self._places: dict[nn.Module, str] = {}

    @property
    def modules(self) -> tuple[nn.Module, ...]:
        """The modules, outermost first."""
        return tuple(self._stack)

    @property
    def place(self) -> str:
        """The dotted name of the innermost module that the outermost has; empty where there is none."""
        if self._stack and self._stack[0] is not self._root:
            self._root = self._stack[0]
            self._places = {module: name for name, module in self._root.named_modules()}
        return next((self._places[module] for module in reversed(self._stack) if module in self._places), "")

    def enter(self, module: nn.Module, *_: Any) -> None:
        """Go into a module, if this is the thread."""
        if threading.get_ident() == self._thread:
            self._stack.append(module)

    def leave(self, module: nn.Module, *_: Any) -> None:
        """Come out of a module, also by an exception."""
        if threading.get_ident() == self._thread and module in self._stack:
            while self._stack.pop() is not module:
                pass


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


class _FastPath:
    """How many captures are open, in all threads, and what the switch was before the first."""

    n_open = 0
    was_on = True


@contextmanager
def _fast_path_off() -> Iterator[None]:
    with _ONE_AT_A_TIME:
        if _FastPath.n_open == 0:
            _FastPath.was_on = torch.backends.mha.get_fastpath_enabled()
            torch.backends.mha.set_fastpath_enabled(False)
        _FastPath.n_open += 1
    try:
        yield
    finally:
        with _ONE_AT_A_TIME:
            _FastPath.n_open -= 1
            if _FastPath.n_open == 0:
                torch.backends.mha.set_fastpath_enabled(_FastPath.was_on)


class _Watch(TorchFunctionMode):
    """Sees every function of torch that this thread calls."""

    def __init__(self, recording: Recording, inside: Inside) -> None:
        super().__init__()
        self._recording = recording
        self._inside = inside
        self._n_calls: dict[str, int] = {}
        self._keeper = Keeper()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is _MULTI_HEAD:
            return self._multi_head(*args, **kwargs)
        result = func(*args, **kwargs)
        if func is _SDPA:
            self._record(*args, **kwargs)
        return result

    def _record(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
        mechanism: str = "scaled dot product attention",
    ) -> None:
        trace = self._keeper.trace(
            query,
            key,
            value,
            mask=attn_mask,
            scale=scale,
            is_causal=is_causal,
            dropout=dropout_p,
            name=self._name(),
            mechanism=mechanism,
            note=f"Dropout of {dropout_p:g} was on; these are the weights before it." if dropout_p else "",
        )
        self._recording.traces.append(trace)

    def _name(self) -> str:
        place = self._inside.place
        number = self._n_calls[place] = self._n_calls.get(place, 0) + 1
        if not place:
            return f"attention.{len(self._recording)}"
        return place if number == 1 else f"{place} ({number})"

    def _multi_head(self, *args: Any, **kwargs: Any) -> Any:
        """Run nn.MultiheadAttention's function and record the fused attention inside it.

        With need_weights it has none inside: then it runs a second time without, for the record alone.
        """
        call = _MULTI_HEAD_SIGNATURE.bind(*args, **kwargs)
        call.apply_defaults()
        wanted = call.arguments
        dropout = wanted["dropout_p"] if wanted["training"] else 0.0
        if not wanted["need_weights"]:
            with _ONE_AT_A_TIME, self._fused_attention_seen(dropout):
                return _MULTI_HEAD(*args, **kwargs)
        result = _MULTI_HEAD(*args, **kwargs)
        with _ONE_AT_A_TIME, self._fused_attention_seen(dropout), torch.no_grad():
            _MULTI_HEAD(**{**wanted, "need_weights": False, "training": False})
        return result

    @contextmanager
    def _fused_attention_seen(self, dropout: float) -> Iterator[None]:
        thread = threading.get_ident()
        before = F.scaled_dot_product_attention

        def seen(*args: Any, **kwargs: Any) -> Tensor:
            result = before(*args, **kwargs)
            if threading.get_ident() == thread:
                call = dict(zip(("query", "key", "value", "attn_mask", "dropout_p", "is_causal"), args, strict=False))
                self._record(**{**call, **kwargs, "dropout_p": dropout, "mechanism": "multi-head attention"})
            return result

        F.scaled_dot_product_attention = seen
        try:
            yield
        finally:
            F.scaled_dot_product_attention = before
