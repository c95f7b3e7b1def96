"""Recipes of the digit classifiers: MNIST and replayed pen strokes, first coarse, then at all 784 pixels."""

from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_core.attention.edits import UNIFORM
from attention_core.data.augment import augment
from attention_core.data.mnist import Digits, load_mnist
from attention_core.data.strokes import load_trajectories, stroke_digits
from attention_core.evaluate.digits import accuracy, to_tensor
from attention_core.models import load
from attention_core.models.pixel_classifier import PixelClassifier
from attention_core.models.pixel_notes import VARIANTS, PixelNotes
from attention_core.train.loop import RECIPES, Recipe, TrainingMoment
from attention_core.weights import WeightsError

BATCH_SIZE = 128
BATCHES_PER_EPOCH = 780  # about 100,000 pictures
STROKE_SHARE = 0.5  # share of pictures that are pen strokes; the others are MNIST's
N_REPLAYS = 6  # how often each pen trajectory is replayed, every time with another size, slant, width and colour
N_HELD_OUT = 750
"""Pen trajectories that are never trained on, the last of the file. The file does not say who wrote which, so that
they are by the same thirty people as the others: figures for strangers are a little lower."""
LABEL_SMOOTHING = 0.05
DATA = (
    "MNIST (LeCun, Cortes, Burges), 60,000 training digits; UCI Pen-Based Recognition of Handwritten Digits "
    "(Alpaydin, Alimoglu; CC-BY 4.0), training part without its last 750 trajectories"
)


class DigitTask:
    """Classify augmented digits.

    Pictures are halved to 14 x 14 until the share `coarse` of the training is over, and no longer augmented after the
    share `changed` (Touvron et al. 2019, "Fixing the train-test resolution discrepancy").
    """

    def __init__(self, coarse: float, changed: float, data: str | None, seed: int, device: str) -> None:
        self.coarse, self.changed, self.device = coarse, changed, device
        mnist, self.test = load_mnist("train", data), load_mnist("t10k", data)
        strokes, self.held_out = stroke_parts(data, seed)
        self.mnist, self.strokes = to_tensor(mnist, device), to_tensor(strokes, device)

    def loss(self, model: nn.Module, moment: TrainingMoment, generator: torch.Generator) -> Tensor:
        n_strokes = round(BATCH_SIZE * STROKE_SHARE)
        parts = [_draw(self.mnist, BATCH_SIZE - n_strokes, generator), _draw(self.strokes, n_strokes, generator)]
        images, labels = (torch.cat(part) for part in zip(*parts, strict=True))
        images = images.float() / 255
        if moment.progress < self.changed:
            images = augment(images, generator)
        if moment.progress < self.coarse:
            images = F.avg_pool2d(images[:, None], 2)[:, 0]
        return F.cross_entropy(model(images).logits, labels, label_smoothing=LABEL_SMOOTHING)

    def figures(self, model: nn.Module) -> dict[str, Any]:
        figures: dict[str, Any] = self._accuracies(model)
        if hasattr(model, "trace"):
            figures["test_accuracy_with_uniform_attention"] = accuracy(model, self.test, self.device, UNIFORM)
        if isinstance(model, PixelClassifier):  # beside it what a network without attention reaches on the same data
            try:
                ffn = load("ffn-classifier", self.device)
                n_parameters = sum(parameter.numel() for parameter in ffn.parameters())
                figures["feed_forward_network"] = {"parameters": n_parameters, **self._accuracies(ffn)}
            except WeightsError:
                figures["feed_forward_network"] = {"note": "train ffn-classifier first to see its figures here"}
        return figures

    def _accuracies(self, model: nn.Module) -> dict[str, Any]:
        parts = {"test_accuracy": self.test, "held_out_stroke_accuracy": self.held_out}
        return {name: accuracy(model, digits, self.device) for name, digits in parts.items()}


def stroke_parts(data: str | None, seed: int) -> tuple[Digits, Digits]:
    """Return pen strokes to train on, and others that are never trained on."""
    trajectories = load_trajectories(data)
    held_out = stroke_digits(trajectories[-N_HELD_OUT:], 2, seed=54321)
    return stroke_digits(trajectories[:-N_HELD_OUT], N_REPLAYS, seed), held_out


def _draw(digits: tuple[Tensor, Tensor], n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    images, labels = digits
    chosen = torch.randint(len(labels), (n,), generator=generator, device=labels.device)
    return images[chosen], labels[chosen]


def _recipe(epochs: float, learning_rate: float, coarse: float = 0, changed: float = 1.0, **more: Any) -> Recipe:
    task = partial(DigitTask, coarse, changed)
    return Recipe(task, DATA, BATCHES_PER_EPOCH, epochs, learning_rate, **more)


SNAPSHOT_AT = (0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.4, 1)
NOTES = partial(_recipe, 10, 3e-3, half=True, snapshot_of=("ink", "position", "query.", "key.", "value."))
RECIPES |= {
    "pixel-classifier": _recipe(
        epochs=15,
        learning_rate=6e-3,
        coarse=12 / 15,
        gentle=("embedding.position", "attention.value_waves"),
        snapshot_at=SNAPSHOT_AT,
        snapshot_of=("embedding.", "attention."),
    ),
    "ffn-classifier": _recipe(epochs=20, learning_rate=2e-3),
    "digit-vit": _recipe(epochs=37, learning_rate=2e-3, changed=32 / 37, weight_decay=0.05, half=True),
    **{name: NOTES(snapshot_at=SNAPSHOT_AT if made_of[0] is PixelNotes else ()) for name, made_of in VARIANTS.items()},
}
