"""Recipes of the models that look: find a digit, read a number, answer questions about a drawing."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_core.data import scene_captions as captions
from attention_core.data.augment import augment
from attention_core.data.canvases import coloured_input
from attention_core.data.mnist import Digits, load_mnist
from attention_core.data.question_reading import words_of
from attention_core.data.questions import ANSWERS, numbers_of, padded
from attention_core.data.scene_questions import Asked, ask_something, items_of
from attention_core.data.scenes import (
    Drawings,
    Glyphs,
    Scenes,
    drawing_scenes,
    find_scenes,
    glyphs_of,
    number_scenes,
    vary_ink,
)
from attention_core.data.strokes import load_trajectories, stroke_digits
from attention_core.evaluate.vision import ask_figures, find_figures, overlap, read_figures, tell_figures
from attention_core.models.digit_reader import END
from attention_core.models.scene_question import SCORINGS, missed
from attention_core.train.digits import DATA, N_HELD_OUT, N_REPLAYS, STROKE_SHARE, some
from attention_core.train.loop import RECIPES, Moment, Recipe
from attention_core.weights import read_weights

BATCH_SIZE = 64
BATCHES_PER_EPOCH = 1000
POOL, POOL_BATCHES = 6144, 40
"""So many digits are bent, cut out and then used for the scenes of so many batches."""
N_DRAWINGS, N_QUESTIONS = 32, 5
"""Drawings in a batch, and questions about each that each scoring function answers."""
N_TOLD, MOST_TOLD = 64, 5
"""Drawings in a batch of those to be told, and the most digits in one."""
ENCODER = ("features.", "row", "column", "key.", "value.", "empty_")
NUDGE, NUDGE_UNTIL = 0.4, 0.5
LABEL_SMOOTHING = 0.02


class GlyphSource:
    """Glyphs to compose training scenes from: MNIST's training digits and replayed pen strokes, bent at random."""

    def __init__(self, data: str | None, seed: int) -> None:
        self.seed = seed
        trajectories = load_trajectories(data)
        self.mnist = load_mnist("train", data)
        self.strokes = stroke_digits(some(trajectories, slice(None, -N_HELD_OUT)), N_REPLAYS, seed=0)
        self.test = glyphs_of(load_mnist("t10k", data))
        self.test_strokes = glyphs_of(stroke_digits(some(trajectories, slice(-N_HELD_OUT, None)), 2, seed=54321))
        self._number, self._glyphs = -1, self.test

    def at(self, step: int) -> Glyphs:
        """Return the glyphs of a step, which depend on the seed and the step alone."""
        number = step // POOL_BATCHES
        if number != self._number:
            generator = torch.Generator().manual_seed(self.seed * 104_729 + number)
            self._number, self._glyphs = number, glyphs_of(self._bent(generator))
        return self._glyphs

    def _bent(self, generator: torch.Generator) -> Digits:
        n_strokes = round(POOL * STROKE_SHARE)
        images, labels = [], []
        for digits, n in ((self.mnist, POOL - n_strokes), (self.strokes, n_strokes)):
            chosen = torch.randint(len(digits), (n,), generator=generator).numpy()
            images.append(digits.images[chosen])
            labels.append(digits.labels[chosen])
        pictures = torch.from_numpy(np.concatenate(images)).float() / 255
        bent = augment(pictures, generator)
        bent = torch.where((bent.amax((1, 2)) > 0.5)[:, None, None], bent, pictures)
        return Digits((bent * 255).round().byte().numpy(), np.concatenate(labels))


class SceneTask:
    """Base of the tasks on scenes composed of glyphs."""

    measure: Callable[[nn.Module, Glyphs, Glyphs, str], dict[str, Any]]

    def __init__(self, data: str | None, seed: int, device: str) -> None:
        self.device, self.source = device, GlyphSource(data, seed)

    def figures(self, model: nn.Module) -> dict[str, Any]:
        """Return accuracies and pointing figures on composed test scenes."""
        return self.measure(model, self.source.test, self.source.test_strokes, self.device)


class FindTask(SceneTask):
    """Name the one digit among clutter; where it lies is never told."""

    measure = staticmethod(find_figures)

    def loss(self, model: nn.Module, moment: Moment, generator: torch.Generator) -> Tensor:
        """Return the cross-entropy of one batch of new scenes."""
        cpu = _cpu(generator, moment)
        scenes = find_scenes(self.source.at(moment.step), BATCH_SIZE, cpu, n_pieces=(0, 16))
        pictures = vary_ink(scenes.pictures, cpu).to(self.device)
        return F.cross_entropy(
            model(pictures).logits, scenes.labels[:, 0].to(self.device), label_smoothing=LABEL_SMOOTHING
        )


