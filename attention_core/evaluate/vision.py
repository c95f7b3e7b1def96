"""Evaluation of the models that look: is the answer right, and does the map point to where it stands?

On scenes composed at random, and on anyone's canvases, which go through the same code as the pages' own: an .npz of
drawings with labels, or questions and answers.
"""

import random
import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from operator import eq
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_core.arrays import read_npz
from attention_core.attention.edits import UNIFORM, Edits
from attention_core.attention.trace import spans
from attention_core.data import questions as ask
from attention_core.data import scene_captions as captions
from attention_core.data import scenes as draw
from attention_core.data.canvases import colour_picture, coloured_input, ink_picture
from attention_core.data.mnist import DataError
from attention_core.data.questions import word_ids_of
from attention_core.data.scene_questions import TWO_STEPS, QuestionExample, items_of, random_question
from attention_core.device import device_of
from attention_core.models.scene_question import SCORINGS

NOTHING_NEAR = "nothing two steps away"
QuestionSet = tuple[Tensor, list[QuestionExample], list[int], Tensor]
"""Pictures, questions, each one's picture, and the boxes of all digits."""
BATCH = 100
MNIST_SIZE = (20.0, 20.0)  # pixels of the longer side of MNIST's digits, as cluttered translated MNIST has them


def mass_inside(weights: Tensor, boxes: Tensor, size: Sequence[int]) -> Tensor:
    """Return the share (n,) of maps (n, rows, columns) inside boxes, each region counted by the part of it inside.

    Boxes are (n, 4), top, left, bottom, right, and size is height and width of the picture, in pixels.
    """
    return (weights * overlap(boxes, (weights.shape[1], weights.shape[2]), size)).sum((1, 2))


def overlap(boxes: Tensor, grid: tuple[int, int], size: Sequence[int]) -> Tensor:
    """Return the part of each region of a grid (rows, columns) inside a box (see mass_inside), (n, rows, columns)."""
    rows = _overlap(boxes[:, 0], boxes[:, 2], grid[0], size[0] / grid[0])
    columns = _overlap(boxes[:, 1], boxes[:, 3], grid[1], size[1] / grid[1])
    return rows[:, :, None] * columns[:, None]


def _overlap(first: Tensor, last: Tensor, n: int, width: float) -> Tensor:
    edges = torch.arange(n, device=first.device) * width
    return (last[:, None].minimum(edges + width) - first[:, None].maximum(edges)).clamp(min=0) / width


def peak_inside(weights: Tensor, boxes: Tensor, size: Sequence[int]) -> Tensor:
    """Return whether (n,) the peak of each map (n, rows, columns) lies in its box, see mass_inside: the pointing game.

    Source: Zhang et al. 2016, "Top-down neural attention by excitation backprop", section 4.2, without its tolerance of
    15 pixels.
    """
    rows, columns = peak_of(weights)
    row, column = rows * (size[0] / weights.shape[1]), columns * (size[1] / weights.shape[2])
    inside = (row >= boxes[:, 0]) & (row <= boxes[:, 2])
    return inside & (column >= boxes[:, 1]) & (column <= boxes[:, 3])


def peak_of(weights: Tensor) -> tuple[Tensor, Tensor]:
    """Return row and column (n,) of the peaks of maps (n, rows, columns), in regions; 0.5 = middle of the first.

    Each is placed between regions by its neighbours: the centre of mass of the 3 x 3 regions around it.
    """
    largest = weights.flatten(1).argmax(1)
    index = torch.arange(len(weights), device=weights.device)
    row, column = largest // weights.shape[2], largest % weights.shape[2]
    around = F.pad(weights, (1, 1, 1, 1)).unfold(1, 3, 1).unfold(2, 3, 1)[index, row, column]
    share = around / around.sum((1, 2), keepdim=True)
    step = torch.tensor([-1.0, 0.0, 1.0], device=weights.device)
    return row + 0.5 + (share.sum(2) * step).sum(1), column + 0.5 + (share.sum(1) * step).sum(1)


def judge_finding(model: nn.Module, pictures: Tensor, labels: Tensor, boxes: Tensor | None) -> dict[str, Any]:
    """Return accuracy, and with boxes (n, 4) in pixels of pictures (n, 60, 60) the share of mask and peaks inside."""
    right, mass, peak = [], [], []
    for batch in spans(0, len(pictures), BATCH):
        output = model(pictures[batch])
        right.append(output.logits.argmax(1) == labels[batch])
        if boxes is not None:
            maps = output.weights[:, 0].unflatten(-1, model.grid)
            mass.append(mass_inside(maps, boxes[batch], pictures.shape[-2:]))
            peak.append(peak_inside(maps, boxes[batch], pictures.shape[-2:]))
    figures = {"n": len(pictures), "accuracy": _mean(right)}
    if boxes is not None:
        figures |= {"mask_inside": _mean(mass), "peak_inside": _mean(peak)}
    return figures


