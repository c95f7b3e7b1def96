"""A recording on disk: one .npz file of plain arrays and one JSON text, read without pickle.

Numbers keep their type: NumPy has no bfloat16, so its 16 bits are stored as they are and named in the JSON text. A
mask or bias that several traces share is stored once.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attention_core.arrays import Npz, in_words, open_npz
from attention_core.attention.harmless import visible
from attention_core.attention.scores import Dot, score_from_plain
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Story
from attention_core.bounds import JSON_BYTES
from attention_core.files import read_json, written_whole

FORMAT = "attention-recording 1"
PARTS = ("query", "key", "value", "mask", "bias", "sinks", "normaliser")
NEEDED = ("query", "key", "value")
TOLD = ("note", "model", "text")  # what is told of all traces together
TYPES = {str(dtype): dtype for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.bool)}


def write_traces(traces: Iterable[AttentionTrace], about: Mapping[str, str], path: Path) -> None:
    """Write traces and what is TOLD of them all to one file, which appears under its name only when it is whole.

    A ValueError refuses other scores than (capped) scaled dot products, and edits.
    """
    arrays: dict[str, np.ndarray] = {}
    stored: dict[tuple[Any, ...], str] = {}
    entries = []
    for trace in traces:
        entry = _described(trace)
        for part in PARTS:
            tensor = getattr(trace, part)
            if tensor is not None:
                place = (tensor.data_ptr(), tensor.dtype, tuple(tensor.shape), tensor.stride())
                if place not in stored or tensor.numel() == 0:
                    stored[place] = f"{part}.{len(arrays)}"
                    arrays[stored[place]] = _bits(tensor)
                entry["arrays"][part] = {"name": stored[place], "type": str(tensor.dtype)}
        entries.append(entry)
    arrays["about"] = np.array(json.dumps({"format": FORMAT, **about, "traces": entries}))
    with written_whole(path) as unfinished, unfinished.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def read_traces(path: Path, most_bytes: int | None = None) -> tuple[list[AttentionTrace], dict[str, str]]:
    """Return what write_traces wrote; what a file of an older version does not tell is empty.

    Raises a FileNotFoundError, or a FileError with the reason, also where it takes more than most_bytes of memory.
    """
    with in_words(f"{path.name} is damaged or no recording"), open_npz(path) as file:
        file.check_size(most_bytes, path.name)
        if most_bytes is not None and file.entries["about"].n_bytes > 4 * JSON_BYTES.most:  # four bytes a letter
            raise ValueError("its description is too long")
        about = read_json(str(file["about"]), sys.maxsize)
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            raise ValueError(f"its format is not {FORMAT!r}")
        tensors: dict[tuple[str, str], Tensor] = {}
        traces = [_trace(entry, file, tensors) for entry in about["traces"]]
        return traces, {name: str(about.get(name, "")) for name in TOLD}


def _described(trace: AttentionTrace) -> dict[str, Any]:
    score, story = trace.score.to_plain(), trace.story
    if score.keys() != {"score", "scale", "softcap"} or score["score"] != Dot.name:
        raise ValueError(f"trace {story.name!r}: a recording holds scaled dot products, got {trace.score.name} scores")
    if trace.edits:
        raise ValueError(f"trace {story.name!r} was edited: a recording holds traces as the model made them")
    return {
        **{name: getattr(story, name) for name in ("name", "mechanism", "note")},
        **{name: getattr(trace, name) for name in ("dropout", "is_causal")},
        **{name: score[name] for name in ("scale", "softcap")},
        **{name: _axis_entry(getattr(story, name)) for name in ("query_axis", "key_axis")},
        "arrays": {},
    }


def _axis_entry(axis: Axis) -> dict[str, Any]:
    plain = list(axis.labels) == list(Axis.numbered(axis.name, len(axis)).labels)
    return {"name": axis.name, "labels": len(axis) if plain else list(axis.labels), "grid": axis.grid}


def _axis(entry: dict[str, Any], n: int) -> Axis:
    name, labels, grid = str(entry["name"]), entry["labels"], entry["grid"]
    if isinstance(labels, int) and grid is None:
        return Axis.numbered(name, n)
    texts = Axis.numbered(name, n).labels if isinstance(labels, int) else [visible(str(label)) for label in labels]
    return Axis(name, texts, (int(grid[0]), int(grid[1])) if grid else None)


def _bits(tensor: Tensor) -> np.ndarray:
    tensor = tensor.detach().cpu().contiguous()
    return (tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor).numpy()


def _tensor(array: np.ndarray, dtype: str) -> Tensor:
    if dtype not in TYPES:
        raise ValueError(f"numbers must be one of {', '.join(TYPES)}, got {dtype}")
    stored = torch.from_numpy(array)
    if TYPES[dtype] == torch.bfloat16 and stored.dtype == torch.int16:
        stored = stored.view(torch.bfloat16)
    if stored.dtype != TYPES[dtype]:
        raise ValueError(f"an array should be {dtype}, got {stored.dtype}")
    return stored


def _trace(entry: dict[str, Any], file: Npz, tensors: dict[tuple[str, str], Tensor]) -> AttentionTrace:
    parts: dict[str, Any] = {}
    for part in PARTS:
        if part in entry["arrays"] or part in NEEDED:
            name, dtype = str(entry["arrays"][part]["name"]), str(entry["arrays"][part]["type"])
            if (name, dtype) not in tensors:
                tensors[name, dtype] = _tensor(file[name], dtype)
            parts[part] = tensors[name, dtype]
            if (part == "mask") != (parts[part].dtype == torch.bool):
                raise ValueError(f"{part} of {entry['name']!r} must be {'bool' if part == 'mask' else 'float'}")
    trace = AttentionTrace(
        score=score_from_plain({"score": Dot.name, "scale": entry["scale"], "softcap": entry["softcap"]}),
        is_causal=bool(entry["is_causal"]),
        dropout=float(entry["dropout"]),
        **parts,
        story=Story(
            name=visible(str(entry["name"])),
            mechanism=visible(str(entry["mechanism"])),
            note=visible(str(entry["note"])),
            query_axis=_axis(entry["query_axis"], parts["query"].shape[-2]),
            key_axis=_axis(entry["key_axis"], parts["key"].shape[-2]),
            shows_vectors=parts["key"].shape[-1] > 0,
        ),
    )
    pairs = (trace.n_heads, trace.n_queries, trace.n_keys)
    for part, wanted in (("mask", pairs), ("bias", pairs), ("sinks", pairs[:2]), ("normaliser", pairs[:2])):
        if part in parts:
            parts[part].expand(wanted)  # raises where the shapes do not fit
    if trace.query.shape[-1] != trace.key.shape[-1]:
        raise ValueError(f"query and key need the same d_k, got {trace.query.shape[-1]} and {trace.key.shape[-1]}")
    return trace
