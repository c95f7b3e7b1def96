"""Is this map an explanation? All figures for one input, one after another, so that the first are there at once."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from torch import Tensor

from attention_core.attention.wording import percent
from attention_core.deprecated import renamed_attribute
from attention_core.faithfulness import attribution, variation
from attention_core.faithfulness.attribution import curves_of
from attention_core.faithfulness.stacks import stack_orders

GRADIENT, INTEGRATED, RANDOM = "gradient × input", "integrated gradients", "random"
MAX_FIRST = 5  # the k of the overlap
N_ORDERS_BY_LAYER = 8  # orders of the keys for each layer alone
CLEAR_DIFFERENCE = 0.05  # a difference of areas that counts: five points of probability on average
CLEAR_MEAN_DIFFERENCE = 0.02  # one of their means over many inputs, however many
UNCLEAR = "does not clearly point at"


@dataclass
class Assessment:
    """All figures of one input that are computed so far; see `assess`."""

    subject: attribution.Subject
    removal: Tensor  # how much the answer's probability falls when a unit alone is erased, (n_units,)
    # of each unit by order, (n_units,): the map (attention), gradient x input, integrated gradients; of a model of
    # several layers those of stacks.py, too
    importance: dict[str, Tensor]
    # curves by order; a small area means that what the answer needs goes first
    deletion: dict[str, attribution.Curve] = field(default_factory=dict)
    # curves of deletion, by the map and at random, where units are erased the other way, see Subject.erase_otherwise
    otherwise: dict[str, attribution.Curve] = field(default_factory=dict)
    insertion: dict[str, attribution.Curve] = field(default_factory=dict)  # as deletion, where units come
    # how far the answer moves without a head, by attention and head, the farthest first
    heads: dict[tuple[str, int], float] = field(default_factory=dict)
    shuffled: Tensor | None = None  # how far the answer moves for each of a hundred random orders of the keys
    by_layer: dict[str, float] = field(default_factory=dict)  # the median of such, for the weights of each layer alone
    uniform: float | None = None  # how far it moves with every weight equal
    adversarial: variation.AdversarialWeights | None = None  # the most different weights found that keep the answer

    other = renamed_attribute("adversarial")

    def agreement(self, order: str) -> float:
        """Return Kendall's tau between an order and what erasing each unit does."""
        return attribution.kendall_tau(self.importance[order], self.removal)

    @property
    def n_first(self) -> int:
        """How many of an order's first units are compared: five, or half of fewer than ten."""
        return max(1, min(MAX_FIRST, self.subject.n_units // 2))

    def overlap(self, order: str) -> float:
        """Return which share of the first units of an order are among those whose loss counts most."""
        return attribution.overlap(self.importance[order], self.removal, self.n_first)


def three_orders(subject: attribution.Subject) -> dict[str, Tensor]:
    """Return the importance of each unit by the map, by gradient x input, and in random orders."""
    gradient = attribution.gradient_times_input(subject)
    return {subject.map_name: subject.received, GRADIENT: gradient, RANDOM: attribution.random_orders(subject)}


def assess(subject: attribution.Subject) -> Iterator[tuple[float, Assessment]]:
    """Yield the share of the work that is done, and what is known by then; the same value each time.

    In the end its subject is left without the model.
    """
    orders = {subject.map_name: subject.received}
    assessment = Assessment(subject, attribution.removal(subject), orders)
    with_random = orders | {RANDOM: attribution.random_orders(subject)}
    assessment.deletion |= curves_of(subject, with_random)
    yield 0.2, assessment
    if subject.erase_otherwise:
        assessment.otherwise = curves_of(replace(subject, erase=subject.erase_otherwise), with_random)
    gradients = {
        GRADIENT: attribution.gradient_times_input(subject),
        INTEGRATED: attribution.integrated_gradients(subject),
    }
    orders |= gradients
    at_random = assessment.deletion.pop(RANDOM)
    assessment.deletion |= curves_of(subject, gradients) | {RANDOM: at_random}
    yield 0.4, assessment
    assessment.insertion = curves_of(subject, orders, inserts=True) | {RANDOM: at_random.reversed}
    if through_layers := stack_orders(subject):
        orders |= through_layers
        assessment.deletion |= curves_of(subject, through_layers)
    yield 0.5, assessment
    if subject.weights:
        assessment.heads = variation.without_heads(subject)
        assessment.uniform, assessment.shuffled = variation.uniform(subject), variation.shuffled(subject)
        for name in subject.map_weights if len(subject.map_weights) > 1 else ():
            assessment.by_layer[name] = float(variation.shuffled(subject, N_ORDERS_BY_LAYER, [name]).median())
        yield 0.7, assessment
        assessment.adversarial = variation.find_adversarial_weights(subject)
    assessment.subject = subject.without_model()
    yield 1.0, assessment


def over_many(figures: Mapping[str, Any]) -> str:
    """Return in a sentence what the figures of a model's card say of its maps over many inputs.

    A map is better than chance where its area is clearly smaller and it leads on most inputs; worse the other way.
    """
    areas, lead = figures["area_of_deletion"], figures["attention_beats_random"]
    (map_area, _), (random_area, _) = areas[next(iter(areas))], areas[RANDOM]
    leads_consistently = lead > 0.5 if map_area < random_area else lead < 0.5
    phrase = _verb_phrase(map_area, random_area, CLEAR_MEAN_DIFFERENCE) if leads_consistently else UNCLEAR
    return f"Over {figures['n']} {figures.get('inputs', 'held-out inputs')} the map {phrase} what the answers need."


def verdict(assessment: Assessment, unit_names: str = "parts") -> str:
    """Return what the curves say of the map, in a sentence that claims no more than they show."""
    map_area, random_area = (assessment.deletion[name].area for name in (assessment.subject.map_name, RANDOM))
    phrase = _verb_phrase(map_area, random_area, CLEAR_DIFFERENCE)
    return (
        f"Here the map {phrase} what the answer needs: {unit_names} erased in its order leave the answer "
        f"{percent(map_area)} on average, in random order {percent(random_area)}."
    )


def _verb_phrase(map_area: float, random_area: float, clear_difference: float) -> str:
    if round(abs(random_area - map_area), 4) < clear_difference:
        return UNCLEAR
    return "points at" if map_area < random_area else "is worse than chance at pointing at"