def find_figures(model: nn.Module, mnist: draw.Glyphs, strokes: draw.Glyphs, device: str) -> dict[str, Any]:
    """Return the figures of the card of a feature mask, on scenes of test digits and of held-out strokes."""

    def scenes_of(glyphs: draw.Glyphs, seed: int, n: int, **options: Any) -> dict[str, Any]:
        scenes = draw.find_scenes(glyphs, n, torch.Generator().manual_seed(seed), **options)
        pictures, labels, boxes = (tensor.to(device) for tensor in scenes)
        return judge_finding(model, pictures, labels[:, 0], boxes[:, 0])

    cluttered = scenes_of(mnist, 11, 10_000, sizes=MNIST_SIZE, n_pieces=(8, 8))
    return {
        "cluttered_translated_mnist_error": round(1 - cluttered["accuracy"], 5),
        "cluttered_translated_mnist": cluttered,
        "any_size": scenes_of(mnist, 12, 3000),
        "held_out_strokes": scenes_of(strokes, 13, 3000),
    }


def judge_reading(model: nn.Module, pictures: Tensor, labels: Tensor, boxes: Tensor | None) -> dict[str, Any]:
    """Return the share of whole numbers read right, by length too, and with boxes how often the map points right.

    Pictures are (n, 48, 192), on the model's device; labels (n, most digits), -1 after the last; boxes in their pixels.
    """
    counts = (labels >= 0).sum(1)
    right, peak = [], []
    for batch in spans(0, len(pictures), BATCH):
        output = model(pictures[batch])
        right.append(numbers_right(output.logits.argmax(-1), labels[batch]))
        if boxes is not None:
            maps = output.weights.unflatten(-1, model.grid)
            for look in range(labels.shape[1]):
                is_digit = labels[batch][:, look] >= 0
                if is_digit.any():
                    peak.append(peak_inside(maps[is_digit, look], boxes[batch][is_digit, look], pictures.shape[-2:]))
    every = torch.cat(right)
    figures: dict[str, Any] = {"n": len(pictures), "accuracy": _mean(right)}
    figures["accuracy_by_length"] = {
        str(n): _mean([every[counts == n]]) for n in range(1, labels.shape[1] + 1) if (counts == n).any()
    }
    if (counts <= 5).any():
        figures["accuracy_1_to_5"] = _mean([every[counts <= 5]])
    if boxes is not None:
        figures["peak_inside"] = _mean(peak)
    return figures


def numbers_right(classes: Tensor, labels: Tensor) -> Tensor:
    """Return whether each reading is the whole number and ends after it.

    The classes are (n, n_looks), 10 = end; the labels (n, most digits), -1 after the last.
    """
    n_looks = classes.shape[1]
    read = classes.masked_fill((classes == 10).int().cumsum(1).bool(), -1)
    targets = F.pad(labels, (0, max(0, n_looks - labels.shape[1])), value=-1)[:, :n_looks]
    return (read == targets).all(1)


def read_figures(model: nn.Module, mnist: draw.Glyphs, strokes: draw.Glyphs, device: str) -> dict[str, Any]:
    """Return the figures of the card of a digit reader, on numbers of test digits and of held-out strokes."""

    def figures_on(glyphs: draw.Glyphs, seed: int, n: int) -> dict[str, Any]:
        scenes = draw.number_scenes(glyphs, n, torch.Generator().manual_seed(seed))
        return judge_reading(model, *(tensor.to(device) for tensor in scenes))

    return {"test_numbers": figures_on(mnist, 21, 6000), "held_out_strokes": figures_on(strokes, 22, 3000)}


