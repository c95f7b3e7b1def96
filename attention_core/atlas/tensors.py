"""Query, key and value from a visitor's .npz file, read without pickle, as a trace."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import reduce

import numpy as np
import torch
from torch import Tensor

from attention_core.arrays import Entry, FileError, Source, open_npz, open_zip, readable_errors, stream
from attention_core.attention.recording import FORMAT
from attention_core.attention.scores import ScaledDot
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Story
from attention_core.attention.weights import all_finite
from attention_core.bounds.harmless import escape_hidden
from attention_core.bounds.limits import (
    POSITIONS,
    TENSOR_BYTES,
    TENSOR_HEADS,
    TENSOR_LABEL_BYTES,
    TENSOR_LABELS,
)

ROLES, LABELS = ("query", "key", "value"), "labels"
KINDS = ("float16", "bfloat16", "float32", "float64")
MAX_HEADER_BYTES = 2**20  # bytes of the beginning of a recording's description in which its format has to stand
DAMAGED = "is damaged and cannot be read"
SAVING_HINT = "Save query, key and value with np.savez."
MECHANISM = "scaled dot product attention"
PICKLED = f"is a pickle, which is not opened because that can run code. {SAVING_HINT}"


class FileKind(StrEnum):
    RECORDING = "recording"
    TENSORS = "tensors"


def detect_file_kind(source: Source, name: str = "The file") -> FileKind:
    """Return whether a file is a recording of attention_core (load_recording reads it) or a set of tensors.

    Raises:
        FileNotFoundError: no such file.
        FileError: it is neither, with a word on what it is if that is known.
    """
    with stream(source) as file:
        start = file.read(2)
    if start[:1] == b"\x80":
        raise FileError(f"{name} {PICKLED}")
    if start != b"PK":
        raise FileError(f"{name} {'is neither a recording nor a .npz file' if start else 'is empty'}. {SAVING_HINT}")
    with readable_errors(f"{name} {DAMAGED}"), open_zip(source) as archive:
        names = archive.namelist()
        if any(member.endswith("data.pkl") for member in names):
            raise FileError(f"{name} {PICKLED}")
        if "about.npy" not in names:  # or weights of one's own
            has_weights = "tokens.npy" in names and not {"query.npy", "key.npy"} & {*names}
            return FileKind.RECORDING if has_weights else FileKind.TENSORS
        with archive.open("about.npy") as header:
            described = header.read(MAX_HEADER_BYTES).replace(b"\0", b"")
        return FileKind.RECORDING if FORMAT.encode() in described else FileKind.TENSORS


@dataclass(frozen=True, eq=False, repr=False)
class Tensors:
    """Checked tensors of one attention, as trace_of_tensors takes them."""

    query: Tensor  # (n_heads, n_queries, d_k)
    key: Tensor  # (n_heads or a divisor of it, n_keys, d_k)
    value: Tensor | None = None  # (as many heads as the key, n_keys, d_v), or None: weights need none
    mask: Tensor | None = None  # bool, broadcastable to (n_heads, n_queries, n_keys), True = may attend
    labels: tuple[str, ...] | None = None  # one text per position


def read_tensors(source: Source, name: str = "The file", *, max_bytes: int | None = None) -> Tensors:
    """Read the arrays query, key and, if they are there, value, mask and labels; no pickle is opened.

    Args:
        source: a path or the bytes of a .npz file.
        name: what to call the file in messages.
        max_bytes: bound for the tensors together; None = TENSOR_BYTES.

    Raises:
        FileNotFoundError: no such file.
        FileError: a file that is damaged, too large, of another kind or without such arrays, and tensors that do
            not fit together, in words for people.
    """
    max_bytes = TENSOR_BYTES.maximum if max_bytes is None else max_bytes
    if detect_file_kind(source, name) == FileKind.RECORDING:
        raise FileError(f"{name} is a recording of whole layers, not a set of tensors: open it as a recording.")
    with readable_errors(f"{name} {DAMAGED}"), open_npz(source) as file:
        entries = file.entries
        if not {"query", "key"} <= set(entries):
            raise FileError(f"{name} has no arrays that are called query and key. It holds {_listed(entries)}.")
        array_names = [array for array in (*ROLES, "mask") if array in entries]
        n_bytes = sum(entries[array].n_bytes for array in array_names)
        if n_bytes > max_bytes:
            raise FileError(
                f"{name}: {', '.join(map(repr, array_names))} take {n_bytes / 2**20:,.0f} MiB, more than the "
                f"{max_bytes / 2**20:,.0f} MiB allowed. Save fewer heads or positions, or float16 numbers."
            )
        for array in array_names:
            if array in ROLES:
                _check_type(array, entries[array].dtype, f"{name}: ")
        _check_labels(entries, name)
        try:
            _checked({array: _outline(entries[array]) for array in array_names}, None)
            checked = _checked({array: torch.from_numpy(_native(file[array])) for array in array_names}, None)
        except ValueError as error:
            raise FileError(f"{name}: {error}") from None
        labels = tuple(escape_hidden(str(text)) for text in file[LABELS]) if LABELS in entries else None
        return replace(checked, labels=labels)


def _outline(entry: Entry) -> Tensor:
    """Return a tensor of this shape and type, but without numbers."""
    if max(entry.shape, default=0) > POSITIONS.maximum:
        raise ValueError(f"{entry.name} has {max(entry.shape):,} positions, at most {POSITIONS} are read")
    return torch.empty(entry.shape, dtype=getattr(torch, entry.dtype, torch.uint8), device="meta")


def _native(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="), copy=False))


def _check_labels(entries: dict[str, Entry], name: str) -> None:
    if (entry := entries.get(LABELS)) is None:
        return
    if not entry.dtype.startswith("str") or len(entry.shape) != 1:
        raise FileError(f"{name}: {LABELS!r} must be a row of texts, np.array({LABELS}, dtype=str).")
    n_positions = {axis for role in ("query", "key") for axis in entries[role].shape[-2:-1]}
    if entry.shape[0] not in n_positions:
        raise FileError(f"{name}: there are {entry.shape[0]:,} labels, one is needed for each query or each key.")
    if entry.shape[0] > TENSOR_LABELS.maximum or entry.n_bytes > TENSOR_LABEL_BYTES.maximum:
        raise FileError(f"{name}: {LABELS!r} is too long; at most {TENSOR_LABELS} labels are read.")


def trace_of_tensors(
    query: Tensor,
    key: Tensor,
    value: Tensor | None = None,
    *,
    is_causal: bool = False,
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
        scale: factor on the dot products; 1 / sqrt(d_k) if None.
        mask: bool, True = may attend; broadcastable to (n_heads, n_queries, n_keys).
        labels: one text per position, for the queries, the keys, or both where they are as many.
        name: see AttentionTrace.

    Raises:
        ValueError: tensors that do not fit together or hold NaN or infinity, in words for people.
    """
    if scale is not None and not 0 < abs(scale) < float("inf"):
        raise ValueError(f"scale must be a number other than 0, got {scale}")
    tensors = {"query": query, "key": key} | ({} if value is None else {"value": value})
    for role, tensor in tensors.items():
        _check_type(role, str(tensor.dtype).removeprefix("torch."))
    tensors |= {} if mask is None else {"mask": mask}
    checked = _checked(tensors, None if labels is None else tuple(labels))
    query, key, texts = checked.query, checked.key, checked.labels

    def axis(name: str, n: int) -> Axis:
        return Axis("tokens", texts) if texts and len(texts) == n else Axis.numbered(name, n)

    queries, keys = axis("queries", query.shape[1]), axis("keys", key.shape[1])
    note = "" if checked.value is not None else "Without values: the context is unknown."
    return AttentionTrace(
        query=query,
        key=key,
        value=key[..., :0] if checked.value is None else checked.value,
        score=ScaledDot(scale),
        mask=checked.mask,
        is_causal=is_causal,
        story=Story(mechanism=MECHANISM, query_axis=queries, key_axis=keys, name=name, note=note),
    )


