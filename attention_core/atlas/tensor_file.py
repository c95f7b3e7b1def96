"""What is in a .npz or safetensors file, read without pickle and only as far as somebody asks.

Source of the formats: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html and
https://huggingface.co/docs/safetensors.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from attention_core.attention.recording_file import FORMAT

Source = str | Path | bytes
LABELS = ("labels", "tokens", "words", "texts")
"""Names under which a file may keep a text per position."""
MOST_ABOUT = 2**20
"""Bytes of the beginning of a recording's description in which its format has to stand."""
TYPES = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "BOOL": "bool"}
TYPES |= {f"{kind[0].upper()}{bits}": f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}
BROKEN = (
    *(ValueError, TypeError, KeyError, EOFError, OSError, RuntimeError, NotImplementedError, MemoryError),
    *(zipfile.BadZipFile, zlib.error, SafetensorError),
)
"""What the libraries raise over a file that is damaged."""


class FileError(ValueError):
    """A file that cannot be used; the message is for people."""


class FileKind(StrEnum):
    """What a file that somebody brings is for."""

    RECORDING = "recording"
    TENSORS = "tensors"


class Entry(NamedTuple):
    """One array of a file, before its numbers are read.

    Attributes:
        name: in the file.
        dtype: such as "float32".
        shape: of the array.
        n_bytes: of its numbers.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    n_bytes: int


class Opened(Protocol):
    """An open file."""

    entries: dict[str, Entry]

    def tensor(self, name: str) -> Tensor:
        """Read one array of numbers."""
        ...

    def labels(self) -> list[str] | None:
        """Read the text per position, if the file has one."""
        ...


def kind_of_file(source: Source, name: str = "The file") -> FileKind:
    """Return whether a file is a recording of attention_core (load_recording reads it) or a set of tensors.

    Args:
        source: a path or the bytes.
        name: what to call the file in messages.

    Raises:
        FileNotFoundError: no such file.
        FileError: it is neither, with a word on what it is if that can be told.
    """
    start = source[:16] if isinstance(source, bytes) else _start(Path(source))
    if start.startswith(b"PK"):
        with _explained(name), zipfile.ZipFile(_readable(source)) as archive:
            names = archive.namelist()
            if any(one.endswith("data.pkl") for one in names):
                raise FileError(_pickled(name))
            if "about.npy" not in names:
                return FileKind.TENSORS
            with archive.open("about.npy") as about:
                described = about.read(MOST_ABOUT).replace(b"\0", b"")
            return FileKind.RECORDING if FORMAT.encode() in described else FileKind.TENSORS
    if len(start) > 8 and start[8:9] == b"{":
        return FileKind.TENSORS
    if start.startswith(b"\x93NUMPY"):
        raise FileError(f"{name} is a single array. Save query, key and value together: np.savez(file, query=...).")
    if start.startswith(b"\x80"):
        raise FileError(_pickled(name))
    if not start:
        raise FileError(f"{name} is empty.")
    raise FileError(f"{name} is neither a .npz nor a safetensors file, or is damaged at its beginning.")


@contextmanager
def opened(source: Source, name: str = "The file") -> Iterator[Opened]:
    """Open a set of tensors; every fault of the file becomes a FileError in words for people.

    Args:
        source: a path or the bytes.
        name: what to call the file in messages.

    Raises:
        FileNotFoundError: no such file.
        FileError: a file that is damaged or of another kind.
    """
    if kind_of_file(source, name) == FileKind.RECORDING:
        raise FileError(f"{name} is a recording of whole layers, not a set of tensors: open it as a recording.")
    start = source[:2] if isinstance(source, bytes) else _start(Path(source))[:2]
    with _explained(name), contextlib.ExitStack() as stack:
        if start == b"PK":
            yield _Npz(stack.enter_context(zipfile.ZipFile(_readable(source))), name)
            return
        if isinstance(source, bytes):  # the library that reads the format opens files only
            folder = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
            path = Path(folder) / "tensors.safetensors"
            path.write_bytes(source)
        else:
            path = Path(source)
        yield _Safetensors(stack.enter_context(safe_open(path, framework="pt")))


@contextmanager
def _explained(name: str) -> Iterator[None]:
    try:
        yield
    except (FileNotFoundError, FileError):
        raise
    except BROKEN as error:
        said = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        raise FileError(f"{name} is damaged and cannot be read: {said}") from error


class _Npz:
    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._archive, self._name = archive, name
        self.entries: dict[str, Entry] = {}
        self._types: dict[str, np.dtype] = {}
        for part in archive.infolist():
            if not part.filename.endswith(".npy"):
                continue
            with archive.open(part) as raw:
                version = np.lib.format.read_magic(raw)
                old = version == (1, 0)
                header = np.lib.format.read_array_header_1_0 if old else np.lib.format.read_array_header_2_0
                shape, _, dtype = header(raw)
            entry = Entry(part.filename[:-4], dtype.name, shape, math.prod(shape) * dtype.itemsize)
            if entry.n_bytes > part.file_size and not dtype.hasobject:
                raise ValueError(f"{entry.name} is shorter than its description says")
            self.entries[entry.name], self._types[entry.name] = entry, dtype

    def tensor(self, name: str) -> Tensor:
        array = self._array(name)
        return torch.from_numpy(np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="), copy=False)))

    def labels(self) -> list[str] | None:
        texts = [one for one, dtype in self._types.items() if dtype.kind in "US" and len(self.entries[one].shape) == 1]
        named = [one for one in self._types if one.lower() in LABELS]
        chosen = (named or (texts if len(texts) == 1 else []))[:1]
        if not chosen:
            return None
        if self._types[chosen[0]].hasobject:
            raise FileError(
                f"{self._name}: {chosen[0]!r} holds Python objects, which are not opened because that can run code. "
                f"Save it as np.array({chosen[0]}, dtype=str)."
            )
        return [one.decode(errors="replace") if isinstance(one, bytes) else str(one) for one in self._array(chosen[0])]

    def _array(self, name: str) -> np.ndarray:
        with self._archive.open(f"{name}.npy") as raw:
            return np.lib.format.read_array(raw, allow_pickle=False)


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
            labels = json.loads(texts)
            if isinstance(labels, list):
                return [str(label) for label in labels]
        return texts.split()


def _readable(source: Source) -> io.BytesIO | Path:
    return io.BytesIO(source) if isinstance(source, bytes) else Path(source)


def _start(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(16)


def _pickled(name: str) -> str:
    return (
        f"{name} is a pickle, which is not opened because that can run code. Save the tensors with "
        "safetensors.torch.save_file or np.savez."
    )
