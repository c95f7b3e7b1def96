"""Recipes of the vision models: read a drawn digit, find one, read a number, ask about a drawing, describe it."""

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from attention_core.attention.edits import UNIFORM
from attention_core.data import scene_captions as captions
from attention_core.data.canvases import coloured_input
from attention_core.data.drawing import load_trajectories, stroke_digits
from attention_core.data.mnist import Digits, augment, load_mnist
from attention_core.data.questions import ANSWERS, pad_questions, question_words, word_ids_of
from attention_core.data.scene_questions import items_of, random_question_or_count
from attention_core.data.scenes import (
    MAX_DIGITS,
    Drawings,
    Glyphs,
    drawing_scenes,
    find_scenes,
    glyphs_of,
    number_scenes,
    vary_ink,
)
from attention_core.data.stroke import N_HELD_OUT
from attention_core.evaluate.classification import accuracy, as_tensors
from attention_core.evaluate.vision import ask_figures, caption_figures, find_figures, overlap, read_figures
from attention_core.models import load
from attention_core.models.digit_reader import END
from attention_core.models.pixel_notes import VARIANTS, PixelNotes
from attention_core.models.scene_question import SCORINGS, attention_loss
from attention_core.train.loop import RECIPES, Recipe, TrainingProgress
from attention_core.weights import read_weights

BATCH_SIZE = 128
BATCHES_PER_EPOCH = 780  # about 100,000 pictures
STROKE_SHARE = 0.5  # share of pictures that are pen strokes; the others are MNIST's
N_REPLAYS = 6  # how often each pen trajectory is replayed, every time with another size, slant, width and colour
LABEL_SMOOTHING = 0.05
TAUGHT = 4  # a teacher, who takes as long as its pupil, answers for one picture of so many
DATA = (
    "MNIST (LeCun, Cortes, Burges), 60,000 training digits; UCI Pen-Based Recognition of Handwritten Digits "
    "(Alpaydin, Alimoglu; CC-BY 4.0), training part without its last 750 trajectories"
)


class DigitTask:
    """Classify augmented digits.

    Pictures are halved to 14 x 14 until the share `coarse` of the training is over, and no longer augmented after the
    share `changed` (Touvron et al. 2019, "Fixing the train-test resolution discrepancy"). Half of the loss may be about
    the answers of a teacher, a trained model, to some pictures (Hinton et al. 2015, "Distilling the knowledge").
    """

    def __init__(
        self, coarse: float, changed: float, teacher: str | None, data: str | None, seed: int, device: str
    ) -> None:
        self.coarse, self.changed, self.device = coarse, changed, device
        self.teacher = load(teacher, device) if teacher else None
        mnist, test = load_mnist("train", data), load_mnist("t10k", data)
        strokes, held_out = stroke_parts(data, seed)
        self.mnist, self.strokes = as_tensors(mnist, device), as_tensors(strokes, device)
        self.test, self.held_out = as_tensors(test), as_tensors(held_out)

    def loss(self, model: nn.Module, progress: TrainingProgress, generator: torch.Generator) -> Tensor:
        n_strokes = round(BATCH_SIZE * STROKE_SHARE)
        draws = [_draw(self.mnist, BATCH_SIZE - n_strokes, generator), _draw(self.strokes, n_strokes, generator)]
        images, labels = (torch.cat(tensors) for tensors in zip(*draws, strict=True))
        images = images.float() / 255
        if progress.share < self.changed:
            images = augment(images, generator)
        if progress.share < self.coarse:
            images = F.avg_pool2d(images[:, None], 2)[:, 0]
        logits = model(images).logits
        answer_loss = F.cross_entropy(logits, labels, label_smoothing=LABEL_SMOOTHING)
        if self.teacher is None:
            return answer_loss
        with torch.no_grad():
            answers = self.teacher(images[::TAUGHT]).logits.softmax(-1)
        return (answer_loss + F.cross_entropy(logits[::TAUGHT], answers)) / 2

    def figures(self, model: nn.Module) -> dict[str, Any]:
        splits = {"test_accuracy": self.test, "held_out_stroke_accuracy": self.held_out}
        figures = {name: accuracy(model, *digits) for name, digits in splits.items()}
        if hasattr(model, "trace"):
            figures["test_accuracy_with_uniform_attention"] = accuracy(model, *self.test, UNIFORM)
        return figures