def judge_answering(
    model: nn.Module,
    pictures: Tensor,
    examples: Sequence[QuestionExample],
    of_picture: Sequence[int],
    boxes: Tensor | None,
    scoring: str,
    edits: Edits = (),
) -> dict[str, Any]:
    """Return accuracy over all and in every kind, and with boxes how often the last map points to what is asked about.

    Pictures are (n, 4, 64, 64), on the model's device; of_picture tells each question's; boxes are in their pixels. Of
    questions of two steps every map is judged, by what its look is for.
    """
    encoded = [model.encode_pictures(pictures[batch]) for batch in spans(0, len(pictures), BATCH)]  # type: ignore[operator]
    keys, values = (torch.cat(tensors) for tensors in zip(*encoded, strict=True))
    right, points, by_look = (defaultdict[str, list[bool]](list) for _ in range(3))
    for batch in spans(0, len(examples), BATCH):
        indices, examples_of_batch = list(of_picture[batch]), examples[batch]
        word_ids = [word_ids_of(ask.question_words(question.text)) for question in examples_of_batch]
        words = ask.pad_questions(word_ids).to(pictures.device)
        regions = keys[indices], values[indices]
        output = model.reason(regions, model.encode_questions(words), scoring, edits)  # type: ignore[operator]
        answers = output.logits.argmax(1).tolist()
        maps = output.weights[:, :, :-1].unflatten(-1, model.grid)
        for index, (question, answer) in enumerate(zip(examples_of_batch, answers, strict=True)):
            is_missing = question.question.between and question.answer == ask.NOTHING
            kind = NOTHING_NEAR if is_missing else str(question.question.kind)
            right[kind].append(ask.ANSWERS[answer] == question.answer)
            if boxes is None or not question.relevant:
                continue
            hits = [
                _points_to(weights_map, boxes[indices[index]][list(digits)], pictures.shape[-2:])
                for weights_map, digits in zip(maps[index], question.looks, strict=True)
            ]
            points[kind].append(hits[-1])
            if question.between:
                for look, hit in enumerate(hits, 1):
                    by_look[f"look {look}"].append(hit)
    pointing = _shares("peak_inside", "kind", points) if points else {}
    looks = {"peak_inside_by_look": _shares_of(by_look)} if by_look else {}
    return {"n": len(examples)} | _shares("accuracy", "kind", right) | pointing | looks


def _points_to(weights: Tensor, boxes: Tensor, size: Sequence[int]) -> bool:
    """Say whether a map (rows, columns) has its peak inside one of several boxes (n, 4)."""
    return bool(peak_inside(weights.expand(len(boxes), -1, -1), boxes, size).any())


def ask_figures(model: nn.Module, mnist: draw.Glyphs, strokes: draw.Glyphs, device: str) -> dict[str, Any]:
    """Return the figures of the card of a question answerer, on drawings of test digits and of held-out strokes.

    Questions of two steps are asked about drawings of their own, of so many digits that most of them have an answer.
    """
    figures: dict[str, Any] = {
        "note": "In the first half of the training, weight on the digits in question was rewarded too, ever less; in "
        "the second half the answers alone counted."
    }
    kinds_of_one_step = [kind for kind in ask.QuestionKind if kind not in TWO_STEPS]

    def judge(questions: QuestionSet, edits: Edits = ()) -> dict[str, Any]:
        return {scoring: judge_answering(model, *questions, scoring, edits) for scoring in SCORINGS}

    for name, glyphs, seed, n in (("test_drawings", mnist, 31, 1000), ("held_out_strokes", strokes, 32, 600)):
        questions = ask_at_random(glyphs, kinds_of_one_step, seed, n, (1, draw.MAX_DIGITS), device)
        figures[name] = judge(questions)
        if name == "test_drawings":
            blind = judge(questions, UNIFORM)
            figures["with_uniform_attention"] = {scoring: judged["accuracy"] for scoring, judged in blind.items()}
        figures[f"{name}_two_steps"] = judge(
            ask_at_random(glyphs, TWO_STEPS, seed + 2, n, (4, draw.MAX_DIGITS), device)
        )
    return figures


def ask_at_random(
    glyphs: draw.Glyphs, kinds: Sequence[ask.QuestionKind], seed: int, n: int, n_digits: tuple[int, int], device: str
) -> QuestionSet:
    """Return n drawings of so many digits, a question of each kind about each, their drawings, and the boxes."""
    drawings = draw.drawing_scenes(glyphs, n, torch.Generator().manual_seed(seed), n_digits=n_digits)
    rng = random.Random(seed)
    examples, of_picture = [], []
    for number in range(n):
        questions = [random_question(items_of(drawings, number), rng, kind) for kind in kinds]
        examples += [question for question in questions if question]
        of_picture += [number for question in questions if question]
    return coloured_input(drawings.coverage, drawings.inks).to(device), examples, of_picture, drawings.boxes.to(device)


