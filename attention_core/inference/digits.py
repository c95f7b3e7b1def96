"""What the page *Draw a digit* computes: the digit that a model reads, which pixels change it, where patches look."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from attention_core.attention.edits import Edits
from attention_core.attention.trace import AttentionTrace
from attention_core.device import device_of, to_array
from attention_core.explain.heads import rollout
from attention_core.models.digit_vit import GRID, DigitVit


@dataclass(frozen=True, eq=False)
class Answer:
    """What a model says about one picture."""

    probabilities: np.ndarray  # float (10,)
    traces: tuple[AttentionTrace, ...]  # one per attention layer

    @property
    def digit(self) -> int:
        return int(self.probabilities.argmax())

    @property
    def confidence(self) -> float:
        return float(self.probabilities.max())


def ask(model: nn.Module, image: Tensor, edits: Edits = (), trace: bool = True) -> Answer:
    """Let a model read one picture, float (28, 28)."""
    prediction = model(image[None].to(device_of(model)), edits=edits, trace=trace)
    return Answer(to_array(prediction.logits.softmax(-1)[0]), prediction.traces)


def ask_many(model: nn.Module, images: Tensor) -> np.ndarray:
    """Return the probabilities (n, 10) that a model gives to pictures (n, 28, 28)."""
    return to_array(model(images.to(device_of(model))).logits.softmax(-1))


def jacobian(model: nn.Module, image: Tensor) -> Tensor:
    """Return d logits / d pixels of a network at one picture (side, side): (n_classes, side, side).

    One pass with a copy of the picture for each class. It works also where the caller has switched gradients off.
    Source: Graves 2020, "Attention and memory in deep learning" (lecture), implicit attention.
    """
    with torch.inference_mode(False), torch.enable_grad():
        n_classes = model(image[None].clone()).logits.shape[1]
        copies = image.expand(n_classes, -1, -1).clone().requires_grad_()
        return torch.autograd.grad(model(copies).logits.diagonal().sum(), copies)[0]


def jacobian_map(of_logits: Tensor) -> Tensor:
    """Return how much each pixel moves the answer, (side, side), from the Jacobian (n_classes, side, side).

    The length of each pixel's column; what moves all logits alike is taken off, for it moves no probability.
    """
    return (of_logits - of_logits.mean(0)).square().sum(0).sqrt()


def pixel_influence(model: nn.Module, image: Tensor) -> Tensor:
    """Return how much each pixel of a picture changes a network's answer, (28, 28), by its Jacobian."""
    return jacobian_map(jacobian(model, image.to(device_of(model)))).cpu()


def partial_correlation(first: np.ndarray, second: np.ndarray, confounder: np.ndarray) -> float:
    """Return the partial correlation of two maps given a third, the confounder; 0 where it explains all of one."""
    predictors = np.stack([np.ones(confounder.size), confounder.ravel()], 1)
    values = np.stack([first.ravel(), second.ravel()], 1)
    residuals = values - predictors @ np.linalg.lstsq(predictors, values, rcond=None)[0]
    norms = np.linalg.norm(residuals, axis=0)
    if (norms <= 1e-6 * np.linalg.norm(values, axis=0)).any():
        return 0.0
    return float(residuals[:, 0] @ residuals[:, 1] / norms.prod())


class PatchReading(NamedTuple):
    """What a vision transformer over patches reads, and where its class token looks."""

    probabilities: np.ndarray  # (10,)
    maps: np.ndarray  # (n_layers, n_heads, 7, 7), what the class token pays to each patch
    rolled: np.ndarray  # (7, 7), what each patch could have contributed to it through all layers


def read_patches(model: DigitVit, image: Tensor) -> PatchReading:
    """Let a vision transformer read one picture, float (28, 28)."""
    traces = model.traces(image)
    probabilities = model(image[None].to(device_of(model))).logits[0].softmax(-1)
    paid = torch.stack([trace.weights(head, [0])[0, 1:] for trace in traces for head in range(trace.n_heads)])
    rolled = torch.as_tensor(rollout(traces).rolled)[0, 1:]
    maps = to_array(paid).reshape(len(traces), -1, *GRID)
    return PatchReading(to_array(probabilities), maps, to_array(rolled).reshape(GRID))
