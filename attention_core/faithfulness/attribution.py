"""Does attention point at what the answer needs? Orders of importance, and what erasing in such an order does.

An answer is one or several distributions of probability: a digit's ten classes, or those of each word of a
translation. How far it moves is the total variation, 0 to 1, averaged over them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

ATTENTION = "attention"
N_PATH = 32  # points on the path of integrated gradients
N_RANDOM = 5  # random orders whose curves are averaged
N_POINTS = 10  # steps of a curve
MAX_VARIANTS_AT_ONCE = 64  # variants of an input that go through a model together


class StackLayer(NamedTuple):
    """One attention of several, and what its layer makes of it."""

    # (n_queries, n_keys, d), what a query is given of a key: weight x value x W_O, summed over heads
    contributions: Tensor
    output: Tensor  # (n_queries, d), their sum, biases added
    finish: Callable[[Tensor], Tensor]  # another output (batch, n_queries, d) -> that of the layer


@dataclass(frozen=True, eq=False)
class Subject:
    """One input of a model and its answer, so that the input and its attention can be changed.

    A unit is what is erased as a whole: an ink pixel, a block of regions, a word.
    """

    inputs: Tensor  # (n, d), the numbers that the gradient is of
    baseline: Tensor  # broadcastable to (n, d), what stands for nothing there
    unit_of: Tensor  # int64 (n,), the unit of each row of the inputs; -1 = never erased
    # inputs (batch, n, d) -> probabilities (batch, n_answers, n_classes), with gradients
    predict: Callable[[Tensor], Tensor]
    erase: Callable[[Tensor], Tensor]  # bool (batch, n_units) -> probabilities without those units
    weights: Mapping[str, Tensor]  # of each attention by name, (n_heads, n_queries, n_keys)
    # weights by name, (batch, n_heads, n_queries, n_keys), of some attentions -> probabilities of the same input, with
    # gradients
    reweigh: Callable[[Mapping[str, Tensor]], Tensor]
    names: Sequence[str] = ()  # what units are called, or empty
    # (n_units, n_keys), 1 where a key belongs to a unit; None = keys are rows of the inputs
    key_units: Tensor | None = None
    map_name: str = ATTENTION  # what the map shows, "attention"
    map_values: Tensor | None = None  # (n_units,), the map itself where it is not of weights
    map_attentions: Sequence[str] = ()  # names of the attentions that the map is of; empty = all
    # the attentions of a model of several layers on its inputs, by name; those on a translator's source begin with
    # "cross", those of its decoder on itself, which are not among them, with "decoder"
    stack: Mapping[str, StackLayer] = field(default_factory=dict)
    read_at: int | None = None  # the position of the last layer at which the answer is read; None = at all
    # numbers that are added to the weights of all attentions, as each finds them -> what is differentiated by them;
    # None = reweigh, by one attention's weights after another
    slope: Callable[[Mapping[str, Tensor]], Tensor] | None = None
    # as erase, in another way: units are left out and the others move up, or are made unknown; None = there is no other
    erase_otherwise: Callable[[Tensor], Tensor] | None = None
    erase_leaves_out: bool = False  # whether it is erase that leaves them out
    bound: float = 0.1  # how far the answer may move while weights are made different, in total variation

    @property
    def n_units(self) -> int:
        return int(self.unit_of.max()) + 1

    @property
    def received(self) -> Tensor:
        """(n_units,), how much attention each unit receives, summed over its keys."""
        return self.of_keys(mean_weights(self.map_weights)) if self.map_values is None else self.map_values

    @property
    def map_weights(self) -> Mapping[str, Tensor]:
        """The weights of the attentions that the map is of."""
        return {name: self.weights[name] for name in self.map_attentions or self.weights}

    @cached_property
    def _answer(self) -> Tensor:
        return self.predict(self.inputs[None])[0].detach()

    def probabilities(self) -> Tensor:
        """Return the answer, (n_answers, n_classes)."""
        return self._answer

    def without_model(self) -> Subject:
        """Return the subject for a cache, when all is computed: without the model and its layers."""
        return replace(self, predict=_gone, erase=_gone, reweigh=_gone, slope=None, erase_otherwise=None, stack={})

    def of_keys(self, values: Tensor) -> Tensor:
        """Return a value for each key, (n_keys,), summed over units, (n_units,)."""
        return self.per_unit(values) if self.key_units is None else self.key_units @ values

    def per_unit(self, rows: Tensor) -> Tensor:
        """Return a value for each row of the inputs, (n,), summed over units, (n_units,)."""
        has_unit = self.unit_of >= 0
        return rows.new_zeros(self.n_units).index_add(0, self.unit_of[has_unit], rows[has_unit])


def _gone(*_: object) -> Tensor:
    raise RuntimeError("This subject was kept without its model.")


def mean_weights(weights: Mapping[str, Tensor]) -> Tensor:
    """Return the mean weight that each key receives, (n_keys,), over attentions, heads and queries."""
    return torch.stack([attention.mean((0, 1)) for attention in weights.values()]).mean(0)


def confidence(probabilities: Tensor, answer: Tensor) -> Tensor:
    """Return the mean probability, (batch,), of classes (n_answers,) in (batch, n_answers, n_classes), over answers."""
    return probabilities.gather(2, answer.expand(len(probabilities), -1)[..., None])[..., 0].mean(1)


def total_variation(first: Tensor, second: Tensor) -> Tensor:
    """Return how far answers (batch, n_answers, n_classes) lie apart, 0 to 1, (batch,)."""
    return (first - second).abs().sum(-1).mean(-1) / 2


@torch.no_grad()
def _answers(subject: Subject, erased: Tensor, answer: Tensor) -> Tensor:
    different, index = erased.unique(dim=0, return_inverse=True)
    confidences = [confidence(subject.erase(batch), answer) for batch in different.split(MAX_VARIANTS_AT_ONCE)]
    return torch.cat(confidences)[index]


def removal(subject: Subject) -> Tensor:
    """Return how much the answer's probability falls when each unit alone is erased, (n_units,).

    Source: leave-one-out, Li et al. 2016, "Understanding neural networks through representation erasure".
    """
    probabilities = subject.probabilities()
    answer = probabilities.argmax(-1)
    erased = torch.eye(subject.n_units, dtype=torch.bool, device=subject.unit_of.device)
    return confidence(probabilities[None], answer) - _answers(subject, erased, answer)


def gradient_times_input(subject: Subject) -> Tensor:
    """Return gradient x (input - baseline) of the answer's probability, summed over units, (n_units,).

    Source: Shrikumar et al. 2017, section 2; the first order of the fall when a unit goes.
    """
    return _path_gradient(subject, torch.ones(1))


def integrated_gradients(subject: Subject) -> Tensor:
    """Return the integrated gradients of the answer's probability, (n_units,).

    They sum, over all rows of the inputs, to the probability minus that of the baseline.

    Source: Sundararajan et al. 2017, eq. 3, by the midpoint rule.
    """
    return _path_gradient(subject, (torch.arange(N_PATH) + 0.5) / N_PATH)


def _path_gradient(subject: Subject, shares: Tensor) -> Tensor:
    answer = subject.probabilities().argmax(-1)
    inputs, baseline = subject.inputs.detach(), subject.baseline.expand_as(subject.inputs).detach()
    total = torch.zeros_like(inputs)
    # cuDNN differentiates no recurrent network in eval mode
    with torch.inference_mode(False), torch.enable_grad(), torch.backends.cudnn.flags(enabled=False):
        for batch in shares.to(inputs).split(8):
            points = (baseline + batch[:, None, None] * (inputs - baseline)).requires_grad_()
            value = confidence(subject.predict(points), answer).sum()
            total = total + torch.autograd.grad(value, points)[0].sum(0)
    return subject.per_unit((total / len(shares) * (inputs - baseline)).sum(-1))


def random_orders(subject: Subject) -> Tensor:
    """Return random orders of the units as importances, (N_RANDOM, n_units); always the same."""
    generator = torch.Generator().manual_seed(0)
    return torch.rand(N_RANDOM, subject.n_units, generator=generator).to(subject.unit_of.device)


class Curve(NamedTuple):
    """The answer's probability as units go or come, the most important first."""

    shares: Sequence[float]  # of the units that are gone, or have come, from 0 to 1
    probability: Sequence[float]

    @property
    def area(self) -> float:
        """The area under the curve: for erasing, smaller is better."""
        return float(torch.trapezoid(*torch.tensor([self.probability, self.shares], dtype=torch.float64)))

    @property
    def reversed(self) -> Curve:
        return Curve(self.shares, self.probability[::-1])


