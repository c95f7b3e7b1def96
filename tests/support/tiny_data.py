"""Made-up data sets in the forms of the real ones, so small that a training takes no time."""

import gzip
import struct
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from attention_core.data import drawing as strokes
from attention_core.train import next_word, synthetic, translation, vision

COLOURS = {"red": "rouge", "blue": "bleue", "green": "verte", "white": "blanche", "black": "noire"}
THINGS = {"car": "voiture", "house": "maison", "door": "porte", "chair": "chaise"}


def idx_bytes(array: np.ndarray) -> bytes:
    """Return an array of bytes in the form of MNIST's files."""
    return b"\0\0\x08" + bytes([array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def write_digits(folder: Path) -> None:
    """Write MNIST's four files with 40 + 20 blobs, and 30 pen paths."""
    generator = np.random.default_rng(0)
    for part, n in (("train", 40), ("t10k", 20)):
        images = np.zeros((n, 28, 28), np.uint8)
        images[:, 5:22, 9:18] = generator.integers(0, 256, (n, 17, 9))
        for name, array in (("images-idx3", images), ("labels-idx1", np.arange(n, dtype=np.uint8) % 10)):
            (folder / f"{part}-{name}-ubyte").write_bytes(idx_bytes(array))
    rows = np.concatenate((generator.integers(0, 101, (30, 16)), np.arange(30)[:, None] % 10), 1)
    head = ",".join(f"{letter}{number}" for number in range(8) for letter in "xy") + ",digit\n"
    text = head + "\n".join(",".join(map(str, row)) for row in rows) + "\n"
    (folder / "pendigits").mkdir()
    (folder / "pendigits" / "train.csv.gz").write_bytes(gzip.compress(text.encode()))


SMALL = {
    vision: {"BATCH_SIZE": 6, "N_HELD_OUT": 5, "N_REPLAYS": 1},
    translation: {"BATCH_SIZE": 8, "N_JOINED": 6},
    synthetic: {"HELD_OUT": 50},
    next_word: {"N_HELD_OUT": 4},
}


def shrink(monkeypatch: pytest.MonkeyPatch, folder: Path, settings: dict[ModuleType, dict[str, int]]) -> None:
    """Give modules of training these sizes and those of SMALL; what is kept for the next time is kept in the folder."""
    for sizes in (SMALL, settings):
        for module, of_module in sizes.items():
            for name, value in of_module.items():
                monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(strokes, "FOLDER", folder / "kept")


def pairs() -> str:
    """Return sixty English-French pairs of three to eight words, a line each."""
    lines = [
        f"{start} {colour} {thing}{tail}\t{begin} {thing_fr} {colour_fr}{end}"
        for colour, colour_fr in COLOURS.items()
        for thing, thing_fr in THINGS.items()
        for start, begin, tail, end in (
            ("I see the", "Je vois la", ".", "."),
            ("Where is the", "Où est la", " now?", " maintenant ?"),
            ("The", "La", " is in front of me.", " est devant moi."),
        )
    ]
    return "\n".join(lines) + "\n"


def reviews() -> str:
    """Return 120 judged sentences, a line each; every one has another number in it."""
    return "".join(f"{n % 2}\tfilm {n} is {'fine' if n % 2 else 'dull'} .\n" for n in range(120))


def write_all(folder: Path) -> Path:
    """Write the digits, and the pairs and the reviews where the real ones lie; returns the folder."""
    write_digits(folder)
    for place, text in (("tatoeba/eng-fra.tsv.gz", pairs()), ("polarity/sentences.tsv.gz", reviews())):
        (folder / place).parent.mkdir()
        (folder / place).write_bytes(gzip.compress(text.encode()))
    return folder
