"""Query, key and value that somebody brings in a .npz or safetensors file, read without pickle, as a trace."""

import contextlib
import io
import math
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import safe_open
from torch import Tensor

from attention_core.arrays import Entry, FileError, Npz, Source, open_npz, open_zip, readable_errors, stream
from attention_core.attention.recording import FORMAT
from attention_core.attention.scores import ScaledDot
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Story
from attention_core.bounds import (
    SAFETENSORS_HEADER_BYTES,
    TENSOR_BYTES,
    TENSOR_HEADS,
    TENSOR_LABEL_BYTES,
    TENSOR_LABELS,
    escape_hidden,
)
from attention_core.device import to_array
from attention_core.files import read_json

LABELS = ("labels", "tokens", "words", "texts")
"""Names under which a file may keep a text per position."""
MAX_ABOUT = 2**20
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
        with readable_errors(f"{name} {DAMAGED}"), open_zip(source) as archive:
            names = archive.namelist()
            if any(part.endswith("data.pkl") for part in names):
                raise FileError(f"{name} {PICKLED}")
            if "about.npy" not in names:
                return FileKind.TENSORS
            with archive.open("about.npy") as about:
                described = about.read(MAX_ABOUT).replace(b"\0", b"")
            return FileKind.RECORDING if FORMAT.encode() in described else FileKind.TENSORS
    if len(start) > 8 and start[8:9] == b"{":
        return FileKind.TENSORS
    words = next(words for begin, words in FOREIGN.items() if start.startswith(begin))
    raise FileError(f"{name} {words if start else 'is empty.'}")


def _start(source: Source) -> bytes:
    with stream(source) as file:
        return file.read(16)


@contextmanager
def open_tensors(source: Source, name: str) -> Iterator["Opened"]:
    """Open a set of tensors; every fault of the file becomes a FileError in words for people."""
    if kind_of_file(source, name) == FileKind.RECORDING:
        raise FileError(f"{name} is a recording of whole layers, not a set of tensors: open it as a recording.")
    start, most = _start(source), SAFETENSORS_HEADER_BYTES
    with readable_errors(f"{name} {DAMAGED}"), contextlib.ExitStack() as stack:
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


KINDS = ("float16", "bfloat16", "float32", "float64")
NOTEBOOK = """import numpy as np, torch
from attention_core.atlas import Atlas, trace_of_tensors

file = np.load("{file}")
trace = trace_of_tensors(torch.from_numpy(file["query"]), torch.from_numpy(file["key"]){more})
atlas = Atlas(trace)
atlas.tile(0, 3, 1).mean      # rows 768 to 1023, columns 256 to 511, exact
for share in atlas.survey():  # one pass over the whole matrix; stop and go on as you like
    print(f"{{share:.0%}}")
atlas.column_sums             # what each key receives in all
"""
ROLES = ("query", "key", "value")
_NAME = re.compile(
    r"(?P<where>(?:.*[./:_\- ])?)(?P<role>q|k|v|query|queries|key|value)"
    r"(?:s|_?(?:proj|states?|layer|heads?|vectors?|out|output))?[._]?(?P<number>\d*)",
    re.IGNORECASE,
)


@dataclass(frozen=True, eq=False, repr=False)
class Tensors:
    """Checked tensors of one attention, as trace_of_tensors takes them.

    Attributes:
        query: (n_heads, n_queries, d_k).
        key: (n_heads or a divisor of it, n_keys, d_k).
        value: (as many heads as the key, n_keys, d_v), or None: weights need none.
        mask: bool, broadcastable to (n_heads, n_queries, n_keys), True = may attend.
        labels: one text per position.
    """

    query: Tensor
    key: Tensor
    value: Tensor | None = None
    mask: Tensor | None = None
    labels: tuple[str, ...] | None = None


def read_tensors(source: Source, name: str = "The file", *, most_bytes: int | None = None) -> Tensors:
    """Read query, key and, if it is there, value, told by their usual names; no pickle is opened.

    Args:
        source: a path or the bytes of a .npz or safetensors file.
        name: what to call the file in messages.
        most_bytes: bound for the tensors together; None = TENSOR_BYTES.

    Raises:
        FileNotFoundError: no such file.
        FileError: a file that is damaged, too large, of another kind or without such arrays, and tensors that do
            not fit together, in words for people.
    """
    most_bytes = TENSOR_BYTES.most if most_bytes is None else most_bytes
    with open_tensors(source, name) as file:
        wanted = _only_set(file.entries, name)
        masks = [array for array in file.entries if array.lower() == "mask"]
        read = wanted | ({"mask": masks[0]} if masks else {})
        n_bytes = sum(file.entries[array].n_bytes for array in read.values())
        if n_bytes > most_bytes:
            raise FileError(
                f"{name}: {', '.join(map(repr, read.values()))} take {n_bytes / 2**20:,.0f} MiB, more than the "
                f"{most_bytes / 2**20:,.0f} MiB allowed. Save fewer heads or positions, or float16 numbers."
            )
        for array in wanted.values():
            _check_type(array, file.entries[array].dtype, f"{name}: ")
        labels = file.labels()
        given = {role: file.tensor(array) for role, array in read.items()}
    try:
        return _checked(given, None if labels is None else tuple(map(escape_hidden, labels)))
    except ValueError as error:
        raise FileError(f"{name}: {error}") from None


