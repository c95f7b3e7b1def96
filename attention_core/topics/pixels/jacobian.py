"""Attention that nobody built in: how much each pixel of one drawing moves a network's answer, by its Jacobian.

Source: Graves 2020, "Attention and memory in deep learning" (lecture), implicit attention by the network's Jacobian.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from attention_core.explain.faithfulness import erase_highest


def jacobian(model: nn.Module, image: Tensor) -> Tensor:
    """Return d logits / d pixels of a network at one picture (side, side): (n_classes, side, side).

    One pass with a copy of the picture for each class. Gradients are had also where the caller has switched them off.
    """
    with torch.inference_mode(False), torch.enable_grad():
        n_classes = model(image[None].clone()).logits.shape[1]
        copies = image.expand(n_classes, -1, -1).clone().requires_grad_()
        own = model(copies).logits.diagonal().sum()
        return torch.autograd.grad(own, copies)[0]


def jacobian_map(of_logits: Tensor) -> Tensor:
    """Return how much each pixel moves the answer, (side, side), from the Jacobian (n_classes, side, side).

    The length of each pixel's column; what moves all logits alike is taken off, for it moves no probability.
    """
    return (of_logits - of_logits.mean(0)).square().sum(0).sqrt()


def moved(before: Tensor, after: Tensor) -> float:
    """Return how far a map moved: half the summed change of its shares, from 0, unchanged, to 1, all elsewhere.

    Maps have no negative numbers; one of zeros has no shares, and has moved only if the other has some.
    """
    shares = [one / one.sum().clamp(min=torch.finfo(one.dtype).tiny) for one in (before, after)]
    change = float((shares[0] - shares[1]).abs().sum())
    return change / 2 if before.any() and after.any() else change


@torch.inference_mode()
def damage(model: nn.Module, image: Tensor, importance: Tensor, counts: Sequence[int]) -> Tensor:
    """Return by how much the probability of a network's answer falls when the ink that a map points at is erased.

    The picture is (side, side), as is its map or (side * side,); counts say how many ink pixels go each time. What is
    returned is (n_counts,), below 0 where the network has become surer.
    """
    pictures = torch.stack([image, *(erase_highest(image, importance.flatten(), n).image for n in counts)])
    probabilities = model(pictures).logits.softmax(-1)
    of_answer = probabilities[:, probabilities[0].argmax()]
    return of_answer[0] - of_answer[1:]