class ReadTask(SceneTask):
    """Read numbers of one to six digits; where the digits lie is never told."""

    measure = staticmethod(read_figures)

    def loss(self, model: nn.Module, moment: Moment, generator: torch.Generator) -> Tensor:
        """Return the cross-entropy of every look up to the end token."""
        cpu = _cpu(generator, moment)
        scenes = number_scenes(self.source.at(moment.step), BATCH_SIZE, cpu)
        pictures, targets = vary_ink(scenes.pictures, cpu).to(self.device), targets_of(scenes).to(self.device)
        logits = model(pictures, n_looks=targets.shape[1]).logits
        return F.cross_entropy(
            logits.flatten(0, 1), targets.flatten(), ignore_index=-1, label_smoothing=LABEL_SMOOTHING
        )


class AskTask(SceneTask):
    """Answer questions about drawings, half of them by each scoring function.

    At first, weight on the digits in question is rewarded too, less and less; after NUDGE_UNTIL of the training the
    answers alone count.
    """

    measure = staticmethod(ask_figures)

    def loss(self, model: nn.Module, moment: Moment, generator: torch.Generator) -> Tensor:
        """Return the mean loss of both scoring functions on new questions about the same drawings."""
        cpu = _cpu(generator, moment)
        drawings = drawing_scenes(self.source.at(moment.step), N_DRAWINGS, cpu)
        coverage = vary_ink(drawings.coverage, cpu)
        pictures = coloured_input(coverage, drawings.inks * (coverage > 0)[:, None]).to(self.device)
        rng = random.Random(cpu.initial_seed())
        items = [items_of(drawings, number) for number in range(N_DRAWINGS)]
        asked = [ask_something(drawn, rng) for drawn in items for _ in range(N_QUESTIONS * len(SCORINGS))]
        words = padded([numbers_of(_with_unknown(words_of(question.text), rng)) for question in asked]).to(self.device)
        targets = torch.tensor([ANSWERS.index(question.answer) for question in asked], device=self.device)
        nudge = NUDGE * max(0.0, 1 - moment.progress / NUDGE_UNTIL)
        where = looked_for(drawings, asked, model.grid).to(self.device)  # type: ignore[arg-type]
        return model.training_loss(pictures, words, targets, LABEL_SMOOTHING, where, nudge)  # type: ignore[operator]


