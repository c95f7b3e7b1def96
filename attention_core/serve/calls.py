"""What a replica does with a call, and what it answers; Ray is not needed for it."""

from typing import Any

import torch
from torch import Tensor

from attention_core.attention.trace import Prediction
from attention_core.concurrency import Lock
from attention_core.log import log
from attention_core.serve.client import OF_MODEL, local_model
from attention_core.serve.wire import function_of, pack, unpack

Call = tuple[str, tuple[Any, ...], dict[str, Any]]
_TURN = Lock("compute")


def of_model(name: str, method: str, *args: Any, **kwargs: Any) -> Any:
    """Return what a method of a model returns; tensors are taken to where the model lies."""
    model = local_model(name)
    device = next(model.parameters()).device
    args = tuple(arg.to(device) if isinstance(arg, Tensor) else arg for arg in args)
    return getattr(model, method)(*args, **kwargs)


def read(body: bytes) -> Call:
    return unpack(body, local_model)


def batch_of(call: Call) -> tuple[str, Tensor] | None:
    """Return the model's name and the batch if a call asks for predictions alone; others cannot share a run.

    A trace is that of a batch's first item, and methods that translate, read or explain take one input: they run one
    after another.
    """
    name, args, kwargs = call
    if name != OF_MODEL or kwargs or args[1] != "__call__" or len(args) != 3 or not isinstance(args[2], Tensor):
        return None
    return args[0], args[2]


def predict(batches: list[tuple[str, Tensor]]) -> list[Prediction | Exception]:
    """Return the prediction of each batch, of equal models and shapes in one run; see batch_of."""
    alike: dict[Any, list[int]] = {}
    for index, (name, batch) in enumerate(batches):
        alike.setdefault((name, batch.shape[1:], batch.dtype), []).append(index)
    answers: dict[int, Prediction | Exception] = {}
    for (name, *_), indices in alike.items():
        inputs = [batches[index][1] for index in indices]
        outcome = run((OF_MODEL, (name, "__call__", torch.cat(inputs)), {}))
        failed = isinstance(outcome, Exception)
        each = [outcome] * len(inputs) if failed else map(Prediction, outcome.logits.split([*map(len, inputs)]))
        answers |= zip(indices, each, strict=True)
    return [answers[index] for index in range(len(batches))]


def run(call: Call) -> Any:
    """Return what a function returns, or the error that it raises; one runs at a time, without gradients of its own."""
    name, args, kwargs = call
    try:
        function = function_of(name)
        with _TURN, torch.inference_mode():
            return function(*args, **kwargs)
    except Exception as error:
        return error


def answer(value: Any) -> bytes | None:
    """Return a call's value for the wire, or the caller's own fault; None for a fault that is none of the caller's."""
    if not isinstance(value, Exception):
        return pack(("returned", value))
    if isinstance(value, ValueError) and type(value).__module__.startswith(("builtins", "attention_core")):
        return pack(("raised", value))
    log.error("A call failed", exc_info=value)
    return None
