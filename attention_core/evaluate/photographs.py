"""Whether a question finds its thing in a photograph: attention beside its controls, and its weight beside boxes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from attention_core.arrays import FileError
from attention_core.data.mnist import DataError
from attention_core.data.photographs import Box, load_photographs
from attention_core.device import device_of
from attention_core.faithfulness import subjects
from attention_core.faithfulness.attribution import Subject
from attention_core.hub.pictures import read_picture
from attention_core.inference.photographs import (
    TRAINED_SIDE,
    Controls,
    ask_all,
    ask_photograph,
    class_query,
    controls,
    encode_photograph,
    photo_names,
    scale_photograph,
)
from attention_core.models.photo_network import PhotoNetwork

TEMPERATURES = (1.0, 4.0)


def inside(grid: tuple[int, int], boxes: list[Box]) -> Tensor:
    """Return how much of each region lies in any box, (n_regions,) from 0 to 1; a sixteenth of its side is a point."""
    points = [(torch.arange(16 * n) + 0.5) / (16 * n) for n in grid]
    y, x = points[0][:, None], points[1][None]
    in_each = [(left <= x) & (x < right) & (top <= y) & (y < bottom) for left, top, right, bottom in boxes]
    return F.avg_pool2d(torch.stack(in_each).any(0)[None].float(), 16).flatten()


def photo_figures(model: PhotoNetwork, targets: Mapping[str, tuple[bytes, Mapping[str, list[Box]]]]) -> dict[str, Any]:
    """Return the figures of the card, of photographs by name: the file, and the boxes of each class that is there."""
    names = photo_names()
    rows: dict[float, list[dict[str, Any]]] = {temperature: [] for temperature in TEMPERATURES}
    for name, (content, classes) in targets.items():
        photo, present = encode_photograph(model, content), [names.index(one) for one in classes]
        scores = model.classify.weight @ photo.features.T
        class_weights = {temperature: (scores / temperature).softmax(1).cpu() for temperature in rows}
        asked = {temperature: ask_all(model, photo, temperature) for temperature in rows}
        for row, boxes in zip(present, classes.values(), strict=True):
            query, is_inside = class_query(model, row), inside(photo.grid, boxes)
            for temperature, questions in rows.items():
                weights = ask_photograph(model, photo, query, temperature).weights()[0].cpu()
                all_weights = class_weights[temperature]
                questions.append(
                    {"photograph": name, "class": names[row]}
                    | controls(model, photo, asked[temperature], row, present)._asdict()
                    | {"largest_weight": float(weights.max()), "peak_inside": float(is_inside[weights.argmax()] > 0.5)}
                    | {"weight_inside": float(weights @ is_inside), "area_of_boxes": float(is_inside.mean())}
                    | {"control_peak_inside": float((is_inside[all_weights.argmax(1)] > 0.5).float().mean())}
                    | {"control_weight_inside": float((all_weights @ is_inside).mean())}
                )
    shown = [{k: v if isinstance(v, str) else round(v, 4) for k, v in row.items()} for row in rows[TEMPERATURES[0]]]
    means = {f"temperature_{temperature:g}": _means(questions) for temperature, questions in rows.items()}
    return {"n": len(shown), **means, "questions": shown}


def _means(rows: list[dict[str, Any]]) -> dict[str, float]:
    numbers = [key for key, entry in rows[0].items() if not isinstance(entry, str)]
    means = {key: sum(row[key] for row in rows) / len(rows) for key in numbers}
    likelier = {f"{key}_above_half": sum(row[key] > 0.5 for row in rows) / len(rows) for key in Controls._fields[:4]}
    return {key: round(mean, 4) for key, mean in (means | likelier).items()}


def greyed_photo_subject(model: PhotoNetwork, content: bytes, weights: Tensor, row: int) -> Subject:
    """Return the subject of a class, a question's weights (rows, columns) and a picture's file, which is seen small."""
    photograph = scale_photograph(content, TRAINED_SIDE).to(device_of(model))
    return subjects.greyed_photo_subject(model, photograph, weights.to(photograph), row)


def bundled_figures(model: PhotoNetwork) -> dict[str, Any]:
    """Return the figures over the twenty photographs that come along."""
    return photo_figures(model, {name: (one.content, one.classes) for name, one in load_photographs().items()})


def evaluate_photographs(model: PhotoNetwork, path: str | Path) -> dict[str, Any]:
    """Return how often a photograph is named as its folder is: PATH/CLASS/FILE, CLASS being one of the thousand names.

    The whole photograph is named at the size that the network learned with, without a question.
    """
    names, n_right, files = photo_names(), 0, sorted(Path(path).glob("*/*.*"))
    if not files or any(file.parent.name not in names for file in files):
        raise DataError(f"{path} must have folders that are named as classes, such as 'espresso', with photographs.")
    for file in files:
        try:
            photo = encode_photograph(model, read_picture(file.read_bytes()))
        except FileError as error:
            raise DataError(f"{file}: {error}") from None
        n_right += names[int(model.classify(photo.pooled).argmax())] == file.parent.name
    return {"n": len(files), "accuracy": round(n_right / len(files), 5)}