def stroke_parts(data: str | None, seed: int) -> tuple[Digits, Digits]:
    """Return pen strokes to train on, and others that are never trained on."""
    trajectories = load_trajectories(data)
    held_out = stroke_digits(trajectories[-N_HELD_OUT:], 2, seed=54321)
    return stroke_digits(trajectories[:-N_HELD_OUT], N_REPLAYS, seed), held_out


def _draw(digits: tuple[Tensor, Tensor], n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    images, labels = digits
    chosen = torch.randint(len(labels), (n,), generator=generator, device=labels.device)
    return images[chosen], labels[chosen]


def _recipe(
    epochs: float,
    learning_rate: float,
    coarse: float = 0,
    changed: float = 1.0,
    teacher: str | None = None,
    **options: Any,
) -> Recipe:
    task = partial(DigitTask, coarse, changed, teacher)
    return Recipe(task, DATA, BATCHES_PER_EPOCH, epochs, learning_rate, **options)


SNAPSHOT_AT = (0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.4, 1)
NOTES = partial(_recipe, 10, 3e-3, half=True, snapshot_of=("ink", "position", "query.", "key.", "value."))
RECIPES |= {
    "pixel-classifier": _recipe(
        epochs=15,
        learning_rate=6e-3,
        coarse=12 / 15,
        slow=("embedding.position", "attention.value_waves"),
        snapshot_at=SNAPSHOT_AT,
        snapshot_of=("embedding.", "attention."),
        half=True,
    ),
    "ffn-classifier": _recipe(epochs=20, learning_rate=2e-3, half=True),
    "digit-vit": _recipe(
        epochs=37, learning_rate=2e-3, changed=32 / 37, teacher="pixel-classifier", weight_decay=0.05, half=True
    ),
    **{name: NOTES(snapshot_at=SNAPSHOT_AT if network[0] is PixelNotes else ()) for name, network in VARIANTS.items()},
}

N_SCENES = 64  # in a batch
SCENE_BATCHES = 1000  # of an epoch
POOL, POOL_BATCHES = 6144, 40  # so many digits are bent, cut out and then used for the scenes of so many batches
N_DRAWINGS, N_QUESTIONS = 32, 5  # drawings in a batch, and questions about each that each scoring function answers
N_CAPTIONS, MAX_CAPTION_DIGITS = 64, 5  # drawings in a batch of those to be told, and the most digits in one
ENCODER = ("features.", "row", "column", "key.", "value.", "empty_")
NUDGE, NUDGE_UNTIL = 0.4, 0.5
SCENE_SMOOTHING = 0.02
Loss = Callable[[nn.Module, Glyphs, torch.Generator, TrainingProgress, str], Tensor]
Measure = Callable[[nn.Module, Glyphs, Glyphs, str], dict[str, Any]]


class SceneTask:
    """Look at scenes composed at random of MNIST's training digits and replayed pen strokes, bent at random.

    The loss is (model, new glyphs, generator on the CPU, moment, device) -> that of a batch of scenes, the measure
    (model, test glyphs, glyphs of held-out strokes, device) -> figures.
    """

    def __init__(self, loss: Loss, measure: Measure, data: str | None, seed: int, device: str) -> None:
        self._loss, self._measure, self._seed, self._device = loss, measure, seed, device
        self._mnist = load_mnist("train", data)
        self._strokes, held_out = stroke_parts(data, seed=0)
        self._test, self._test_strokes = glyphs_of(load_mnist("t10k", data)), glyphs_of(held_out)
        self._number, self._glyphs = -1, self._test

    def loss(self, model: nn.Module, progress: TrainingProgress, generator: torch.Generator) -> Tensor:
        number = progress.batch // POOL_BATCHES
        if number != self._number:
            pool = torch.Generator().manual_seed(self._seed * 104_729 + number)
            self._number, self._glyphs = number, glyphs_of(self._bent(pool))
        cpu = torch.Generator().manual_seed(generator.initial_seed() + progress.batch)  # scenes are composed on the CPU
        return self._loss(model, self._glyphs, cpu, progress, self._device)

    def figures(self, model: nn.Module) -> dict[str, Any]:
        return self._measure(model, self._test, self._test_strokes, self._device)

    def _bent(self, generator: torch.Generator) -> Digits:
        n_strokes = round(POOL * STROKE_SHARE)
        images, labels = [], []
        for digits, n in ((self._mnist, POOL - n_strokes), (self._strokes, n_strokes)):
            chosen = torch.randint(len(digits), (n,), generator=generator).numpy()
            images.append(digits.images[chosen])
            labels.append(digits.labels[chosen])
        pictures = torch.from_numpy(np.concatenate(images)).float() / 255
        bent = augment(pictures, generator)
        bent = torch.where((bent.amax((1, 2)) > 0.5)[:, None, None], bent, pictures)
        return Digits((bent * 255).round().byte().numpy(), np.concatenate(labels))


def _entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Return the cross-entropy of answers, one or one for each look; -1 = no answer is wanted."""
    logits, targets = logits.flatten(0, -2), targets.to(logits.device).flatten()
    return F.cross_entropy(logits, targets, ignore_index=-1, label_smoothing=SCENE_SMOOTHING)


def find(model: nn.Module, glyphs: Glyphs, cpu: torch.Generator, progress: TrainingProgress, device: str) -> Tensor:
    """Name the one digit among clutter; its place is no part of the loss."""
    scenes = find_scenes(glyphs, N_SCENES, cpu, n_pieces=(0, 16))
    return _entropy(model(vary_ink(scenes.pictures, cpu).to(device)).logits, scenes.labels[:, 0])


def read(model: nn.Module, glyphs: Glyphs, cpu: torch.Generator, progress: TrainingProgress, device: str) -> Tensor:
    """Read numbers of one to six digits, up to the end token; their places are no part of the loss."""
    scenes = number_scenes(glyphs, N_SCENES, cpu)
    targets = targets_of(scenes.labels)
    return _entropy(model(vary_ink(scenes.pictures, cpu).to(device), n_looks=targets.shape[1]).logits, targets)


def _joined(*drawings: Drawings) -> Drawings:
    return Drawings(*(torch.cat(tensors) for tensors in zip(*drawings, strict=True)))


def _inked(drawings: Drawings, cpu: torch.Generator, device: str) -> Tensor:
    coverage = vary_ink(drawings.coverage, cpu)
    return coloured_input(coverage, drawings.inks * (coverage > 0)[:, None]).to(device)


def _nudge(progress: TrainingProgress) -> float:
    """Return the factor of attention_loss: less and less, 0 after NUDGE_UNTIL."""
    return NUDGE * max(0.0, 1 - progress.share / NUDGE_UNTIL)


def ask(model: nn.Module, glyphs: Glyphs, cpu: torch.Generator, progress: TrainingProgress, device: str) -> Tensor:
    """Answer questions about drawings, half of them by each scoring function.

    Half of the drawings are of many digits, so that there is something two steps away.
    """
    counts = ((1, MAX_DIGITS), (3, MAX_DIGITS))
    drawings = _joined(*(drawing_scenes(glyphs, N_DRAWINGS // 2, cpu, n_digits=n_digits) for n_digits in counts))
    pictures = _inked(drawings, cpu, device)
    rng = random.Random(cpu.initial_seed())
    items = [items_of(drawings, number) for number in range(N_DRAWINGS)]
    examples = [
        random_question_or_count(items_of_scene, rng)
        for items_of_scene in items
        for _ in range(N_QUESTIONS * len(SCORINGS))
    ]
    word_ids = [word_ids_of(_with_unknown(question_words(question.text), rng)) for question in examples]
    words = pad_questions(word_ids).to(device)
    targets = torch.tensor([ANSWERS.index(question.answer) for question in examples], device=device)
    region_targets = regions_of(drawings, [question.looks for question in examples], model.grid).to(device)  # type: ignore[arg-type]
    return model.training_loss(pictures, words, targets, SCENE_SMOOTHING, region_targets, _nudge(progress))  # type: ignore[operator]


def describe(model: nn.Module, glyphs: Glyphs, cpu: torch.Generator, progress: TrainingProgress, device: str) -> Tensor:
    """Describe drawings of one to five digits in a sentence, with the frozen encoder of scene-question.

    Half of the drawings have digits of two kinds only, so that some are described together.
    """
    if progress.batch == 0 and model.config.sees_beforehand:  # type: ignore[union-attr]
        start_encoder(model)
    halves = (glyphs, _two_kinds(glyphs, cpu))
    counts = (1, MAX_CAPTION_DIGITS)
    drawings = _joined(*(drawing_scenes(half, N_CAPTIONS // 2, cpu, n_digits=counts) for half in halves))
    pictures = _inked(drawings, cpu, device)
    descriptions = [captions.describe_digits(items_of(drawings, number)) for number in range(N_CAPTIONS)]
    n_glances: int = model.config.n_glances  # type: ignore[union-attr, assignment]
    inputs, targets = caption_inputs_and_targets(descriptions, n_glances)
    output = model(pictures, inputs.to(device))
    loss = _entropy(output.logits[:, n_glances - 1 :], targets)
    if not (nudge := _nudge(progress)):
        return loss
    digits_of_looks = [(*description.digits, ()) for description in descriptions]
    region_targets = regions_of(drawings, digits_of_looks, model.grid).to(device)  # type: ignore[arg-type]
    return loss + nudge * attention_loss(output.weights[:, n_glances - 1 :, :-1], region_targets)


def start_encoder(model: nn.Module) -> None:
    trained, state = read_weights("scene-question"), model.state_dict()
    shared = {name: tensor for name, tensor in trained.items() if name.startswith(ENCODER)}
    model.load_state_dict(state | shared)


def _two_kinds(glyphs: Glyphs, generator: torch.Generator) -> Glyphs:
    chosen = torch.isin(glyphs.labels, torch.randperm(10, generator=generator)[:2])
    return Glyphs(*(tensor[chosen] for tensor in glyphs)) if chosen.any() else glyphs


def caption_inputs_and_targets(descriptions: list[captions.SceneDescription], n_glances: int) -> tuple[Tensor, Tensor]:
    """Return the words before each look (n, n_glances + longest) and after it (n, 1 + longest), -1 after the end."""
    numbers = [captions.word_ids_of(description.words) for description in descriptions]
    inputs = [torch.tensor([captions.START] * n_glances + ids) for ids in numbers]
    targets = [torch.tensor([*ids, captions.END]) for ids in numbers]
    return pad_sequence(inputs, True, captions.END), pad_sequence(targets, True, -1)


def regions_of(drawings: Drawings, looks: Sequence[tuple[Sequence[int], ...]], grid: tuple[int, int]) -> Tensor:
    """Return the part of each region in the boxes of the digits that looks are for, (n, longest, n_digits, n_regions).

    The digits are told by their numbers. Of each drawing there are as many questions or captions, each with its looks,
    those of the first one first.
    """
    n, max_digits = drawings.labels.shape
    inside = overlap(drawings.boxes.flatten(0, 1), grid, drawings.coverage.shape[1:]).view(n, max_digits, -1)
    region_targets = torch.zeros(len(looks), max(map(len, looks)), max_digits, inside.shape[-1])
    for number, looks_of_picture in enumerate(looks):
        for look, digits in enumerate(looks_of_picture):
            region_targets[number, look, list(digits)] = inside[number // (len(looks) // n), list(digits)]
    return region_targets


def _with_unknown(words: list[str], rng: random.Random) -> list[str]:
    """Now and then put in a word that is not known, as people do."""
    if rng.random() < 0.05:
        words = words.copy()
        words.insert(rng.randrange(len(words) + 1), "?")
    return words


def targets_of(labels: Tensor) -> Tensor:
    """Return what a reader should say after every look, (n, most digits + 1): digits, then the end, then -1."""
    return F.pad(labels, (0, 1), value=-1).scatter(1, (labels >= 0).sum(1)[:, None], END)


def _scene_recipe(loss: Loss, measure: Measure, epochs: float, learning_rate: float) -> Recipe:
    task, data = partial(SceneTask, loss, measure), f"scenes composed at random of {DATA}"
    return Recipe(task, data, SCENE_BATCHES, epochs, learning_rate, half=True)


RECIPES |= {
    "feature-mask": _scene_recipe(find, find_figures, 7, 3e-3),
    "feature-mean": _scene_recipe(find, find_figures, 7, 3e-3),
    "digit-reader": _scene_recipe(read, read_figures, 10, 2e-3),
    "scene-question": _scene_recipe(ask, ask_figures, 10, 2e-3),
    "scene-caption": _scene_recipe(describe, caption_figures, 6, 2e-3),
    "scene-caption-together": _scene_recipe(describe, caption_figures, 1.5, 2e-3),
}
