"""Recipes of the digit classifiers: MNIST and replayed pen strokes, first coarse, then at all 784 pixels."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_core.attention.edits import UNIFORM
from attention_core.data.augment import augment
from attention_core.data.mnist import load_mnist
from attention_core.data.strokes import Trajectories, load_trajectories, stroke_digits
from attention_core.evaluate.digits import accuracy, to_tensor
from attention_core.models import load
from attention_core.models.pixel_classifier import PixelClassifier
from attention_core.models.pixel_notes import VARIANTS, PixelProduct
from attention_core.train.loop import RECIPES, Moment, Recipe
from attention_core.weights import WeightsError

BATCH_SIZE = 128
BATCHES_PER_EPOCH = 780  # about 100,000 pictures
STROKE_SHARE = 0.5
"""Share of pictures that are pen strokes; the others are MNIST's."""
N_REPLAYS = 6
"""How often each pen trajectory is replayed, every time with another size, slant, width and colour."""
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

    Pictures are halved to 14 x 14 until the share `coarse` of the training is over, and stay as they are, no longer
    augmented, after the share `changed` (Touvron et al. 2019, "Fixing the train-test resolution discrepancy": the last
    batches should look like what is tested).
    """

    def __init__(self, data: str | None, seed: int, device: str, coarse: float, changed: float) -> None:
        self.coarse, self.changed, self.device = coarse, changed, device
        mnist = load_mnist("train", data)
        trajectories = load_trajectories(data)
        held_out, kept = slice(-N_HELD_OUT, None), slice(None, -N_HELD_OUT)
        strokes = stroke_digits(some(trajectories, kept), N_REPLAYS, seed)
        self.mnist = to_tensor(mnist, device)
        self.strokes = to_tensor(strokes, device)
        self.test = load_mnist("t10k", data)
        self.held_out = stroke_digits(some(trajectories, held_out), 2, seed=54321)

    def loss(self, model: nn.Module, moment: Moment, generator: torch.Generator) -> Tensor:
        """Return the cross-entropy of one random batch."""
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
        """Return the accuracies on MNIST's test digits and on held-out strokes, and with uniform attention."""
        figures: dict[str, Any] = {
            "test_accuracy": accuracy(model, self.test, self.device),
            "held_out_stroke_accuracy": accuracy(model, self.held_out, self.device),
        }
        if hasattr(model, "trace"):
            figures["test_accuracy_with_uniform_attention"] = accuracy(model, self.test, self.device, UNIFORM)
        if isinstance(model, PixelClassifier):
            figures["feed_forward_network"] = self._baseline()
        return figures

    def _baseline(self) -> dict[str, Any]:
        """Return what the network without attention reaches on the same data, if it has been trained."""
        try:
            ffn = load("ffn-classifier", self.device)
        except WeightsError:
            return {"note": "train ffn-classifier first to see its figures here"}
        return {
            "parameters": sum(parameter.numel() for parameter in ffn.parameters()),
            "test_accuracy": accuracy(ffn, self.test, self.device),
            "held_out_stroke_accuracy": accuracy(ffn, self.held_out, self.device),
        }


def some(trajectories: Trajectories, chosen: slice) -> Trajectories:
    """Return some of the trajectories."""
    return Trajectories(trajectories.points[chosen], trajectories.labels[chosen])


def _draw(digits: tuple[Tensor, Tensor], n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    images, labels = digits
    chosen = torch.randint(len(labels), (n,), generator=generator, device=labels.device)
    return images[chosen], labels[chosen]


def _recipe(epochs: float, learning_rate: float, coarse: float, changed: float = 1.0, **more: Any) -> Recipe:
    return Recipe(
        task=lambda data, seed, device: DigitTask(data, seed, device, coarse, changed),
        data=DATA,
        batches_per_epoch=BATCHES_PER_EPOCH,
        epochs=epochs,
        learning_rate=learning_rate,
        **more,
    )


SNAPSHOT_AT = (0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.4, 1)
RECIPES |= {
    "pixel-classifier": _recipe(
        epochs=15,
        learning_rate=6e-3,
        coarse=12 / 15,
        gentle=("embedding.position", "attention.value_waves"),
        snapshot_at=SNAPSHOT_AT,
        snapshot_of=("embedding.", "attention."),
    ),
    "ffn-classifier": _recipe(epochs=20, learning_rate=2e-3, coarse=0),
    "digit-vit": _recipe(epochs=37, learning_rate=2e-3, coarse=0, changed=32 / 37, weight_decay=0.05, half=True),
    **{
        name: _recipe(
            epochs=10,
            learning_rate=3e-3,
            coarse=0,
            half=True,
            snapshot_at=SNAPSHOT_AT if issubclass(made_of[0], PixelProduct) else (),
            snapshot_of=("ink", "position", "query.", "key.", "value."),
        )
        for name, made_of in VARIANTS.items()
    },
}
