"""Are digits read in photographs of paper? python -m attention_core.evaluate handwriting MODEL [--json --card].

The photographs are made (see attention_core.data.paper), half of them of MNIST's test digits, half of pen paths that no
training saw: plain, ruled and squared paper, six pens, shadows, slant, perspective, blur, noise, JPEG. A control reads
the same digits without paper, and another the photograph that is only shrunk and inverted.
"""

import argparse
import json
from collections import defaultdict
from typing import Any

import numpy as np
import torch
from PIL import Image

from attention_core.data.canvases import ink_picture
from attention_core.data.drawing import SIDE, load_trajectories, prepare
from attention_core.data.handwriting import find_handwriting, shrink, write_on_canvas
from attention_core.data.mnist import load_mnist
from attention_core.data.paper import pen_ink, photograph_ink, scanned_ink
from attention_core.data.scenes import READ_SIZE
from attention_core.data.stroke import N_HELD_OUT
from attention_core.inference.digits import ask
from attention_core.models import load
from attention_core.models.digit_reader import DigitReader
from attention_core.weights import read_card, weights_folder

SEED = 58
MAX_DIGITS = 4  # of a number: more would be small on a sheet
CANVASES = {"pixel-notes": (200, 200), "digit-reader": (144, 576)}
"""The canvas, rows and columns, on which a model's digits are written."""
PICTURES = {"pixel-notes": (SIDE, SIDE), "digit-reader": READ_SIZE}
"""What a model sees of it."""


def handwriting(name: str, data: str | None = None, n: int = 200) -> dict[str, Any]:
    """Return the share of n made photographs that a model reads right, by paper and by pen, and both controls."""
    model, generator = load(name), np.random.default_rng(SEED)
    digits, paths = load_mnist("t10k", data), load_trajectories(data)[-N_HELD_OUT:]
    right: dict[str, list[bool]] = defaultdict(list)
    for index in range(n):
        if index % 2:
            chosen = int(generator.integers(len(paths.labels)))
            text, ink = str(paths.labels[chosen]), pen_ink(paths.points[chosen], generator)
        else:
            n_digits = 1 if name == "pixel-notes" else int(generator.integers(1, MAX_DIGITS + 1))
            rows = generator.integers(len(digits), size=n_digits)
            text, ink = "".join(map(str, digits.labels[rows])), scanned_ink(digits.images[rows], generator)
        photograph = photograph_ink(ink, generator)
        answers = {
            "all": _read_handwriting(model, name, photograph.pixels),
            "without paper": _read_handwriting(model, name, _scan(ink)),
            "only shrunk": _read_picture(model, shrink(photograph.pixels, PICTURES[name])),
        }
        for group, answer in answers.items():
            right[group].append(answer == text)
        for group in (photograph.paper, "pen paths" if index % 2 else "MNIST"):
            right[group].append(answers["all"] == text)
    return {"n": n, **{group: round(float(np.mean(answers)), 4) for group, answers in sorted(right.items())}}


def _scan(ink: Image.Image) -> np.ndarray:
    """Return digits, levels from 0 to 255, in black on white with a margin, uint8 (rows, columns, 3)."""
    return np.repeat(255 - np.pad(np.asarray(ink), 80)[..., None], 3, 2)


def _read_handwriting(model: Any, name: str, pixels: np.ndarray) -> str:
    found = find_handwriting(pixels)
    if found.remark is not None:
        return ""
    canvas = write_on_canvas(found, CANVASES[name])
    picture = prepare(canvas).image if name == "pixel-notes" else ink_picture(canvas, READ_SIZE).picture
    return _read_picture(model, picture)


def _read_picture(model: Any, picture: np.ndarray) -> str:
    with torch.inference_mode():
        image = torch.from_numpy(picture)
        return model.read(image).digits if isinstance(model, DigitReader) else str(ask(model, image).digit)


def main(arguments: list[str]) -> dict[str, Any]:
    """Evaluate as the command line says; --card writes the figures into the model's card."""
    parser = argparse.ArgumentParser(prog="python -m attention_core.evaluate handwriting", description=__doc__)
    parser.add_argument("model", choices=sorted(CANVASES))
    parser.add_argument("--n", type=int, default=200, help="how many photographs")
    parser.add_argument("--data", help="folder of the data sets, else the variable ATTENTION_DATA")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--card", action="store_true", help="write the figures into the model's card")
    options = parser.parse_args(arguments)
    figures = handwriting(options.model, options.data, options.n)
    if options.card:
        card = read_card(options.model) | {"handwriting": figures}
        (weights_folder() / f"{options.model}.json").write_text(json.dumps(card, indent=2) + "\n")
    print(json.dumps(figures) if options.json else "\n".join(f"{key}: {value}" for key, value in figures.items()))
    return figures