class TellTask(SceneTask):
    """Tell drawings of one to five digits in a sentence, with the frozen encoder of scene-question.

    Half of the drawings have digits of two kinds only, so that some are told together. Weight on the digits being told
    is rewarded as in AskTask.
    """

    measure = staticmethod(tell_figures)

    def loss(self, model: nn.Module, moment: Moment, generator: torch.Generator) -> Tensor:
        """Return the cross-entropy of every word; before the first batch the encoder gets its weights."""
        if moment.step == 0:
            start_encoder(model)
        cpu = _cpu(generator, moment)
        glyphs = self.source.at(moment.step)
        parts = [
            drawing_scenes(some, N_TOLD // 2, cpu, n_digits=(1, MOST_TOLD))
            for some in (glyphs, _two_kinds(glyphs, cpu))
        ]
        drawings = Drawings(*(torch.cat(part) for part in zip(*parts, strict=True)))
        coverage = vary_ink(drawings.coverage, cpu)
        pictures = coloured_input(coverage, drawings.inks * (coverage > 0)[:, None]).to(self.device)
        told = [captions.tell(items_of(drawings, number)) for number in range(N_TOLD)]
        n_glances: int = model.config.n_glances  # type: ignore[union-attr, assignment]
        said, targets = (words.to(self.device) for words in words_to_say(told, n_glances))
        looked = model(pictures, said)
        loss = F.cross_entropy(
            looked.logits[:, n_glances - 1 :].flatten(0, 1),
            targets.flatten(),
            ignore_index=-1,
            label_smoothing=LABEL_SMOOTHING,
        )
        nudge = NUDGE * max(0.0, 1 - moment.progress / NUDGE_UNTIL)
        if not nudge:
            return loss
        where = told_of(drawings, told, model.grid).to(self.device)  # type: ignore[arg-type]
        return loss + nudge * missed(looked.weights[:, n_glances - 1 :, :-1], where)


def start_encoder(model: nn.Module) -> None:
    """Give a caption model the picture encoder of the committed scene-question."""
    trained, own = read_weights("scene-question"), model.state_dict()
    shared = {name: tensor for name, tensor in trained.items() if name.startswith(ENCODER)}
    model.load_state_dict(own | shared)


def _two_kinds(glyphs: Glyphs, generator: torch.Generator) -> Glyphs:
    kinds = torch.randperm(10, generator=generator)[:2]
    chosen = torch.isin(glyphs.labels, kinds)
    return Glyphs(*(part[chosen] for part in glyphs)) if chosen.any() else glyphs


def words_to_say(told: list[captions.Told], n_glances: int) -> tuple[Tensor, Tensor]:
    """Return the words before each look (n, n_glances + longest) and after it (n, 1 + longest), -1 after the end."""
    numbers = [captions.numbers_of(one.words) for one in told]
    longest = max(map(len, numbers))
    said = [[captions.START] * n_glances + own + [captions.END] * (longest - len(own)) for own in numbers]
    targets = [[*own, captions.END] + [-1] * (longest - len(own)) for own in numbers]
    return torch.tensor(said), torch.tensor(targets)


def told_of(drawings: Drawings, told: list[captions.Told], grid: tuple[int, int]) -> Tensor:
    """Return where each word and the end should be found, (n, 1 + longest, n_digits, n_regions), as looked_for does."""
    inside = overlap(drawings.boxes.flatten(0, 1), grid, (drawings.coverage.shape[1], drawings.coverage.shape[2]))
    inside = inside.view(*drawings.labels.shape, -1)
    where = torch.zeros(len(told), 1 + max(len(one.words) for one in told), *inside.shape[1:])
    for number, one in enumerate(told):
        for look, places in enumerate(one.places):
            for place in places:
                where[number, look, place] = inside[number, place]
    return where


def looked_for(drawings: Drawings, asked: list[Asked], grid: tuple[int, int]) -> Tensor:
    """Return where two looks should find what a question is about, (n_questions, 2, n_digits, n_regions).

    The first look is for what the question starts from ("the blue one"), or for what the second is for; the second
    for what the answer is about. Each region counts by the part of it that lies in the digit's box. There are as many
    questions about each drawing, those of the first one first.
    """
    height, width = drawings.coverage.shape[1:]
    n, most = drawings.labels.shape
    inside = overlap(drawings.boxes.flatten(0, 1), grid, (height, width)).view(n, most, -1)
    where = torch.zeros(len(asked), 2, most, inside.shape[-1])
    each = len(asked) // n
    for number, question in enumerate(asked):
        for look, places in enumerate((question.anchors or question.relevant, question.relevant)):
            for place in places:
                where[number, look, place] = inside[number // each, place]
    return where


def _with_unknown(words: list[str], rng: random.Random) -> list[str]:
    """Now and then put in a word that is not known, as people do."""
    if rng.random() < 0.05:
        words = words.copy()
        words.insert(rng.randrange(len(words) + 1), "?")
    return words


def targets_of(scenes: Scenes) -> Tensor:
    """Return what a reader should say after every look, (n, most digits + 1): digits, then the end, then -1."""
    labels = F.pad(scenes.labels, (0, 1), value=-1)
    counts = (scenes.labels >= 0).sum(1)
    return labels.scatter(1, counts[:, None], END)


def _cpu(generator: torch.Generator, moment: Moment) -> torch.Generator:
    """Return a generator on the CPU, where scenes are composed, that depends on the step's alone."""
    return torch.Generator().manual_seed(generator.initial_seed() + moment.step)


def _recipe(task: Any, epochs: float, learning_rate: float, **more: Any) -> Recipe:
    return Recipe(
        task=task,
        data=f"scenes composed at random of {DATA}",
        batches_per_epoch=BATCHES_PER_EPOCH,
        epochs=epochs,
        learning_rate=learning_rate,
        half=True,
        **more,
    )


RECIPES |= {
    "feature-mask": _recipe(FindTask, epochs=7, learning_rate=3e-3),
    "feature-mean": _recipe(FindTask, epochs=7, learning_rate=3e-3),
    "digit-reader": _recipe(ReadTask, epochs=10, learning_rate=2e-3),
    "scene-question": _recipe(AskTask, epochs=10, learning_rate=2e-3),
    "scene-caption": _recipe(TellTask, epochs=6, learning_rate=2e-3),
}