def curves_of(subject: Subject, orders: Mapping[str, Tensor], *, inserts: bool = False) -> dict[str, Curve]:
    """Erase ever more units, or insert ever more into nothing, in several orders of their importance.

    Importance is (n_units,), or (k, n_units) for the mean over several orders.

    Source: Samek et al. 2017, "Evaluating the visualization of what a deep neural network has learned"; insertion:
    Petsiuk et al. 2018, "RISE", section 4.3.
    """
    sizes = [len(importance) if importance.ndim > 1 else 1 for importance in orders.values()]
    importances = torch.cat([importance.view(-1, subject.n_units) for importance in orders.values()])
    ranks = importances.argsort(1, descending=True).argsort(1)
    shares = torch.linspace(0, 1, min(N_POINTS, subject.n_units) + 1)
    n_first = (shares * subject.n_units).round().to(ranks.device)
    erased = ranks[:, None] < n_first[None, :, None]  # (n_orders, n_points, n_units)
    answer = subject.probabilities().argmax(-1)
    values = _answers(subject, (~erased if inserts else erased).flatten(0, 1), answer).view(len(ranks), -1).split(sizes)
    return {name: Curve(shares.tolist(), curves.mean(0).tolist()) for name, curves in zip(orders, values, strict=True)}


def kendall_tau(first: Tensor, second: Tensor) -> float:
    """Return the rank correlation tau-b of two lists, -1 to 1; 0 where one is constant.

    Source: Kendall 1945; as a measure of agreement of attention with gradients, Jain and Wallace 2019, section 4.1.
    """
    signs = [(values[:, None] - values[None]).sign().double() for values in (first, second)]
    scale = float((signs[0].square().sum() * signs[1].square().sum()).sqrt())
    return float((signs[0] * signs[1]).sum()) / scale if scale else 0.0


def overlap(first: Tensor, second: Tensor, k: int) -> float:
    """Return which share of the k largest of one list are among the k largest of the other."""
    k = min(k, len(first))
    largest = [set(values.topk(k).indices.tolist()) for values in (first, second)]
    return len(largest[0] & largest[1]) / k