def trace_of_tensors(
    query: Tensor,
    key: Tensor,
    value: Tensor | None = None,
    *,
    is_causal: bool = False,
    window: int | None = None,
    scale: float | None = None,
    mask: Tensor | None = None,
    labels: Sequence[str] | None = None,
    name: str = "",
) -> AttentionTrace:
    """Return the trace of scaled dot product attention between tensors.

    Args:
        query: (n_heads, n_queries, d_k), or without the heads, or with a batch of one before them.
        key: the same with n_keys, and perhaps fewer heads, each shared by a group of query heads.
        value: as many heads and positions as the key; None = the trace has weights, and a context of no columns.
        is_causal: query i may attend to keys 0 to i only.
        window: where it is causal, how many keys up to its own a query may attend to; None = all.
        scale: factor on the dot products; 1 / sqrt(d_k) if None.
        mask: bool, True = may attend; broadcastable to (n_heads, n_queries, n_keys).
        labels: one text per position, for the queries, the keys, or both where they are as many.
        name: see AttentionTrace.

    Raises:
        ValueError: tensors that do not fit together or hold NaN or infinity, in words for people.
    """
    if scale is not None and not 0 < abs(scale) < float("inf"):
        raise ValueError(f"scale must be a number other than 0, got {scale}")
    given = {"query": query, "key": key} | ({} if value is None else {"value": value})
    for role, tensor in given.items():
        _check_type(role, str(tensor.dtype).removeprefix("torch."))
    given |= {} if mask is None else {"mask": mask}
    checked = _checked(given, None if labels is None else tuple(labels))
    query, key, texts = checked.query, checked.key, checked.labels

    def axis(name: str, n: int) -> Axis:
        return Axis("tokens", texts) if texts and len(texts) == n else Axis.numbered(name, n)

    return AttentionTrace(
        query=query,
        key=key,
        value=key[..., :0] if checked.value is None else checked.value,
        score=ScaledDot(scale),
        mask=checked.mask,
        is_causal=is_causal,
        window=window,
        story=Story(
            mechanism="scaled dot product attention",
            query_axis=axis("queries", query.shape[1]),
            key_axis=axis("keys", key.shape[1]),
            name=name,
            note="" if checked.value is not None else "Without values: the context is unknown.",
        ),
    )