def caption_metrics(model: nn.Module, drawings: draw.Drawings, device: str, edits: Edits = ()) -> dict[str, Any]:
    """Return the share of whole sentences that are right (see is_right), by number of digits too, and where it looked.

    The peak counts under every word that tells of digits in a sentence that is right: is it inside one of them?
    """
    pictures = coloured_input(drawings.coverage, drawings.inks).to(device)
    first_word: int = model.config.n_glances - 1  # type: ignore[union-attr, operator, assignment]
    right = defaultdict[str, list[bool]](list)
    peak = list[bool]()
    for batch in spans(0, len(pictures), BATCH):
        output = model(pictures[batch], edits=edits)
        maps = output.weights[:, first_word:, :-1].unflatten(-1, model.grid)
        for index, caption_ids in enumerate(output.logits[:, first_word:].argmax(-1).tolist()):
            items, words = items_of(drawings, batch.start + index), captions.decode_caption(caption_ids)
            right[str(len(items))].append(captions.is_correct(words, items))
            looks_of_caption = captions.digits_of_words(words, items) if right[str(len(items))][-1] else ()
            for look, digits in enumerate(looks_of_caption):
                if digits:
                    boxes = drawings.boxes[batch.start + index][list(digits)].to(device)
                    peak.append(_points_to(maps[index, look], boxes, pictures.shape[-2:]))
    figures = {"n": len(pictures)} | _shares("accuracy", "digits", right)
    return figures | ({"peak_inside": _share(peak)} if peak else {})


def caption_figures(model: nn.Module, mnist: draw.Glyphs, strokes: draw.Glyphs, device: str) -> dict[str, Any]:
    """Return the figures of the card of a caption model, on drawings of test digits and of held-out strokes."""

    def drawings_of(glyphs: draw.Glyphs, seed: int, n: int, max_digits: int = 3) -> draw.Drawings:
        return draw.drawing_scenes(glyphs, n, torch.Generator().manual_seed(seed), n_digits=(1, max_digits))

    small_digits = draw.Glyphs(*(tensor[mnist.labels < 2] for tensor in mnist))
    sees_beforehand = model.config.sees_beforehand  # type: ignore[union-attr]
    encoder = "is that of scene-question, frozen" if sees_beforehand else "learns along, from nothing"
    return {
        "note": f"The picture encoder {encoder}. In the first half of the training, weight on the digits being "
        "told was rewarded too, ever less; in the second half the words alone counted. Peaks are counted in right "
        "sentences.",
        "test_drawings": caption_metrics(model, drawings_of(mnist, 41, 2000), device),
        "with_uniform_attention": caption_metrics(model, drawings_of(mnist, 41, 500), device, UNIFORM)["accuracy"],
        "up_to_five_digits": caption_metrics(model, drawings_of(mnist, 42, 1000, 5), device),
        "several_of_a_kind": caption_metrics(model, drawings_of(small_digits, 43, 600), device),
        "held_out_strokes": caption_metrics(model, drawings_of(strokes, 44, 2000), device),
    }


def _share(truths: list[bool]) -> float:
    return round(sum(truths) / max(len(truths), 1), 5)


def _shares(prefix: str, by: str, truths: dict[str, list[bool]]) -> dict[str, Any]:
    return {prefix: _share(list(chain(*truths.values()))), f"{prefix}_by_{by}": _shares_of(truths)}


def _shares_of(truths: dict[str, list[bool]]) -> dict[str, float]:
    return {group: _share(truths[group]) for group in sorted(truths)}


def _mean(tensors: list[Tensor]) -> float:
    return round(float(torch.cat(tensors).float().mean()), 5)


SEPARATORS = re.compile("|".join(f" {link} " for link in (*captions.RELATIONS, captions.AND)))
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
    size = (draw.FIND_SIDE, draw.FIND_SIDE)
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
    pictures = _pictures(arrays["canvases"], draw.READ_SIZE, path).to(device_of(model))
    max_digits = max(map(len, numbers))
    digits = [[*map(int, number), *[-1] * (max_digits - len(number))] for number in numbers]
    labels = torch.tensor(digits, device=pictures.device)
    boxes = _boxes(arrays, draw.READ_SIZE, path)
    if boxes is not None and boxes.shape[1] < max_digits:
        raise DataError(
            f"{path}: boxes {tuple(boxes.shape)} are fewer than the {max_digits} digits of the longest number."
        )
    with torch.inference_mode():
        return judge_reading(model, pictures, labels, None if boxes is None else boxes[:, :max_digits].to(pictures))


