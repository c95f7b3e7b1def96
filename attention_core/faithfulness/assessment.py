"""Is this map an explanation? All figures for one input, one after another, so that the first are there at once."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from torch import Tensor

from attention_core.faithfulness.attribution import (
    Curve,
    Subject,
    curve,
    gradient_times_input,
    integrated_gradients,
    kendall_tau,
    overlap,
    random_orders,
    removal,
)
from attention_core.faithfulness.variation import OtherWeights, most_different, shuffled, uniform

ATTENTION, GRADIENT, INTEGRATED, RANDOM = "attention", "gradient × input", "integrated gradients", "random"
FIRST = 5  # the k of the overlap
CLEAR = 0.05  # a difference of areas that counts: five points of probability on average


@dataclass
class Assessment:
    """What is known so far; see `assess`.

    Attributes:
        removal: how much the answer's probability falls when a unit alone is erased, (n_units,).
        importance: of each unit by order, (n_units,): attention, gradient x input, integrated gradients.
        deletion: curves by order; a small area means that what the answer needs goes first.
        insertion: the same where units come.
        shuffled: how far the answer moves for each of a hundred random orders of the keys.
        uniform: how far it moves with every weight equal.
        other: the most different weights found that keep the answer.
    """

    subject: Subject
    removal: Tensor
    importance: dict[str, Tensor]
    deletion: dict[str, Curve] = field(default_factory=dict)
    insertion: dict[str, Curve] = field(default_factory=dict)
    shuffled: Tensor | None = None
    uniform: float | None = None
    other: OtherWeights | None = None

    def agreement(self, order: str) -> float:
        """Return Kendall's tau between an order and what erasing each unit does."""
        return kendall_tau(self.importance[order], self.removal)

    def overlap(self, order: str) -> float:
        """Return which share of the first five of an order are among the five whose loss counts most."""
        return overlap(self.importance[order], self.removal, FIRST)

    def advantage(self, order: str) -> float | None:
        """Return by how much the area of deletion is smaller in this order than at random; None = not known yet."""
        if order not in self.deletion or RANDOM not in self.deletion:
            return None
        return self.deletion[RANDOM].area - self.deletion[order].area


def assess(subject: Subject, seed: int = 0) -> Iterator[tuple[float, Assessment]]:
    """Yield the share of the work that is done, and what is known by then; the same value each time."""
    found = Assessment(subject, removal(subject), {ATTENTION: subject.received})
    yield 0.1, found
    found.importance[GRADIENT] = gradient_times_input(subject)
    found.importance[INTEGRATED] = integrated_gradients(subject)
    yield 0.2, found
    orders = found.importance | {RANDOM: random_orders(subject, seed=seed)}
    for curves, inserts in ((found.deletion, False), (found.insertion, True)):
        curves |= curves_of(subject, orders, inserts)
        yield 0.4 + 0.1 * inserts, found
    found.uniform, found.shuffled = uniform(subject), shuffled(subject, seed=seed)
    yield 0.7, found
    found.other = most_different(subject, seed=seed)
    yield 1.0, found


def curves_of(subject: Subject, orders: Mapping[str, Tensor], inserts: bool = False) -> dict[str, Curve]:
    """Return the curve of deletion, or of insertion, in each order."""
    return {name: curve(subject, order, inserts=inserts) for name, order in orders.items()}


def verdict(found: Assessment, parts: str = "parts") -> str:
    """Return what the curves say of the map, in a sentence that claims no more than they show; "" = not known yet."""
    gain = found.advantage(ATTENTION)
    if gain is None:
        return ""
    own, chance = (found.deletion[name].area for name in (ATTENTION, RANDOM))
    how = "points no better than chance at"
    if abs(gain) > CLEAR:
        how = "points at" if gain > 0 else "is worse than chance at pointing at"
    return (
        f"Here the map {how} what the answer needs: {parts} erased in its order leave the answer {own:.0%} on average, "
        f"in random order {chance:.0%}."
    )