def _only_set(entries: dict[str, Entry], name: str) -> dict[str, str]:
    """Return the arrays of the one attention that a file holds, by their roles."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for array in entries:
        match = _NAME.fullmatch(array)
        if match:
            role = next(role for role in ROLES if role[0] == match["role"][0].lower())
            found.setdefault((match["where"], match["number"]), {}).setdefault(role, array)
    sets = [arrays for arrays in found.values() if {"query", "key"} <= set(arrays)]
    if not sets:
        raise FileError(
            f"{name} has no arrays that are query and key by their names. It holds {_listed(entries)}. Name them query "
            "and key, and value if there is one."
        )
    if len(sets) > 1:
        queries = ", ".join(repr(arrays["query"]) for arrays in sets[:8]) + (", ..." if len(sets) > 8 else "")
        raise FileError(f"{name} holds the queries of {len(sets)} attentions: {queries}. Save the one to be shown.")
    return sets[0]


def _listed(entries: dict[str, Entry]) -> str:
    if not entries:
        return "nothing"
    some = [f"{entry.name!r} ({entry.dtype}, {_shape(entry.shape)})" for entry in list(entries.values())[:12]]
    return ", ".join(some) + (f" and {len(entries) - 12} more" if len(entries) > 12 else "")


def _shape(shape: Sequence[int]) -> str:
    return " x ".join(f"{size:,}" for size in shape) or "a single number"


def _check_type(array: str, dtype: str, begin: str = "") -> None:
    if dtype in KINDS:
        return
    fault = f"must hold {', '.join(KINDS[:-1])} or {KINDS[-1]} numbers, got {dtype}"
    if dtype == "void16":
        fault = "looks like bfloat16, which .npz files cannot name. Save it as float32, or all tensors as safetensors."
    raise FileError(f"{begin}{array!r} {fault}")


def _checked(given: dict[str, Tensor], labels: tuple[str, ...] | None) -> Tensors:
    tensors = {role: _with_heads(role, given[role]) for role in ROLES if role in given}
    query, key, value = tensors["query"], tensors["key"], tensors.get("value")
    if query.shape[2] != key.shape[2]:
        raise ValueError(f"query and key need vectors of the same length, got {query.shape[2]:,} and {key.shape[2]:,}")
    if query.shape[0] % key.shape[0]:
        raise ValueError(
            f"query has {query.shape[0]} heads and key {key.shape[0]}: they must be as many, or a whole number of "
            "query heads for each key head"
        )
    if value is not None and value.shape[:2] != key.shape[:2]:
        raise ValueError(
            f"key and value need as many heads and positions, got {_shape(key.shape[:2])} and {_shape(value.shape[:2])}"
        )
    for role, tensor in tensors.items():
        _check_finite(role, tensor)
    mask = given.get("mask")
    if mask is not None:
        mask = _fitting_mask(mask, (*query.shape[:2], key.shape[1]))
    if labels is not None and len(labels) not in (query.shape[1], key.shape[1]):
        raise ValueError(f"{len(labels):,} labels for {query.shape[1]:,} queries and {key.shape[1]:,} keys")
    widest = reduce(torch.promote_types, [tensor.dtype for tensor in tensors.values()])
    return Tensors(**{role: tensor.to(widest) for role, tensor in tensors.items()}, mask=mask, labels=labels)


def _with_heads(role: str, tensor: Tensor) -> Tensor:
    shape = tensor.shape
    if tensor.ndim == 4 and shape[0] == 1:
        tensor = tensor[0]
    elif tensor.ndim == 2:
        tensor = tensor[None]
    if tensor.ndim != 3:
        more = f"; of a batch of {shape[0]:,}, save one item" if tensor.ndim == 4 else ""
        raise ValueError(f"{role} must be (n, d), (heads, n, d) or (1, heads, n, d), got {_shape(shape)}{more}")
    if not tensor.numel():
        raise ValueError(f"{role} is empty: {_shape(shape)}")
    if tensor.shape[0] > TENSOR_HEADS.most:
        raise ValueError(
            f"{role} has {tensor.shape[0]:,} heads of {tensor.shape[1]:,} positions, at most {TENSOR_HEADS} heads "
            "are taken; if these are (n, heads, d), exchange the first two dimensions"
        )
    return tensor


def _check_finite(role: str, tensor: Tensor) -> None:
    finite = torch.isfinite(tensor)
    if finite.all():
        return
    n_bad, first = int((~finite).sum()), (~finite).flatten().to(torch.uint8).argmax()
    head, position, dimension = map(int, torch.unravel_index(first, tensor.shape))
    what = "NaN" if tensor[head, position, dimension].isnan() else "infinite"
    raise ValueError(
        f"{role} holds {n_bad:,} number{'s' * (n_bad > 1)} that {'are' if n_bad > 1 else 'is'} NaN or infinite; the "
        f"first is {what}, at head {head}, position {position:,}, dimension {dimension} (all counted from 0)"
    )


def _fitting_mask(mask: Tensor, pairs: tuple[int, int, int]) -> Tensor:
    if mask.dtype != torch.bool:
        raise ValueError(f"mask must be bool, True = may attend, got {str(mask.dtype).removeprefix('torch.')}")
    while mask.ndim > 3 and mask.shape[0] == 1:
        mask = mask[0]
    try:
        mask.expand(pairs)
    except RuntimeError:
        raise ValueError(f"mask must fit {_shape(pairs)} (heads, queries, keys), got {_shape(mask.shape)}") from None
    return mask


def notebook(trace: AttentionTrace, file: str) -> str:
    """Return the code that maps the head in a file, see head_file, as it is mapped here."""
    factor = trace.score.dot_factor(trace.key.shape[-1])
    scale = "" if factor is None else f", scale={factor:.9g}"
    causal = ", is_causal=True" if trace.is_causal else ""
    window = "" if trace.window is None else f", window={trace.window}"
    return NOTEBOOK.format(file=file, more=causal + window + scale)


def has_more(trace: AttentionTrace) -> bool:
    """Return whether a trace's weights need more than queries, keys, scale and causality."""
    parts = (trace.mask, trace.bias, trace.sinks)
    return any(part is not None for part in parts) or trace.score.dot_factor(trace.key.shape[-1]) is None


def head_file(trace: AttentionTrace, head: int = 0) -> bytes:
    """Return a head's queries, keys and labels as a .npz file, which read_tensors reads."""
    file = io.BytesIO()
    query, key = (to_array(tensor.float()) for tensor in (trace.query[head], trace.key_of(head)))
    np.savez(file, query=query, key=key, labels=np.array([str(label) for label in trace.story.key_axis.labels]))
    return file.getvalue()