def evaluate_answering(model: nn.Module, path: str | Path) -> dict[str, Any]:
    """Return the share of questions answered right, by scoring function and kind, and with boxes the pointing figure.

    The .npz has `canvases` (n, height, width, 4) uint8 RGBA, square, `questions` (n,) and `answers` (n,) as text, and
    perhaps `boxes` (n, 4) or (n, several, 4) of what the answer is about, zeros or NaN for nothing.
    """
    arrays = _read(path, "questions", "answers")
    pictures = _coloured(arrays["canvases"], path).to(device_of(model))
    boxes = _boxes(arrays, (draw.ASK_SIDE, draw.ASK_SIDE), path)
    questions, of_picture, n_refused = [], [], 0
    for number, (text, answer) in enumerate(zip(arrays["questions"].tolist(), arrays["answers"].tolist(), strict=True)):
        try:
            question, words = _understood(str(text))
        except ask.QuestionError:
            n_refused += 1
            continue
        digits = () if boxes is None else (boxes[number, :, 2] > boxes[number, :, 0]).nonzero().flatten().tolist()
        questions.append(QuestionExample(question, " ".join(words), ask.answer_word(str(answer)), tuple(digits)))
        of_picture.append(number)
    boxes_on_device = None if boxes is None else boxes.to(pictures)
    share = len(questions) / max(len(pictures), 1)  # a question that cannot be read is answered wrong
    figures: dict[str, Any] = {"n": len(pictures), "refused": n_refused}
    with torch.inference_mode():
        for scoring in SCORINGS:
            judged = judge_answering(model, pictures, questions, of_picture, boxes_on_device, scoring)
            figures[scoring] = judged | {"accuracy": round(judged["accuracy"] * share, 5)}
    best = figures[SCORINGS[0]]
    return {"accuracy": best["accuracy"]} | {k: best[k] for k in ("peak_inside",) if k in best} | figures


def evaluate_captions(model: nn.Module, path: str | Path) -> dict[str, Any]:
    """Return the share of drawings that a caption model describes in the same words, and with the same digits.

    The .npz has `canvases` (n, height, width, 4) uint8 RGBA, square, and `captions` (n,) as text, such as "a red 3 left
    of a blue 7, and two green 1s"; commas do not count, nor "an" for "a".
    """
    arrays = _read(path, "captions")
    expected = [
        re.sub(r"\ban\b", "a", str(caption).replace(",", "").strip().lower()) for caption in arrays["captions"].tolist()
    ]
    pictures = _coloured(arrays["canvases"], path).to(device_of(model))
    with torch.inference_mode():
        written = [" ".join(model.explain(picture).words) for picture in pictures]  # type: ignore[operator]
    items = [[sorted(SEPARATORS.split(text)) for text in texts] for texts in (written, expected)]
    return {
        "n": len(written),
        "accuracy": _share([*map(eq, written, expected)]),
        "same_digits": _share([*map(eq, *items)]),
    }


def _understood(text: str) -> tuple[ask.Question, list[str]]:
    """Return meaning and words as the page has them; what the grammar refuses is left to the model, as "how many"."""
    try:
        reading = ask.read_question(text)
        return reading.question, reading.words
    except ask.QuestionError:
        return ask.Question(ask.QuestionKind.COUNT), ask.question_words(text)


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
    pictures = [_checked(colour_picture, canvas, draw.ASK_SIDE, path) for canvas in canvases]
    columns = ([picture.coverage for picture in pictures], [picture.colours for picture in pictures])
    return coloured_input(*(torch.from_numpy(np.stack(column)) for column in columns))


def _boxes(arrays: dict[str, np.ndarray], size: tuple[int, int], path: str | Path) -> Tensor | None:
    """Return boxes (n, several, 4) in pixels of the model's picture, or None."""
    if "boxes" not in arrays:
        return None
    boxes, canvases = arrays["boxes"], arrays["canvases"]
    fits = boxes.ndim in (2, 3) and (boxes.shape[0], boxes.shape[-1]) == (len(canvases), 4)
    if boxes.dtype.kind not in "iuf" or not fits:
        raise DataError(f"{path}: boxes must be numbers (n, 4) or (n, several, 4), got {boxes.dtype} {boxes.shape}.")
    boxes = np.nan_to_num(boxes.astype(np.float64)).reshape(len(canvases), -1, 4)
    height, width = canvases.shape[1:3]
    return torch.from_numpy(boxes * np.array([size[0] / height, size[1] / width] * 2)).float()
