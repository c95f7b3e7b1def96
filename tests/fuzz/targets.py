"""A target per parser: bytes from anybody go in; what comes out is a value, or one of the errors that the parser names.

Whatever else is raised is a fault of ours, and so is an input that takes longer than a second.
"""

import io
import json
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

from attention_core.arrays import FileError
from attention_core.atlas import read_tensors
from attention_core.atlas.matrix import search
from attention_core.attention.recording import FORMAT, load_recording
from attention_core.data.drawing import strokes_of
from attention_core.data.lecture import LectureError, read_lecture
from attention_core.data.pieces import english_words, french_words
from attention_core.data.questions import QuestionError, read_question
from attention_core.files import read_json
from attention_core.hub.catalogue import clean_name, is_path
from attention_core.hub.load import config_of, kind_of
from attention_core.hub.model import ModelError
from attention_core.hub.pictures import read_picture
from attention_core.links import pack, read_session, unpack, unpack_strokes, write_session
from pages.lookup.records import read_queries, read_records
from pages.vectors.problem import linked_tables

UNSOUND = (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError, RuntimeError)
"""What a field of a page takes for "no value", see ui/state.py."""


class Target(NamedTuple):
    """A parser, the errors that it names, and inputs to begin with."""

    read: Callable[[bytes], object]
    errors: tuple[type[Exception], ...]
    seeds: tuple[bytes, ...]


def text_of(data: bytes) -> str:
    """Return bytes as a text of any letters, halves of characters among them."""
    return data.decode("utf-8", errors="surrogateescape")


def npz(**arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


@lru_cache
def _place() -> Path:
    return Path(tempfile.mkdtemp()) / "run.npz"


def _recording(data: bytes) -> object:
    _place().write_bytes(data)
    return load_recording(_place(), max_bytes=10**6)


def _described(data: bytes) -> object:
    """Read a recording whose description is the input, and whose arrays are sound."""
    about = data.decode("utf-8", errors="replace").replace("\0", "")
    return _recording(npz(about=np.array(about), q=np.zeros((1, 2, 2), np.float32)))


def _settings(data: bytes) -> object:
    settings = read_json(data)
    if not isinstance(settings, dict):
        raise ModelError("")
    return kind_of(config_of({"model_type": "bert"} | settings))


def _linked(data: bytes) -> None:
    with suppress(*UNSOUND):
        linked_tables(read_json(data, 10**6))


def _picture(kind: str) -> bytes:
    file = io.BytesIO()
    Image.linear_gradient("L").resize((8, 8)).save(file, kind)
    return file.getvalue()


def _drawing(data: bytes) -> object:
    return strokes_of(read_json(data))


AXIS = {"name": "tokens", "labels": ["a", "b"], "grid": None}
TRACE = {
    **{"name": "layer 0", "mechanism": "attention", "note": "", "dropout": 0.0, "is_causal": True, "scale": 1.0},
    **{"softcap": None, "query_axis": AXIS, "key_axis": AXIS | {"labels": 2}},
    "arrays": {part: {"name": "q", "type": "torch.float32"} for part in ("query", "key", "value")},
}
ABOUT = json.dumps({"format": FORMAT, "note": "", "model": "m", "text": "t", "traces": [TRACE]})
STROKES = [[1, 20, "", 10, 10, 5, 5], [10, 9.5, "#0072b2", 3, 4, 1, 1]]
SHAPE = {"path": [["M", 1, 2], ["Q", 3, 4, 5, 6], ["L", 9, 9]], "stroke": "#15191E", "strokeWidth": 20}
LABELLED = npz(query=np.ones((2, 2)), key=np.ones((2, 2)), mask=np.ones((2, 2), bool), labels=np.array(["a", "b"]))
LECTURE = b"# A\nb\n## C\npage: matter?tab=steps\nminutes: 2\nask: d?\n- [ ] e\n- [x] f\n\ng"

TARGETS = {
    "tensors": Target(lambda data: read_tensors(data, max_bytes=10**6), (FileError,), (LABELLED,)),
    "recording": Target(_recording, (FileError,), (npz(about=np.array(ABOUT), q=np.zeros((1, 2, 2), np.float32)),)),
    "description": Target(_described, (FileError,), (ABOUT.encode(),)),
    "session": Target(read_session, (ValueError,), (write_session("pixels", {"digit": "3", "strokes": ""}),)),
    "link": Target(lambda data: unpack(text_of(data)), (ValueError,), (pack([1, "a", {"b": None}]).encode(),)),
    "strokes": Target(
        lambda data: unpack_strokes(pack(read_json(data))), (ValueError,), (json.dumps(STROKES).encode(),)
    ),
    "linked": Target(_linked, (ValueError,), (b'{"Q": [["1"]], "K": [["2"]], "V": [[3]]}', b'{"X": [["1"]]}')),
    "drawing": Target(_drawing, (ValueError,), (json.dumps({"objects": [SHAPE]}).encode(),)),
    "question": Target(
        lambda data: read_question(text_of(data)), (QuestionError,), (b"what colour is the 7?", b"how many red ones?")
    ),
    "sentence": Target(
        lambda data: (english_words(text_of(data)), french_words(text_of(data))), (), (b"Don't go, l'ami!",)
    ),
    "records": Target(lambda data: read_records(text_of(data)), (), (b"a = 1\nb\t2,5\n",)),
    "queries": Target(lambda data: read_queries(text_of(data)), (), (b"a\n1,5\n",)),
    "search": Target(lambda data: search(["a", "▁b", "Ġc"], text_of(data)), (), (b"ab",)),
    "name": Target(
        lambda data: is_path(clean_name(text_of(data))), (ModelError,), (b"a/b", b"https://huggingface.co/a/b", b"../x")
    ),
    "settings": Target(_settings, (ModelError, ValueError), (b'{"num_hidden_layers": 2, "vocab_size": 9}',)),
    "lecture": Target(lambda data: read_lecture(text_of(data), ("start", "matter")), (LectureError,), (LECTURE,)),
    "picture": Target(read_picture, (FileError,), tuple(map(_picture, ("PNG", "JPEG", "WEBP")))),
}


def run(name: str, data: bytes) -> bool:
    """Give one input to a target; return whether it was taken, or raise an error that the parser does not name."""
    target = TARGETS[name]
    try:
        target.read(data)
    except target.errors:
        return False
    return True
