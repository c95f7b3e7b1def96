"""Evaluation of the models that look on anyone's canvases: an .npz of drawings with labels, or questions and answers.

Canvases go through the same code as the pages' own.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from attention_core.arrays import read_npz
from attention_core.data import scene_captions as captions
from attention_core.data.canvases import colour_picture, coloured_input, ink_picture
from attention_core.data.drawing import INK_THRESHOLD, ink_of
from attention_core.data.mnist import DataError
from attention_core.data.question_reading import QuestionError, answer_word, read_question, words_of
from attention_core.data.questions import Question, QuestionKind
from attention_core.data.scene_questions import QuestionExample
from attention_core.data.scenes import ASK_SIDE, FIND_SIDE, READ_SIZE
from attention_core.device import device_of
from attention_core.evaluate.vision import judge_answering, judge_finding, judge_reading
from attention_core.models.scene_question import SCORINGS

THINGS = re.compile("|".join(f" {link} " for link in (*captions.RELATIONS, captions.AND)))
"""What stands between the digits of a caption."""


def evaluate_finding(model: nn.Module, path: str | Path) -> dict[str, Any]:
    """Return accuracy, and with boxes the pointing figures, of a feature mask.

    The .npz has `canvases` (n, height, width, 4) uint8 RGBA, square, `labels` (n,), a digit each, and perhaps `boxes`
    (n, 4): top, left, bottom, right in canvas pixels.
    """
    arrays = _read(path, "labels")
    labels = [str(label).strip() for label in arrays["labels"].tolist()]
    if any(len(label) != 1 or label not in "0123456789" for label in labels):
        raise DataError(f"{path}: labels must be digits 0 to 9.")
    size = (FIND_SIDE, FIND_SIDE)
    pictures = _pictures(arrays["canvases"], size, path).to(device_of(model))
    digits = torch.tensor([int(label) for label in labels], device=pictures.device)
    boxes = _boxes(arrays, size, path)
    with torch.inference_mode():
        return judge_finding(model, pictures, digits, None if boxes is None else boxes[:, 0].to(pictures))


def evaluate_reading(model: nn.Module, path: str | Path) -> dict[str, Any]:
    """Return the share of whole numbers read right, by length too, and with boxes the pointing figure.

    The .npz has `canvases` (n, height, 4 * height, 4) uint8 RGBA, `labels` (n,), whole numbers as text, and perhaps
    `boxes` (n, most digits, 4) in reading order, zeros or NaN after the last digit.
    """
    arrays = _read(path, "labels")
    numbers = [str(label).strip() for label in arrays["labels"].tolist()]
    if any(not number.isdecimal() or not number.isascii() for number in numbers):
        raise DataError(f"{path}: labels must be whole numbers as text, such as '1809'.")
    pictures = _pictures(arrays["canvases"], READ_SIZE, path).to(device_of(model))
    most = max(map(len, numbers))
    digits = [[*map(int, number), *[-1] * (most - len(number))] for number in numbers]
    labels = torch.tensor(digits, device=pictures.device)
    boxes = _boxes(arrays, READ_SIZE, path)
    if boxes is not None and boxes.shape[1] < most:
        raise DataError(f"{path}: boxes {tuple(boxes.shape)} are fewer than the {most} digits of the longest number.")
    with torch.inference_mode():
        return judge_reading(model, pictures, labels, None if boxes is None else boxes[:, :most].to(pictures))


def evaluate_answering(model: nn.Module, path: str | Path) -> dict[str, Any]:
    """Return the share of questions answered right, by scoring function and kind, and with boxes the pointing figure.

    The .npz has `canvases` (n, height, width, 4) uint8 RGBA, square, `questions` (n,) and `answers` (n,) as text, and
    perhaps `boxes` (n, 4) or (n, several, 4) of what the answer is about, zeros or NaN for nothing.
    """
    arrays = _read(path, "questions", "answers")
    pictures = _coloured(arrays["canvases"], path).to(device_of(model))
    boxes = _boxes(arrays, (ASK_SIDE, ASK_SIDE), path)
    asked, of_picture, n_refused = [], [], 0
    for number, (text, answer) in enumerate(zip(arrays["questions"].tolist(), arrays["answers"].tolist(), strict=True)):
        try:
            question, words = _understood(str(text))
        except QuestionError:
            n_refused += 1
            continue
        there = () if boxes is None else tuple((boxes[number, :, 2] > boxes[number, :, 0]).nonzero().flatten().tolist())
        asked.append(QuestionExample(question, " ".join(words), answer_word(str(answer)), there))
        of_picture.append(number)
    places = None if boxes is None else boxes.to(pictures)
    share = len(asked) / max(len(pictures), 1)  # a question that cannot be read is answered wrong
    figures: dict[str, Any] = {"n": len(pictures), "refused": n_refused}
    with torch.inference_mode():
        for scoring in SCORINGS:
            judged = judge_answering(model, pictures, asked, of_picture, places, scoring)
            figures[scoring] = judged | {"accuracy": round(judged["accuracy"] * share, 5)}
    best = figures[SCORINGS[0]]
    return {"accuracy": best["accuracy"]} | {k: best[k] for k in ("peak_inside",) if k in best} | figures


def evaluate_telling(model: nn.Module, path: str | Path) -> dict[str, Any]:
    """Return the share of drawings that a caption model tells in the same words, and of those with the same digits.

    The .npz has `canvases` (n, height, width, 4) uint8 RGBA, square, and `captions` (n,) as text, such as "a red 3 left
    of a blue 7, and two green 1s"; commas do not count, nor "an" for "a".
    """
    arrays = _read(path, "captions")
    wanted = [re.sub(r"\ban\b", "a", str(one).replace(",", "").strip().lower()) for one in arrays["captions"].tolist()]
    pictures = _coloured(arrays["canvases"], path).to(device_of(model))
    with torch.inference_mode():
        told = [" ".join(model.explain(picture).words) for picture in pictures]  # type: ignore[operator]
    things = [[sorted(THINGS.split(text)) for text in texts] for texts in (told, wanted)]
    return {
        "n": len(told),
        "accuracy": round(float(np.mean([one == other for one, other in zip(told, wanted, strict=True)])), 5),
        "same_digits": round(float(np.mean([one == other for one, other in zip(*things, strict=True)])), 5),
    }


def _understood(text: str) -> tuple[Question, list[str]]:
    """Return meaning and words as the page has them; what the grammar refuses is left to the model, as "how many"."""
    try:
        reading = read_question(text)
        return reading.question, reading.words
    except QuestionError:
        return Question(QuestionKind.COUNT), words_of(text)


def _read(path: str | Path, *names: str) -> dict[str, np.ndarray]:
    arrays = read_npz(path, ("canvases", *names), ("boxes",), fault=DataError)
    canvases = arrays["canvases"]
    if canvases.ndim != 4 or canvases.shape[-1] != 4 or canvases.dtype != np.uint8 or not len(canvases):
        raise DataError(f"{path}: canvases must be uint8 (n, height, width, 4), got {canvases.dtype} {canvases.shape}.")
    for name in names:
        if arrays[name].shape != canvases.shape[:1]:
            raise DataError(f"{path}: {name} {arrays[name].shape} should be ({len(canvases)},).")
    return arrays


def _checked(prepare: Any, canvas: np.ndarray, size: Any, path: str | Path) -> Any:
    try:
        return prepare(canvas, size)
    except ValueError as error:
        raise DataError(f"{path}: {error}") from None


def _pictures(canvases: np.ndarray, size: tuple[int, int], path: str | Path) -> Tensor:
    return torch.from_numpy(np.stack([_checked(ink_picture, canvas, size, path).picture for canvas in canvases]))


def _coloured(canvases: np.ndarray, path: str | Path) -> Tensor:
    seen = [_checked(colour_picture, canvas, ASK_SIDE, path) for canvas in canvases]
    parts = ([picture.coverage for picture in seen], [picture.colours for picture in seen])
    return coloured_input(*(torch.from_numpy(np.stack(part)) for part in parts))


def _boxes(arrays: dict[str, np.ndarray], size: tuple[int, int], path: str | Path) -> Tensor | None:
    """Return boxes (n, several, 4) in pixels of the model's picture, or None.

    Files also come with left, top, right, bottom: of both orders the one is taken that holds more ink per area.
    """
    if "boxes" not in arrays:
        return None
    boxes, canvases = arrays["boxes"], arrays["canvases"]
    fits = boxes.ndim in (2, 3) and (boxes.shape[0], boxes.shape[-1]) == (len(canvases), 4)
    if boxes.dtype.kind not in "iuf" or not fits:
        raise DataError(f"{path}: boxes must be numbers (n, 4) or (n, several, 4), got {boxes.dtype} {boxes.shape}.")
    boxes = np.nan_to_num(boxes.astype(np.float64)).reshape(len(canvases), -1, 4)
    turned = boxes[..., [1, 0, 3, 2]]
    if _ink_inside(canvases, turned) > 1.05 * _ink_inside(canvases, boxes):
        boxes = turned
    height, width = canvases.shape[1:3]
    return torch.from_numpy(boxes * np.array([size[0] / height, size[1] / width] * 2)).float()


def _ink_inside(canvases: np.ndarray, boxes: np.ndarray) -> float:
    shares = []
    for canvas, several in zip(canvases[:100], boxes[:100], strict=True):
        ink = ink_of(canvas) > INK_THRESHOLD
        for top, left, bottom, right in several:
            part = ink[max(0, round(top)) : round(bottom), max(0, round(left)) : round(right)]
            if bottom > top:
                shares.append(float(part.mean()) if part.size else 0.0)
    return float(np.mean(shares)) if shares else 0.0
