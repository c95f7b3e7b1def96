"""A loaded model: its tokenizer, the memory that it needs, its errors in words, its tokens as people read them."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from traceback import walk_tb
from typing import TYPE_CHECKING, Any

import torch

from attention_core.bounds.harmless import escape_hidden
from attention_core.bounds.limits import MODEL_BYTES
from attention_core.device import choose_device, lacks_memory
from attention_core.log import log

if TYPE_CHECKING:
    from transformers import PreTrainedModel


class ModelKind(StrEnum):
    """What a model takes and what it is for."""

    ENCODER = "encoder"
    DECODER = "decoder"
    ENCODER_DECODER = "encoder-decoder"
    VISION = "vision"


class ModelError(ValueError):
    """A model that cannot be had or used; the message is for people."""


def first_line(error: BaseException) -> str:
    """Return what an error of a library says, short enough to stand in a sentence."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]


@dataclass(frozen=True, eq=False)
class Pretrained:
    """A model in evaluation mode and in float32, ready for an input."""

    name: str  # what was asked for: a hub id, a folder, a package
    kind: ModelKind
    model: PreTrainedModel = field(repr=False)
    tokenizer: Any = field(default=None, repr=False)  # text to token numbers; None for vision
    processor: Any = field(default=None, repr=False)  # picture to pixel values; None for text alone
    max_tokens: int | None = None  # positions that the model knows; None = no bound of its own

    @property
    def reads_pictures(self) -> bool:
        """Whether it takes a picture beside a text."""
        return self.tokenizer is not None and self.processor is not None

    def fewer_logits(self, n_positions: int, max_numbers: int) -> dict[str, int]:
        """Return what the model is called with to spare logits of early positions beyond so many numbers in all."""
        vocabulary = getattr(self.model.config.get_text_config(), "vocab_size", 0) or 0
        if n_positions * vocabulary <= max_numbers:
            return {}
        return supported(self.model, logits_to_keep=max(1, max_numbers // vocabulary))

    def without_cache(self) -> dict[str, bool]:
        """Return what the model is called with to keep nothing of a text for the next token."""
        return supported(self.model, use_cache=False)


def supported(model: Any, **settings: Any) -> dict[str, Any]:
    """Return the settings that a model's forward takes."""
    parameters = inspect.signature(model.forward).parameters
    return {name: value for name, value in settings.items() if name in parameters}


OF_TOKENS = "ForTokenClassification"
CLASSIFIERS = ("ForSequenceClassification", "ForImageClassification", "ForImageClassificationWithTeacher", OF_TOKENS)
"""Ends of the names of classes of the library whose logits are of labels."""
MAX_MEGABYTES = "ATTENTION_MOST_MODEL_MB"
"""The variable that bounds what may be downloaded for one model, in millions of bytes."""
BYTES_PER_NUMBER = 4
SHARE_OF_MEMORY = 0.8  # of the free memory, for the weights alone; the rest is for a run


class NoMemory(ModelError):
    """A model, or a run of it, that is too large for the memory that is free now."""


def max_model_bytes() -> int:
    """Return how many bytes of weights may be downloaded for one model."""
    try:
        return int(max(float(os.environ.get(MAX_MEGABYTES, "")), 0) * 1e6)
    except ValueError:
        return MODEL_BYTES.maximum


def free_memory(device: str) -> int | None:
    """Return the bytes that are free for a model on a device, by all limits; None where none is known.

    Those are the device and, since weights are read into the host's memory on their way, the machine and the container.
    """
    limits = _of_device(device), _of_machine(), _of_container()
    return min((free for free in limits if free is not None), default=None)


def n_parameters_of(n_bytes: int, settings: Mapping[str, Any]) -> int:
    """Return how many numbers a model's weights are, from their bytes and what its config.json says of their type."""
    stored = str(settings.get("dtype") or settings.get("torch_dtype") or "float32")
    return n_bytes // (2 if "16" in stored else 1 if "8" in stored else 4)


def refuse_without_memory(name: str, n_parameters: int) -> None:
    """Make sure that a model's weights fit into the memory of the best device, in float32."""
    free, needed = free_memory(choose_device()), n_parameters * BYTES_PER_NUMBER
    if free is not None and needed > SHARE_OF_MEMORY * free:
        raise NoMemory(
            f"The {n_parameters / 1e6:,.1f} million weights of {name} take {in_megabytes(needed)} of memory; "
            f"{in_megabytes(free)} are free."
        )


def in_megabytes(n_bytes: float) -> str:
    """Return a size for people, such as "268 MB" or "1.2 GB"."""
    if n_bytes < 1e9:
        return f"{n_bytes / 1e6:.1f} MB" if n_bytes < 1e7 else f"{n_bytes / 1e6:.0f} MB"
    return f"{n_bytes / 1e9:.1f} GB"


def in_units(n_bytes: float) -> str:
    """Return a size for people to three digits, such as "1.23 kB"."""
    units = {"GB": 1e9, "MB": 1e6, "kB": 1e3, "bytes": 1}
    return next((f"{n_bytes / size:.3g} {unit}" for unit, size in units.items() if n_bytes >= size), "0 bytes")


def _of_device(device: str) -> int | None:
    """Return what a GPU has left; memory that torch holds without using it is free for the next model."""
    if device == "cuda":
        return torch.cuda.mem_get_info()[0] + torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
    if device == "mps":
        return torch.mps.recommended_max_memory() - torch.mps.current_allocated_memory()
    return None


def _of_machine() -> int | None:
    with suppress(OSError, ValueError):
        match = re.search(r"MemAvailable: +(\d+) kB", Path("/proc/meminfo").read_text(encoding="ascii"))
        return int(match[1]) * 1024 if match else None
    return None


def _of_container() -> int | None:
    with suppress(OSError, ValueError):
        total, used = (int(Path(f"/sys/fs/cgroup/memory.{name}").read_text()) for name in ("max", "current"))
        return max(0, total - used)
    return None


PASSING = ("torch", "attention_core.attention.capture.watch")
"""Modules that only pass arguments on: an error in their frames is not theirs."""
CALLED_BY = "torch.nn.modules."  # where torch calls the forward of a model, or finds that it takes no such argument


def predicts_words(pretrained: Pretrained) -> bool:
    """Return whether the model has a head that turns its last layer into probabilities of tokens."""
    return pretrained.tokenizer is not None and pretrained.model.get_output_embeddings() is not None


def class_names(pretrained: Pretrained) -> tuple[str, ...]:
    """Return what a classifier of texts, tokens or pictures calls its classes, by number; () of other models."""
    names: dict[Any, str] = dict(pretrained.model.config.id2label or {})
    if not type(pretrained.model).__name__.endswith(CLASSIFIERS) or len(names) < 2:
        return ()
    return tuple(str(names[number]).replace("LABEL_", "class ").split(",")[0] for number in sorted(names))


def image_token(pretrained: Pretrained) -> int:
    """Return the number of the token that stands for a picture, or a part of one, among those of a text."""
    for name in ("image_token_id", "image_token_index"):
        if (number := getattr(pretrained.model.config, name, None)) is not None:
            return int(number)
    raise ModelError(f"The settings of {pretrained.name} do not say which token stands for a picture.")


@contextmanager
def as_model_errors(pretrained: Pretrained, cannot: str, *expected: type[Exception]) -> Iterator[None]:
    """Make NoMemory or a ModelError, which is logged, of what a run of a model raises inside the block.

    `cannot` is what is tried, such as "be run with this input"; `expected` is what our own code raises on purpose.
    What neither this nor the model's code raises comes through as it is.
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


SPACE = "\u2581"  # how SentencePiece writes a space
BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
ONLY_SPACES = "\u2423"


def readable(tokenizer: Any, ids: Sequence[int]) -> tuple[str, ...]:
    """Return one text per token: what a word begins with keeps its space, as in " car"; "##" goes on with a word.

    A character that takes several tokens, such as an emoji, stands at the first of them; the others say which part
    of it they are.
    """
    pairs = zip(ids, tokenizer.convert_ids_to_tokens(list(ids)), strict=True)
    raw = [f"[{number}]" if token is None else str(token) for number, token in pairs]  # models know more than some
    special = set(tokenizer.all_special_tokens)
    byte_level = _is_byte_level(tokenizer)
    texts: list[str] = []
    pending, start = b"", 0  # bytes of a character that is not complete yet, and the token in which it begins
    for token in raw:
        if token not in special:
            pending += _as_bytes(token, byte_level)
            texts.append("")
            if _goes_on(pending):
                continue
        texts[start:] = _split_character(pending, len(texts) - start)
        texts += [token] if token in special else []
        pending, start = b"", len(texts)
    texts[start:] = _split_character(pending, len(texts) - start)
    first = next((index for index, token in enumerate(raw) if token not in special), None)
    if first is not None and raw[first].startswith(SPACE):
        texts[first] = texts[first].removeprefix(" ") or texts[first]
    return tuple(escape_hidden(text) if text.strip(" ") else ONLY_SPACES * len(text) for text in texts)


def _goes_on(content: bytes) -> bool:
    """Return whether the next token may complete the last character."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return False


def _split_character(content: bytes, n_tokens: int) -> list[str]:
    """Return a text for each of the tokens whose bytes these are; those that never became a character as such."""
    character = content.decode("utf-8", errors="replace")
    return [character, *(f"{character.strip()}\u00b7{number}" for number in range(2, n_tokens + 1))][:n_tokens]


def _as_bytes(token: str, byte_level: bool) -> bytes:
    if byte := BYTE.fullmatch(token):
        return bytes([int(byte[1], 16)])
    if byte_level and all(sign in _bytes_of_signs() for sign in token):
        return bytes(map(_bytes_of_signs().__getitem__, token))
    return token.replace(SPACE, " ").encode("utf-8", errors="replace")


@lru_cache(maxsize=1)
def _bytes_of_signs() -> dict[str, int]:
    """Return GPT-2's table backwards: every byte has a printable sign, 0x20 for example is U+0120."""
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    return {sign: byte for byte, sign in bytes_to_unicode().items()}


def _is_byte_level(tokenizer: Any) -> bool:
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        return hasattr(tokenizer, "byte_encoder")
    return "ByteLevel" in str(backend.decoder) or "ByteLevel" in str(backend.pre_tokenizer)
