"""What is in a .npz or safetensors file, read without pickle and only as far as somebody asks.

Source of the formats: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html and
https://huggingface.co/docs/safetensors.
"""

import contextlib
import math
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import safe_open
from torch import Tensor

from attention_core.arrays import Entry, FileError, Npz, Source, in_words, open_npz, open_zip, stream
from attention_core.attention.recording import FORMAT
from attention_core.bounds import SAFETENSORS_HEADER_BYTES, TENSOR_LABEL_BYTES, TENSOR_LABELS
from attention_core.files import read_json

LABELS = ("labels", "tokens", "words", "texts")
"""Names under which a file may keep a text per position."""
MOST_ABOUT = 2**20
"""Bytes of the beginning of a recording's description in which its format has to stand."""
TYPES = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "BOOL": "bool"}
TYPES |= {f"{kind[0].upper()}{bits}": f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}
DAMAGED = "is damaged and cannot be read"
PICKLED = (
    "is a pickle, which is not opened because that can run code. Save the tensors with safetensors.torch.save_file or "
    "np.savez."
)
FOREIGN = {
    b"\x93NUMPY": "is a single array. Save query, key and value together: np.savez(file, query=...).",
    b"\x80": PICKLED,
    b"": "is neither a .npz nor a safetensors file, or is damaged at its beginning.",
}
"""What a file is that begins so, where it is not what is wanted."""


class FileKind(StrEnum):
    """What a file that somebody brings is for."""

    RECORDING = "recording"
    TENSORS = "tensors"


def kind_of_file(source: Source, name: str = "The file") -> FileKind:
    """Return whether a file is a recording of attention_core (load_recording reads it) or a set of tensors.

    Raises:
        FileNotFoundError: no such file.
        FileError: it is neither, with a word on what it is if that can be told.
    """
    start = _start(source)
    if start.startswith(b"PK"):
        with in_words(f"{name} {DAMAGED}"), open_zip(source) as archive:
            names = archive.namelist()
            if any(part.endswith("data.pkl") for part in names):
                raise FileError(f"{name} {PICKLED}")
            if "about.npy" not in names:
                return FileKind.TENSORS
            with archive.open("about.npy") as about:
                described = about.read(MOST_ABOUT).replace(b"\0", b"")
            return FileKind.RECORDING if FORMAT.encode() in described else FileKind.TENSORS
    if len(start) > 8 and start[8:9] == b"{":
        return FileKind.TENSORS
    words = next(words for begin, words in FOREIGN.items() if start.startswith(begin))
    raise FileError(f"{name} {words if start else 'is empty.'}")


def _start(source: Source) -> bytes:
    with stream(source) as file:
        return file.read(16)


@contextmanager
def opened(source: Source, name: str) -> Iterator["Opened"]:
    """Open a set of tensors; every fault of the file becomes a FileError in words for people."""
    if kind_of_file(source, name) == FileKind.RECORDING:
        raise FileError(f"{name} is a recording of whole layers, not a set of tensors: open it as a recording.")
    start, most = _start(source), SAFETENSORS_HEADER_BYTES
    with in_words(f"{name} {DAMAGED}"), contextlib.ExitStack() as stack:
        if start.startswith(b"PK"):
            yield _Npz(stack.enter_context(open_npz(source)), name)
            return
        if int.from_bytes(start[:8], "little") > most.most:
            raise FileError(f"{name} has a header of more than {most} bytes, or is damaged at its beginning.")
        if isinstance(source, bytes):  # the library that reads the format opens files only
            folder = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
            path = Path(folder) / "tensors.safetensors"
            path.write_bytes(source)
            source = path
        yield _Safetensors(stack.enter_context(safe_open(source, framework="pt")))


class _Npz:
    def __init__(self, file: Npz, name: str) -> None:
        self._file, self._name, self.entries = file, name, file.entries

    def tensor(self, name: str) -> Tensor:
        array = self._file[name]
        return torch.from_numpy(np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="), copy=False)))

    def labels(self) -> list[str] | None:
        flat = [entry for entry in self.entries.values() if len(entry.shape) == 1]
        texts = [entry.name for entry in flat if entry.dtype.startswith(("str", "bytes"))]
        named = [name for name in self.entries if name.lower() in LABELS]
        if not named and len(texts) != 1:
            return None
        chosen = (named or texts)[0]
        entry = self.entries[chosen]
        if entry.dtype == "object":
            raise FileError(
                f"{self._name}: {chosen!r} holds Python objects, which are not opened because that can run code. "
                f"Save it as np.array({chosen}, dtype=str)."
            )
        if math.prod(entry.shape) > TENSOR_LABELS.most or entry.n_bytes > TENSOR_LABEL_BYTES.most:
            raise FileError(f"{self._name}: {chosen!r} is too long; at most {TENSOR_LABELS} labels are read.")
        return [text.decode(errors="replace") if isinstance(text, bytes) else str(text) for text in self._file[chosen]]


class _Safetensors:
    def __init__(self, file: Any) -> None:
        self._file = file
        self.entries: dict[str, Entry] = {}
        for name in file.keys():  # noqa: SIM118 (not a mapping)
            part = file.get_slice(name)
            kind, shape = str(part.get_dtype()), tuple(part.get_shape())
            bits = int("".join(filter(str.isdigit, kind.split("_")[0])) or 8)
            self.entries[name] = Entry(name, TYPES.get(kind, kind.lower()), shape, math.prod(shape) * bits // 8)

    def tensor(self, name: str) -> Tensor:
        return self._file.get_tensor(name).clone()

    def labels(self) -> list[str] | None:
        texts = next((text for name, text in (self._file.metadata() or {}).items() if name.lower() in LABELS), None)
        if texts is None:
            return None
        with contextlib.suppress(ValueError):
            labels = read_json(texts)
            if isinstance(labels, list):
                return [str(label) for label in labels]
        return texts.split()


Opened = _Npz | _Safetensors
"""An open file: its entries by name, tensor(name), and labels(), the text per position if it has one."""
