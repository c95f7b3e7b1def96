"""Arrays in .npz files, read without pickle and only as far as asked; a fault is one sentence for people."""

import io
import lzma
import math
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from safetensors import SafetensorError

from attention_core.bounds.limits import ARCHIVE_LIST_BYTES, ARRAY_DIMENSIONS, ARRAY_HEADER_BYTES, TENSOR_BYTES

Source = str | Path | bytes
"""A file's path, or its bytes."""
BROKEN = (
    *(ValueError, TypeError, LookupError, EOFError, OSError, RuntimeError, MemoryError, ArithmeticError, SyntaxError),
    *(AttributeError, SystemError, struct.error, tokenize.TokenError, zipfile.BadZipFile, zlib.error, lzma.LZMAError),
    SafetensorError,
)
"""What the libraries raise over a file of arrays that is damaged."""
MAX_MESSAGE = 1_000


class FileError(ValueError):
    """A file that cannot be used; the message is for people, and no longer than they read."""

    def __init__(self, message: str) -> None:
        super().__init__(message if len(message) <= MAX_MESSAGE else f"{message[:MAX_MESSAGE]}...")


class Entry(NamedTuple):
    """One array of a file, before its numbers are read; a dtype is written as in "float32".

    In n_bytes a dimension of 0 counts as 1, since somebody may walk along the others.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    n_bytes: int


class Npz:
    """An open .npz file: `npz["name"]` reads one array of its entries. What a damaged one raises is among BROKEN."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        members = [member for member in archive.infolist() if member.filename.endswith(".npy")]
        self.entries = {entry.name: entry for entry in map(self._describe, members)}

    def _describe(self, member: zipfile.ZipInfo) -> Entry:
        with self._archive.open(member) as file:
            raw = io.BytesIO(file.read(ARRAY_HEADER_BYTES.maximum))
        old = np.lib.format.read_magic(raw) == (1, 0)
        shape, _, dtype = (np.lib.format.read_array_header_1_0 if old else np.lib.format.read_array_header_2_0)(raw)
        name, itemsize = member.filename[:-4], dtype.itemsize
        n_bytes = math.prod(max(size, 1) for size in shape) * max(itemsize, 1)
        if min(shape, default=0) < 0 or n_bytes >= 2**63 or len(shape) > ARRAY_DIMENSIONS.maximum:
            raise ValueError(f"{name} says that it has a size that no array has")
        if math.prod(shape) * itemsize > member.file_size and not dtype.hasobject:
            raise ValueError(f"{name} is shorter than its description says")
        return Entry(name, dtype.name, shape, n_bytes)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.entries:
            raise KeyError(name)
        with self._archive.open(f"{name}.npy") as raw:
            return np.lib.format.read_array(raw, allow_pickle=False)

    @property
    def n_bytes(self) -> int:
        """What all arrays take in memory."""
        return sum(entry.n_bytes for entry in self.entries.values())

    def check_size(self, max_bytes: int | None, name: str) -> None:
        """Raise a FileError if all arrays take more than this in memory; None = take any."""
        if max_bytes is not None and self.n_bytes > max_bytes:
            raise FileError(
                f"{name} takes {self.n_bytes / 1e6:,.0f} MB of memory, more than the {max_bytes / 1e6:,.0f} MB allowed"
            )


def stream(source: Source) -> BinaryIO:
    """Open a path or bytes for reading."""
    return io.BytesIO(source) if isinstance(source, bytes) else Path(source).open("rb")


@contextmanager
def open_zip(source: Source) -> Iterator[zipfile.ZipFile]:
    """Open an archive whose list of contents is not endless; what a damaged one raises is among BROKEN."""
    with stream(source) as file:
        if not zipfile.is_zipfile(file):
            file.seek(0)
            single = file.read(6) == np.lib.format.MAGIC_PREFIX
            raise ValueError(f"it is {'one array without a name' if single else 'not an archive, or a part of one'}")
        if zipfile._EndRecData(file)[zipfile._ECD_SIZE] > ARCHIVE_LIST_BYTES.maximum:  # type: ignore[attr-defined]
            raise ValueError("it lists more arrays than are read")
        with zipfile.ZipFile(file) as archive:
            if {member.compress_type for member in archive.infolist()} - {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
                raise ValueError("it is compressed as NumPy compresses nothing")  # 377 bytes of bzip2 become 170 MB
            yield archive


@contextmanager
def open_npz(source: Source) -> Iterator[Npz]:
    """Open an .npz file; see Npz for what is raised."""
    with open_zip(source) as archive:
        yield Npz(archive)


@contextmanager
def readable_errors(start: str, fault: type[Exception] = FileError) -> Iterator[None]:
    """Turn what a damaged file raises into one sentence: the start given here and the reason.

    Raises:
        FileNotFoundError: as it comes.
        fault: everything else; one that is raised inside is left as it is.
    """
    try:
        yield
    except (FileNotFoundError, fault):
        raise
    except BROKEN as error:
        message = getattr(error, "strerror", None) or error  # without the path of a file on the server
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(message).strip()
        raise fault(f"{start}: {(reason.splitlines() or [type(error).__name__])[0][:200]}") from error


def read_npz(
    source: Source,
    needed: Sequence[str] = (),
    optional: Sequence[str] | None = None,
    *,
    fault: type[Exception] = FileError,
) -> dict[str, np.ndarray]:
    """Return arrays of an .npz file by their names.

    Args:
        source: a path or the bytes.
        needed: names that it has to have.
        optional: names that are read too if it has them; None = all that it has.
        fault: what is raised, in one sentence: no such file, damaged, with pickled objects, without a needed array,
            or with arrays that take more than TENSOR_BYTES.
    """
    name = "The file" if isinstance(source, bytes) else str(source)
    try:
        with readable_errors(f"{name} is not a readable .npz of plain arrays", fault), open_npz(source) as file:
            missing = [array for array in needed if array not in file.entries]
            if missing:
                raise fault(f"{name} needs {', '.join(needed)}; missing: {', '.join(missing)}.")
            names = [array for array in file.entries if optional is None or array in (*needed, *optional)]
            if (n_bytes := sum(file.entries[array].n_bytes for array in names)) > TENSOR_BYTES.maximum:
                raise fault(f"{name} takes {n_bytes / 1e6:,.0f} MB of memory, more than {TENSOR_BYTES.millions:,} MB.")
            return {array: file[array] for array in names}
    except FileNotFoundError:
        raise fault(f"{name} does not exist: there is no file of that name.") from None
