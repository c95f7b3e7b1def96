"""What fails while a model runs, put into words where the model is at fault; faults of our own stay what they are."""

from collections.abc import Iterator
from contextlib import contextmanager
from traceback import walk_tb

from attention_core.device import lacks_memory
from attention_core.hub.model import ModelError, Pretrained, first_line
from attention_core.hub.room import NoMemory
from attention_core.log import log

PASSING = ("torch", "attention_core.attention.capture.watch")
"""Modules that pass on what they are given: their frames do not tell whose fault it is."""
CALLED_BY = "torch.nn.modules."
"""Where torch calls the forward of a model, or finds that it takes no such argument."""


@contextmanager
def worded(pretrained: Pretrained, cannot: str, *expected: type[Exception]) -> Iterator[None]:
    """Put what a run of a model raises inside the block into words.

    `cannot` is what is tried, such as "be run with this input"; `expected` is what our own code raises on purpose.

    Raises:
        NoMemory: the input is too long for the device.
        ModelError: the model's code fails, which is logged, or what is expected. All else comes through as it is.
    """
    try:
        yield
    except Exception as error:
        if lacks_memory(error):
            raise NoMemory("The input is too long for the memory of this device. Shorten it.") from error
        if not isinstance(error, expected) and not raised_by_model(error):
            raise
        log.warning("%s cannot %s", pretrained.name, cannot, exc_info=True)
        raise ModelError(f"{pretrained.name} cannot {cannot}: {first_line(error)}") from error


@contextmanager
def no_panic(cannot: str) -> Iterator[None]:
    """Turn a panic of the tokenizers' library, which is no Exception, into a ModelError that begins so."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise ModelError(f"{cannot}: {first_line(error)}") from error


def raised_by_model(error: BaseException) -> bool:
    """Return whether an error comes from a model's code, and not from ours that runs it and that it calls.

    The innermost frame tells, except those of torch's functions and of capture, which both pass through.
    """
    names = [frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__)]
    telling = [name for name in names if name.startswith(CALLED_BY) or not name.startswith(PASSING)]
    return bool(telling) and not telling[-1].startswith("attention_core.")
