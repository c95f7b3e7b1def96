"""Is this map an explanation? All figures for one input, one after another, so that the first are there at once."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from torch import Tensor

from attention_core.attention.wording import percent
from attention_core.faithfulness import attribution
from attention_core.faithfulness.attribution import overlap, removal
from attention_core.faithfulness.stacks import stack_orders
from attention_core.faithfulness.variation import OtherWeights, most_different, shuffled, uniform, without_heads

GRADIENT, INTEGRATED, RANDOM = "gradient × input", "integrated gradients", "random"
FIRST = 5  # the k of the overlap
N_ALONE = 8  # orders of the keys for each layer alone
CLEAR = 0.05  # a difference of areas that counts: five points of probability on average
CLEAR_OVER_MANY = 0.02  # one of their means over many inputs, however many
UNCLEAR = "does not clearly point at"


@dataclass
class Assessment:
    """What is known so far; see `assess`."""

    subject: attribution.Subject
    removal: Tensor  # how much the answer's probability falls when a unit alone is erased, (n_units,)
    # of each unit by order, (n_units,): the map (attention), gradient x input, integrated gradients; of a model of
    # several layers those of stacks.py, too
    importance: dict[str, Tensor]
    # curves by order; a small area means that what the answer needs goes first
    deletion: dict[str, attribution.Curve] = field(default_factory=dict)
    # curves of deletion, by the map and at random, where units are erased the other way, see Subject.otherwise
    otherwise: dict[str, attribution.Curve] = field(default_factory=dict)
    insertion: dict[str, attribution.Curve] = field(default_factory=dict)  # as deletion, where units come
    # how far the answer moves without a head, by attention and head, the farthest first
    heads: dict[tuple[str, int], float] = field(default_factory=dict)
    shuffled: Tensor | None = None  # how far the answer moves for each of a hundred random orders of the keys
    by_layer: dict[str, float] = field(default_factory=dict)  # the median of such, for the weights of each layer alone
    uniform: float | None = None  # how far it moves with every weight equal
    other: OtherWeights | None = None  # the most different weights found that keep the answer

    def agreement(self, order: str) -> float:
        """Return Kendall's tau between an order and what erasing each unit does."""
        return attribution.kendall_tau(self.importance[order], self.removal)

    @property
    def n_first(self) -> int:
        """How many of an order's first units are compared: five, or half of fewer than ten."""
        return max(1, min(FIRST, self.subject.n_units // 2))

    def overlap(self, order: str) -> float:
        """Return which share of the first units of an order are among those whose loss counts most."""
        return overlap(self.importance[order], self.removal, self.n_first)


def assess(subject: attribution.Subject) -> Iterator[tuple[float, Assessment]]:
    """Yield the share of the work that is done, and what is known by then; the same value each time.

    In the end its subject is left without the model.
    """
    found = Assessment(subject, removal(subject), {subject.map_name: subject.received})
    chance = {RANDOM: attribution.random_orders(subject)}
    found.deletion |= attribution.curves_of(subject, found.importance | chance)
    yield 0.2, found
    if subject.otherwise:
        found.otherwise = attribution.curves_of(replace(subject, erase=subject.otherwise), found.importance | chance)
    found.importance[GRADIENT] = attribution.gradient_times_input(subject)
    found.importance[INTEGRATED] = attribution.integrated_gradients(subject)
    new = {name: found.importance[name] for name in (GRADIENT, INTEGRATED)}
    at_random = found.deletion.pop(RANDOM)
    found.deletion |= {**attribution.curves_of(subject, new), RANDOM: at_random}
    yield 0.4, found
    found.insertion = {**attribution.curves_of(subject, found.importance, inserts=True), RANDOM: at_random.reversed}
    if through := stack_orders(subject):
        found.importance |= through
        found.deletion |= attribution.curves_of(subject, through)
    yield 0.5, found
    if subject.weights:
        found.heads = without_heads(subject)
        found.uniform, found.shuffled = uniform(subject), shuffled(subject)
        for name in subject.map_weights if len(subject.map_weights) > 1 else ():
            found.by_layer[name] = float(shuffled(subject, N_ALONE, [name]).median())
        yield 0.7, found
        found.other = most_different(subject)
    found.subject = subject.without_model()
    yield 1.0, found


def over_many(figures: Mapping[str, Any]) -> str:
    """Return what the figures of many inputs, those of a model's card, say of its maps, in a sentence.

    A map is better than chance where its area is clearly smaller and it leads on most inputs; worse the other way.
    """
    areas, lead = figures["area_of_deletion"], figures["attention_beats_random"]
    (own, _), (chance, _) = areas[next(iter(areas))], areas[RANDOM]
    is_on_most = lead > 0.5 if own < chance else lead < 0.5
    how = _how(own, chance, CLEAR_OVER_MANY) if is_on_most else UNCLEAR
    return f"Over {figures['n']} {figures.get('inputs', 'held-out inputs')} the map {how} what the answers need."


def verdict(found: Assessment, parts: str = "parts") -> str:
    """Return what the curves say of the map, in a sentence that claims no more than they show."""
    own, chance = (found.deletion[name].area for name in (found.subject.map_name, RANDOM))
    return (
        f"Here the map {_how(own, chance, CLEAR)} what the answer needs: {parts} erased in its order leave the answer "
        f"{percent(own)} on average, in random order {percent(chance)}."
    )


def _how(own: float, chance: float, clear: float) -> str:
    if round(abs(chance - own), 4) < clear:
        return UNCLEAR
    return "points at" if own < chance else "is worse than chance at pointing at"