def _listed(entries: dict[str, Entry]) -> str:
    listed = [f"{entry.name!r} ({entry.dtype}, {_shape(entry.shape)})" for entry in list(entries.values())[:12]]
    return (", ".join(listed) or "nothing") + (f" and {len(entries) - 12} more" if len(entries) > 12 else "")


def _shape(shape: Sequence[int]) -> str:
    return " x ".join(f"{size:,}" for size in shape) or "a single number"


def _check_type(array: str, dtype: str, begin: str = "") -> None:
    if dtype not in KINDS:
        raise FileError(f"{begin}{array!r} must hold {', '.join(KINDS[:-1])} or {KINDS[-1]} numbers, got {dtype}")


def _checked(arrays: dict[str, Tensor], labels: tuple[str, ...] | None) -> Tensors:
    tensors = {role: _with_heads(role, arrays[role]) for role in ROLES if role in arrays}
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
        if not tensor.is_meta and not all_finite(tensor):
            raise ValueError(f"{role} holds numbers that are NaN or infinite")
    mask = arrays.get("mask")
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
        hint = f"; of a batch of {shape[0]:,}, save one item" if tensor.ndim == 4 else ""
        raise ValueError(f"{role} must be (n, d), (heads, n, d) or (1, heads, n, d), got {_shape(shape)}{hint}")
    if not tensor.numel():
        raise ValueError(f"{role} is empty: {_shape(shape)}")
    if tensor.shape[0] > TENSOR_HEADS.maximum:
        raise ValueError(
            f"{role} has {tensor.shape[0]:,} heads of {tensor.shape[1]:,} positions, at most {TENSOR_HEADS} heads "
            "are taken; if these are (n, heads, d), exchange the first two dimensions"
        )
    return tensor


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
